"""The one list of verdicts: a reader's self-check uses the first four, grading of submissions all."""

from __future__ import annotations

from enum import Enum


class Verdict(Enum):
    """What became of one criterion. The value is the fixed name, ``label`` what a reader sees."""

    PASS = "pass"
    PARTIAL = "partial"
    FAIL = "fail"
    UNANSWERED = "unanswered"
    MISSING = "missing"
    ERROR = "error"
    TIMEOUT = "timeout"
    AFTER_TIMEOUT = "after-timeout"
    DIED = "died"
    OUTPUT_LIMIT = "output-limit"
    INVALID = "invalid"

    @property
    def label(self) -> str:
        """The verdict in Chinese.

        >>> Verdict.AFTER_TIMEOUT.label
        '在超时之后，没有运行'
        """
        return _LABELS[self]


_LABELS = {
    Verdict.PASS: "对",
    Verdict.PARTIAL: "对了一部分",
    Verdict.FAIL: "再想想",
    Verdict.UNANSWERED: "还没有作答",
    Verdict.MISSING: "作答的那一格不见了",
    Verdict.ERROR: "作答的那一格出错",
    Verdict.TIMEOUT: "作答的那一格超时",
    Verdict.AFTER_TIMEOUT: "在超时之后，没有运行",
    Verdict.DIED: "内核中途退出",
    Verdict.OUTPUT_LIMIT: "输出太多，被截断",
    Verdict.INVALID: "无法判读",
}
