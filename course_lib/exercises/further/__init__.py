"""Two further exercises for every section 27.1 to 27.6, with numbers of real models; none are the book's."""

from typing import Final

from . import section_27_1, section_27_2, section_27_3, section_27_4, section_27_5, section_27_6

_SECTIONS = (section_27_1, section_27_2, section_27_3, section_27_4, section_27_5, section_27_6)
FURTHER: Final = tuple(exercise for section in _SECTIONS for exercise in (section.A, section.B))
