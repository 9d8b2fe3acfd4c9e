"""The six exercises of section 27.8, one module each."""

from typing import Final

from .means import EXERCISE_2
from .microbatch import EXERCISE_1
from .recovery import EXERCISE_5
from .rounding import EXERCISE_4
from .share import EXERCISE_3
from .tradeoff import EXERCISE_6

BOOK: Final = (EXERCISE_1, EXERCISE_2, EXERCISE_3, EXERCISE_4, EXERCISE_5, EXERCISE_6)
