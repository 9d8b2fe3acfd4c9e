"""The one family of errors a reader meets: a Chinese sentence, never a bare traceback."""

from __future__ import annotations

import reprlib

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60
_NOTHING = object()


def short_repr(value: object) -> str:
    """Return a short, always printable form of any value, even one whose ``repr`` fails.

    >>> short_repr("x" * 100)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxx...xxxxxxxxxxxxxxxxxxxxxxxxxxxx'"
    """
    try:
        text = _SHORT.repr(value)
    except Exception:  # a reader's own class may break in any way; the message must still appear
        text = f"<{type(value).__name__}>"
    one_line = " ".join(line.strip() for line in text.splitlines())
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in one_line)


class CourseError(ValueError):
    """Say what was wrong, which value came, and what would do.

    Parameters are Chinese text: ``problem`` names the argument and the rule it broke, ``remedy`` says what
    would be accepted. ``got`` is the offending value itself; leave it out where no single value is at fault.

    >>> raise CourseError("workers 必须是正整数", got=-1, remedy="请给 1 或更大的整数")
    Traceback (most recent call last):
    course_lib.errors.CourseError: workers 必须是正整数；收到 -1。请给 1 或更大的整数。
    """

    def __init__(self, problem: str, *, got: object = _NOTHING, remedy: str) -> None:
        came = "" if got is _NOTHING else f"；收到 {short_repr(got)}"
        super().__init__(f"{problem}{came}。{remedy}。")

    def _render_traceback_(self) -> list[str]:
        """IPython shows this in place of the stack: the reader needs the sentence, not our frames."""
        return [f"CourseError：{self}"]
