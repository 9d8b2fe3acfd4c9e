"""Formulas as MathML, which browsers draw by themselves: the part of TeX that the notebooks use.

>>> mathml("2^{-24}")
'<math><msup><mn>2</mn><mrow><mo>−</mo><mn>24</mn></mrow></msup></math>'
"""

from __future__ import annotations

import re
from html import escape
from types import MappingProxyType
from typing import Final, NoReturn

from ...errors import CourseError

_TOKEN: Final = re.compile(  # command, number, letter, sign, mark
    r"\s*(?:(\\[A-Za-z]+|\\.)|(\d+(?:\.\d+)?)|([A-Za-z])|([-+=<>/*(),.|!:;\[\]])|([{}^_]))"
)
_SIGNS: Final = MappingProxyType({"-": "−", "*": "∗"})
_OPERATORS: Final = MappingProxyType({
    "times": "×", "cdot": "·", "pm": "±", "sum": "∑", "in": "∈", "to": "→", "ldots": "…", "cdots": "⋯",
    "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "ne": "≠", "approx": "≈", "%": "%", "{": "{", "}": "}",
    "lceil": "⌈", "rceil": "⌉", "lfloor": "⌊", "rfloor": "⌋", ",": "\u2009", ";": "\u2005", " ": " ",
})  # fmt: skip
_ACCENTS: Final = MappingProxyType({"bar": "¯", "hat": "^", "tilde": "~"})
_LETTERS: Final = MappingProxyType(
    {"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "eta": "η", "theta": "θ"}
    | {"lambda": "λ", "mu": "μ", "sigma": "σ", "Delta": "Δ", "Sigma": "Σ"}
)


def mathml(tex: str, *, block: bool = False) -> str:
    """Return a formula as one ``<math>`` element; raise ``CourseError`` at what this reader does not know."""
    row = _Reader(tex).row(until="")
    return f'<math display="block">{row}</math>' if block else f"<math>{row}</math>"


class _Reader:
    def __init__(self, tex: str) -> None:
        self.tex, self.rest = tex, tex.strip()

    def row(self, *, until: str) -> str:
        parts: list[str] = []
        while self.rest and not (until and self.rest.lstrip().startswith(until)):
            parts.append(self._with_scripts())
        if until:
            self._take()
        return "".join(parts)

    def _with_scripts(self) -> str:
        base, scripts = self._atom(), {}
        while (sign := self.rest.lstrip()[:1]) in ("^", "_") and sign:
            self._take()
            scripts[sign] = self._atom()
        names = {("^",): "msup", ("_",): "msub", ("^", "_"): "msubsup"}
        if not scripts:
            return base
        name = names[tuple(sorted(scripts, key="^_".index))]
        return f"<{name}>{base}{scripts.get('_', '')}{scripts.get('^', '')}</{name}>"

    def _atom(self) -> str:
        command, number, letter, sign, mark = self._take()
        if command:
            return self._command(command[1:])
        if mark == "{":
            return f"<mrow>{self.row(until='}')}</mrow>"
        if number or letter:
            return f"<mn>{number}</mn>" if number else f"<mi>{letter}</mi>"
        return f"<mo>{escape(_SIGNS.get(sign, sign))}</mo>" if sign else self._refuse()

    def _command(self, name: str) -> str:
        if name == "frac":
            return f"<mfrac>{self._atom()}{self._atom()}</mfrac>"
        if name in _ACCENTS:
            return f'<mover accent="true">{self._atom()}<mo>{_ACCENTS[name]}</mo></mover>'
        if name == "sqrt":
            return f"<msqrt>{self._atom()}</msqrt>"
        if name in ("text", "mathrm") and (found := re.match(r"\s*\{([^{}]*)\}", self.rest)):
            self.rest = self.rest[found.end() :]
            return f"<mtext>{escape(found[1])}</mtext>"
        if name in _LETTERS:
            return f"<mi>{_LETTERS[name]}</mi>"
        return f"<mo>{escape(_OPERATORS[name])}</mo>" if name in _OPERATORS else self._refuse()

    def _take(self) -> tuple[str, ...]:
        found = _TOKEN.match(self.rest)
        if not found:
            self._refuse()
        self.rest = self.rest[found.end() :]
        return found.groups(default="")

    def _refuse(self) -> NoReturn:
        raise CourseError(
            "网页不会写这个公式", got=self.tex, remedy="请换成数、字母、上下标、分式，或改 site/formulas.py"
        )
