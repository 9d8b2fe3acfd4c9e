"""A class of any size whose marks are known before anybody grades: ``hand_in(1_000)``.

Every answer is right, a listed misconception, blank, nonsense, or a mixture, and is written in one of the
many forms that people use. What it is worth stands in the tables below, typed from the exercises' rubrics;
nothing here asks the judge. Same seed, same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Final

from tests.submissions import BLANK, IDS, short_notebook, whole_notebook

Plain = int | str | bool | Decimal | Fraction | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Slip:
    """One misconception: its name, the answers that it leads to, what is left of the points."""

    name: str
    values: Mapping[str, Plain]
    points: int = 0


@dataclass(frozen=True, slots=True)
class Part:
    """What is judged together: the right answers, how they are written, the points, the slips."""

    right: Mapping[str, Plain]
    kind: str
    points: int
    slips: tuple[Slip, ...]


@dataclass(frozen=True, slots=True)
class Handed:
    """One submission: ``points`` are what it must get, ``kinds`` what was answered, by exercise id."""

    file: str
    content: bytes
    answers: Mapping[str, str]
    points: Mapping[str, int]
    kinds: Mapping[str, tuple[str, ...]]


def _one(name: str, right: Plain, kind: str, points: int, **slips: Plain) -> Part:
    """Return a part of one answer; its slips leave nothing."""
    return Part({name: right}, kind, points, tuple(Slip(k, {name: value}) for k, value in slips.items()))


D = Decimal
_FITS: Final = ("fits_before", "fits_after")

PARTS: Final[Mapping[str, tuple[Part, ...]]] = {
    "1": (
        _one("activation_bytes", 2_621_440, "bytes", 2, 只算了一层=655_360, 微批次没有变=1_310_720,
             **{"把 MiB 当成了 MB": 2_500_000}, 每层只算了一个数组=262_144),
        _one("total_bytes", 18_621_440, "bytes", 2, 加了余量=23_276_800, 状态也跟着放大了=34_621_440,
             只算了一层激活=16_655_360, **{"把 MiB 当成了 MB": 18_500_000}, 没有加模型状态=2_621_440,
             用了改变以前的激活=17_310_720),
    ),
    "2": (
        _one("mean_grad", 1, "number", 2, 等权平均=0, 总和没有再除=4, 总和除以了微批次数=2, 权重用反了=-1),
        _one("equal_weight_error", "B", "letter", 1,
             以为要先取正="A", 以为异号不能合并="C", 以为该数序列="D"),
    ),
    "3": (
        Part({"missing_items": ("已保存激活", "临时收集的权重", "通信缓冲区")}, "names", 3, (
            Slip("把已经算进去的又报一次", {"missing_items": ("工作权重", "梯度", "主权重副本")}),
            Slip("把已经算进去的又报一次",
                 {"missing_items": ("内存碎片", "临时工作区", "一阶矩与二阶矩")}, 1),
            Slip("把别的进程的份额算进来",
                 {"missing_items": ("已保存激活", "临时收集的权重", "另外三个进程的份额")}, 1),
            Slip("把模型状态和别的进程都报了上来",
                 {"missing_items": ("工作权重", "梯度", "另外三个进程的份额")}),
            Slip("写少了", {"missing_items": ("已保存激活", "临时收集的权重")}, 2),
            Slip("写少了", {"missing_items": ("分片前的整层梯度",)}, 1),
        )),
    ),
    "4": (
        _one("immediate_after_1", D("1.00"), "number", 1, 没有舍入=D("0.997"), 当成截断=D("0.99"),
             **{"用了二进制 FP16": D("0.9970703125")}),
        _one("immediate_after_2", D("1.00"), "number", 1, 到最后才舍入一次=D("0.99"), 没有舍入=D("0.994"),
             当成截断=D("0.98"), **{"用了二进制 FP16": D("0.994140625")}),
        _one("master_after_1", D("0.997"), "number", 1, 主副本也舍入成两位=D("1.00"), 加成了减=D("1.003"),
             **{"用了二进制 FP16": D("0.9970703125")}),
        _one("master_after_2", D("0.994"), "number", 1, 写成了工作副本的值=D("0.99"),
             从舍入后的数接着减=D("0.997"), 多减了一次=D("0.991")),
        _one("working_after_2", D("0.99"), "number", 1, 没有舍入=D("0.994"), 以为还是没有动=D("1.00"),
             **{"用了二进制 FP16": D("0.994140625")}),
    ),
    "5": (
        Part({"supported": ("A", "D"), "not_supported": ("B", "C", "E", "F")}, "letters", 6, tuple(
            Slip(name, {"supported": tuple(yes), "not_supported": tuple(no)}, points)
            for name, yes, no, points in (
                ("先写的一句没有查证", "D", "ABCEF", 5), ("后写的一句没有查证", "A", "BCDEF", 5),
                ("一样没读回来就全盘否定", "", "ABCDEF", 4), ("数据没变，次序就没变", "ABD", "CEF", 5),
                ("没有比较也算一致", "ACD", "BEF", 5), ("接上数值就等于没停过", "ABCD", "EF", 4),
                ("在一处行就处处行", "ADE", "BCF", 5), ("能读回来就算齐全", "ADF", "BCE", 5),
                ("读得进来就什么都保证了", "ADEF", "BC", 4), ("两堆写反了", "BCEF", "AD", 0),
                ("每一句都放进两堆", "ABCDEF", "ABCDEF", 0), ("漏了三句", "A", "BC", 3),
            )
        )),
    ),
    "6": (
        Part(dict(zip(_FITS, (False, True), strict=True)), "truth", 2, (
            Slip("只数了激活", dict.fromkeys(_FITS, True), 1),
            Slip("当作重算没有省下内存", dict.fromkeys(_FITS, False), 1),
            Slip("两次写反了", dict(zip(_FITS, (True, False), strict=True))),
        )),
        _one("seconds_before", D("0.25"), "seconds", 1, 漏了传输=D("0.2"), 两段相减了=D("0.15"),
             毫秒写成了秒=250),
        _one("seconds_after", D("0.31"), "seconds", 1, 连传输也一起加了=D("0.325"), 漏了传输=D("0.26"),
             以为时间不变=D("0.25"), 当成省了算术=D("0.19")),
        _one("can_say_faster", False, "truth", 1, 放得下就当作更快=True),
    ),
}  # fmt: skip

MAX_POINTS: Final = {id: sum(part.points for part in parts) for id, parts in PARTS.items()}
_BLANKS: Final = ("None", "None", "None", "''", '"……"', '"..."', "...", "[None, None]", '["……", "……", "……"]')
_NONSENSE: Final = ('"不知道"', "object()", 'float("nan")', "lambda: 1", "{}", "1j", 'b"1"')
_IMPORTS: Final = {
    "Fraction": "from fractions import Fraction",
    "Decimal": "from decimal import Decimal",
    "np.": "import numpy as np",
}
_FULL_WIDTH: Final = str.maketrans("0123456789.,-", "０１２３４５６７８９．，－")


def _number(value: Plain, kind: str, rng: Random) -> str:
    """Write a number as source, in one of the forms that mean exactly it."""
    exact = Fraction(value)  # type: ignore[arg-type]
    plain = str(value)
    forms = [plain, plain, repr(plain), f'Decimal("{plain}")', f"Fraction({str(exact)!r})", f'" {plain} "']
    forms += [repr(plain.translate(_FULL_WIDTH)), f"{plain} + 0", repr(str(exact))]
    forms += [f"np.float64({plain})", f"float({plain})"]
    if exact.denominator == 1:
        whole = int(exact)
        forms += [
            f"{whole:_}",
            repr(f"{whole:,}"),
            f"np.int64({whole})",
            f"int({str(whole)!r})",
            f"{whole}.0",
        ]
        forms += [repr(f"{whole:_}"), f"np.array([{whole}])[0]", f"Fraction({2 * whole}, 2)"]
    if kind == "bytes":
        forms += [repr(f"{value} B"), repr(f"{value:,} 字节"), repr(f"{Decimal(value) / 10**6} MB")]
        forms += [repr(f"{Decimal(value) / 2**20} MiB"), repr(f"{Decimal(value) / 2**10}KiB")]
    if kind == "seconds":
        forms += [f'"{value} s"', f'"{value}秒"', f'"{(Decimal(value) * 1000).normalize():f} ms"']
    return rng.choice(forms)


def _texts(values: tuple[str, ...], kind: str, rng: Random) -> str:
    """Write letters or names as source: list, tuple, set, or one text with any separator."""
    mixed = list(values)
    rng.shuffle(mixed)
    inside = ", ".join(f'"{value}"' for value in mixed)
    forms = [f"[{inside}]", f"[{inside}]", f"list(({inside}{',' if mixed else ''}))"]
    if not mixed:
        return rng.choice([*forms, "()", "set()"])
    forms += [f"({inside},)", f"{{{inside}}}", f"frozenset([{inside}])"]
    forms += [repr(sign.join(mixed)) for sign in ("、", "，", ", ", "; ")]
    if kind == "letters":
        forms += [repr("".join(mixed)) if len(mixed) > 1 else f'"{mixed[0]}"', f"[{inside.lower()}]"]
    return rng.choice(forms)


def _letter(value: str, rng: Random) -> str:
    wide = chr(ord(value) + 0xFEE0)
    return rng.choice(
        [f'"{value}"', f'"{value}"', f'"{value.lower()}"', f'" {value} "', f'["{value}"]', f'"{wide}"']
    )


def _truth(value: bool, rng: Random) -> str:
    words = ("是", "对", "能", "会", "yes") if value else ("否", "错", "不能", "不会", "no")
    return rng.choice(
        [str(value), str(value), repr(str(value)), f"np.bool_({value})", repr(rng.choice(words))]
    )


def written(value: Plain, kind: str, rng: Random) -> str:
    """Return source text that means this value."""
    if isinstance(value, tuple):
        return _texts(value, kind, rng)
    if kind == "truth":
        return _truth(bool(value), rng)
    return _letter(str(value), rng) if kind == "letter" else _number(value, kind, rng)


def _part(part: Part, kind: str, rng: Random) -> tuple[dict[str, str], int, str]:
    """Return source by name, the points and a word for what it is."""
    if kind == "blank":
        lines = {name: rng.choice(_BLANKS) for name in part.right}
        if len(lines) > 1 and rng.random() < 0.5:  # one of two answers is not an answer
            name = rng.choice(list(lines))
            lines[name] = written(part.right[name], part.kind, rng)
        return lines, 0, "blank"
    if kind == "nonsense":
        return {name: rng.choice(_NONSENSE) for name in part.right}, 0, "nonsense"
    slip = rng.choice(part.slips) if kind == "slip" else Slip("right", part.right, part.points)
    return (
        {name: written(value, part.kind, rng) for name, value in slip.values.items()},
        slip.points,
        slip.name,
    )


def _answer(id: str, rng: Random) -> tuple[str, int, tuple[str, ...]]:
    """Return the answer cell of one exercise, its points and what its parts are."""
    parts = PARTS[id]
    kind = rng.choices(["right", "slip", "mixed", "blank", "error"], [40, 30, 15, 12, 3])[0]
    if kind == "blank":
        return rng.choice([BLANK[id], "# 没有做", ""]), 0, ("blank",) * len(parts)
    kinds = ["right"] * len(parts)
    if kind == "slip":
        kinds[rng.randrange(len(parts))] = "slip"
    elif kind == "mixed":
        kinds = rng.choices(["right", "slip", "blank", "nonsense"], [4, 4, 2, 1], k=len(parts))
    done = [_part(part, each, rng) for part, each in zip(parts, kinds, strict=True)]
    lines = [f"{name} = {source}" for sources, _, _ in done for name, source in sources.items()]
    text = "\n".join(lines)
    head = [line for word, line in _IMPORTS.items() if word in text]
    if kind == "error":
        return "\n".join([*head, *lines, "undefined + 1"]), 0, ("error",) * len(parts)
    return "\n".join([*head, *lines]), sum(points for _, points, _ in done), tuple(name for *_, name in done)


def hand_in(count: int, *, seed: int = 27) -> Iterator[Handed]:
    """Yield this many submissions; every second one is the whole notebook 27.8, the others only answers."""
    rng = Random(seed)
    for number in range(count):
        done = {id: _answer(id, rng) for id in IDS}
        answers = {id: source for id, (source, _, _) in done.items()}
        content = whole_notebook(answers) if number % 2 else short_notebook(answers)
        points = {id: each for id, (_, each, _) in done.items()}
        kinds = {id: each for id, (*_, each) in done.items()}
        yield Handed(f"s{number:04d}.ipynb", content, answers, points, kinds)
