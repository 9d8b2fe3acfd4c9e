"""Other numbers for every student, which nobody can compute without the secret.

Every draw is taken from HMAC-SHA256 of the secret over exercise and student, so the holder of the secret
recomputes it at any time, on any machine. Parameters under which a misconception would give a right answer,
two misconceptions the same, or the answers would be the book's are drawn again.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar, cast

from ..arguments import instance, is_a, text
from ..errors import CourseError
from .exercise import Exercise, Parameters, judge, tells_apart
from .verdicts import Verdict

T = TypeVar("T")
_MOST_DRAWS: Final = 1000


def _secret(secret: object) -> bytes:
    if not isinstance(secret, bytes) or not secret:
        raise CourseError(
            "secret 必须是非空的 bytes", remedy="请用 secrets.token_bytes(32) 造一个，并只自己留着"
        )
    return secret


def _digest(secret: bytes, *words: object) -> str:
    return hmac.new(secret, json.dumps(words, sort_keys=True).encode("ascii"), hashlib.sha256).hexdigest()


class Draw:
    """A stream of choices that depends on nothing but the secret and the words it was made of."""

    def __init__(self, secret: bytes, *words: object) -> None:
        self._numbers = self._stream(secret, words)

    @staticmethod
    def _stream(secret: bytes, words: tuple[object, ...]) -> Iterator[int]:
        count = 0
        while True:
            yield int(_digest(secret, *words, count), 16)
            count += 1

    def whole(self, least: int, most: int, *, step: int = 1) -> int:
        """Return a whole number from ``least`` to ``most``, both included."""
        return least + step * (next(self._numbers) % ((most - least) // step + 1))

    def pick(self, options: Sequence[T]) -> T:
        """Return one of the options."""
        return options[next(self._numbers) % len(options)]

    def shuffled(self, options: Sequence[T], count: int | None = None) -> list[T]:
        """Return ``count`` of the options (all of them by default), each once, in drawn order."""
        left = list(options)
        wanted = len(left) if count is None else count
        return [left.pop(next(self._numbers) % len(left)) for _ in range(wanted)]


def draw(exercise: Exercise, student_id: str, secret: bytes) -> dict[str, Any]:
    """Return this student's parameters of an exercise; the same arguments always give the same."""
    student, key = text("student_id", student_id), _secret(secret)
    instance("exercise", exercise, Exercise, "请用 exercises.find(编号) 取一道习题")
    book = exercise.solve()
    for attempt in range(_MOST_DRAWS):
        parameters = exercise.draw(Draw(key, exercise.id, student, attempt))
        known = judge(exercise, parameters=parameters, answers=book)
        if known.verdict is not Verdict.PASS and tells_apart(exercise, parameters):
            return dict(parameters)
    raise CourseError(
        f"习题 {exercise.id} 的取值范围抽不出合用的题设", remedy="请放宽 draw 的范围，或去掉总是同答案的误解"
    )


def sign(student_id: str, parameters: Mapping[str, Parameters], secret: bytes) -> str:
    """Return the signature of one student's parameters, exercise by exercise."""
    student, key = text("student_id", student_id), _secret(secret)
    try:
        return _digest(key, "signed", student, _plain(parameters))
    except (TypeError, ValueError, RecursionError):
        raise CourseError(
            "parameters 必须是题设的字典", got=parameters, remedy="请给 {习题编号: {名字: 值}}，值能写成 JSON"
        ) from None


def _plain(parameters: object) -> dict[str, dict[str, Any]]:
    """Return the parameters as dicts; a list of pairs is none, though ``dict`` would take it."""
    if not isinstance(parameters, Mapping) or not all(is_a(v, Mapping) for v in parameters.values()):
        raise TypeError("no mapping of mappings")
    return {name: dict(values) for name, values in parameters.items()}


def is_signed(student_id: object, parameters: object, secret: bytes, signature: object) -> bool:
    """True if the signature was made with this secret for exactly these parameters, of whatever types."""
    key = _secret(secret)
    if not isinstance(signature, str) or not signature.isascii():
        return False
    try:
        made = sign(cast(str, student_id), cast(Mapping[str, Parameters], parameters), key)
    except CourseError:
        return False
    return hmac.compare_digest(made, signature)
