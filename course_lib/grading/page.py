"""The frame of every page: one complete HTML file, styles inside, no scripts, nothing fetched.

Everything that comes from a submission, a file name or a list goes through ``words`` and is escaped there.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from html import escape
from typing import Final

from ..exercises import Verdict
from .records import PROCESS
from .spreadsheets import printable

SIGNS: Final = {Verdict.PASS: "✓", Verdict.PARTIAL: "◐", Verdict.FAIL: "✗", Verdict.UNANSWERED: "○"}
_OTHER_SIGN: Final = "!"
_LONGEST: Final = 400  # characters of one line that a student or a file can make as long as it likes
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

_WALLS: Final = (
    "在沙箱（bubblewrap）里运行：没有网络，看不到别人的作业和参考解答，内存、进程、时间与输出都有上限。"
)
_NO_WALLS: Final = (
    "用 process 方式运行：判分照样在作业之外进行，也有时间和输出的上限，"
    "但没有沙箱的围墙，作业能读这台机器上的文件，也能用网络。"
)

_STYLE: Final = """
:root { color-scheme: light dark; --ink: #1b1b1b; --quiet: #5d5d5d; --paper: #fff; --plate: #f4f5f7;
  --line: #d9dce1; --link: #0060a0; --pass: #00704f; --partial: #8a5a00; --fail: #b3400c; --tint: 0 114 178; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e6e6; --quiet: #a7a7a7; --paper: #121212;
  --plate: #1e1f22; --line: #3a3d42; --link: #7cc0ef; --pass: #4fd0a3; --partial: #f0b94a; --fail: #ff9566;
  --tint: 86 180 233; } img { filter: invert(.93) hue-rotate(180deg); } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1.25rem 3rem; background: var(--paper); color: var(--ink);
  font: 16px/1.65 system-ui, "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", "Noto Sans SC", sans-serif;
  overflow-wrap: anywhere; }
body.narrow { max-width: 46rem; } body.wide { max-width: 64rem; }
h1 { font-size: 1.5rem; line-height: 1.3; margin: 0 0 .4rem; }
h2 { font-size: 1.15rem; line-height: 1.4; margin: 0; }
p { margin: .35rem 0; } ul { margin: .3rem 0; padding-left: 1.3rem; } a { color: var(--link); }
.quiet { color: var(--quiet); font-size: .92rem; } .who { unicode-bidi: isolate; }
.sum { font-size: 1.9rem; font-weight: 650; margin: .6rem 0 .2rem; }
.sum small { font-size: 1rem; font-weight: 400; }
.notice { border-left: 4px solid var(--partial); background: var(--plate); padding: .5rem .8rem;
  margin: .8rem 0; break-inside: avoid; }
section { border: 1px solid var(--line); border-radius: 8px; padding: .8rem 1rem; margin: 1rem 0;
  break-inside: avoid; }
body.wide section { border: 0; padding: 0; margin: 2rem 0; }
.head { display: flex; flex-wrap: wrap; gap: .2rem 1rem; justify-content: space-between;
  align-items: baseline; }
.points { white-space: nowrap; font-variant-numeric: tabular-nums; }
.pass { color: var(--pass); } .partial { color: var(--partial); } .fail, .other { color: var(--fail); }
.criterion { border-top: 1px solid var(--line); margin-top: .6rem; padding-top: .5rem; }
pre { background: var(--plate); border-radius: 6px; padding: .5rem .7rem; margin: .5rem 0;
  white-space: pre-wrap; unicode-bidi: isolate;
  font: .88rem/1.5 ui-monospace, Consolas, Menlo, "Noto Sans CJK SC", monospace; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .55rem; text-align: right;
  white-space: nowrap; }
th { font-weight: 600; } tfoot th { border-top: 2px solid var(--line); }
th:first-child, td:first-child { text-align: left; white-space: normal; min-width: 9rem; }
img { display: block; width: 100%; min-width: 40rem; height: auto; }
@media (max-width: 30rem) { body { padding: 1rem .8rem 2rem; } section { padding: .6rem .7rem; } }
@media print { :root { color-scheme: light; --ink: #000; --quiet: #444; --paper: #fff; --plate: #f4f5f7;
  --line: #bbb; --link: #000; --pass: #005a3f; --partial: #6b4600; --fail: #8f3109; --tint: 0 114 178; }
  img { filter: none; min-width: 0; } body { padding: 0; max-width: none; font-size: 11pt; }
  .scroll { overflow: visible; } tr { break-inside: avoid; } h2 { break-after: avoid; } }
"""


def page(title: str, body: Iterable[str], *, layout: str) -> str:
    """Return a whole HTML file; ``body`` is HTML already, ``layout`` is "narrow", or "wide" for tables."""
    return (
        '<!DOCTYPE html>\n<html lang="zh-CN">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{words(title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f'<body class="{layout}">\n' + "\n".join(body) + "\n</body>\n</html>\n"
    )


def words(text: str, *, longest: int = _LONGEST) -> str:
    """Return any text as HTML that stays text; what is very long is cut and says so.

    >>> words("<b>&")
    '&lt;b&gt;&amp;'
    """
    plain = printable(text)
    cut = plain if len(plain) <= longest else f"{plain[:longest]}……（太长，截断）"
    return escape(cut)


def listed(sentences: Iterable[str]) -> str:
    """Return sentences as a list, the empty text where there are none."""
    items = "".join(f"<li>{words(sentence)}</li>" for sentence in sentences)
    return f"<ul>{items}</ul>" if items else ""


def verdict_words(verdict: Verdict) -> str:
    """Return sign and words of a verdict, coloured."""
    look = verdict.value if verdict in (Verdict.PASS, Verdict.PARTIAL, Verdict.FAIL) else "other"
    look = "quiet" if verdict is Verdict.UNANSWERED else look
    return f'<span class="{look}">{SIGNS.get(verdict, _OTHER_SIGN)} {words(verdict.label)}</span>'


def walls(sandbox: str) -> str:
    """Return the end of a sentence: how a submission ran, and what that kept out."""
    return _NO_WALLS if sandbox == PROCESS else _WALLS


def page_names(owners: Iterable[str]) -> dict[str, str]:
    """Return a file name for the page of every owner: its own letters, told apart on every file system."""
    known = sorted(set(owners))
    plain = {owner: _plain_name(owner) for owner in known}
    taken = [name.casefold() for name in plain.values()]
    return {
        owner: f"{name}.html" if name == owner and taken.count(name.casefold()) == 1 else _told(owner, name)
        for owner, name in plain.items()
    }


def _told(owner: str, name: str) -> str:
    return f"{name}-{sha256(owner.encode('utf-8', 'replace')).hexdigest()[:8]}.html"


def _plain_name(owner: str) -> str:
    """Return the letters and digits of any text; ids are plain, file names of strangers are not."""
    kept = "".join(sign if sign.isalnum() or sign in "-_" else "_" for sign in owner)
    return kept.strip("_-")[:40] or "page"
