"""Make the font that the pictures use: a subset of Noto Sans CJK SC, renamed as the OFL asks.

Run ``python -m course_lib.show.fonts.make_font NotoSansCJK-Regular.ttc``; fontTools comes with matplotlib.
The subset holds ASCII, Latin-1, Greek, GB 2312 level 1 and 2 and the signs below; regular weight only.
"""

from __future__ import annotations

import sys
from pathlib import Path

from fontTools import subset

from . import FAMILY, FONT_FILE

_SIMPLIFIED_CHINESE = 2  # index of the SC face in Noto's collection
_SIGNS = (
    "‐‑–—‘’“”•…′″€℃№∈∏∑−√∝∞∩∪∫∴≈≠≡≤≥≪≫←↑→↓↔⇐⇒⇔∂∇─│┌┐└┘├┤┬┴┼█░▒▓■□▲△▶▷▼▽◀◆◇○◎●★☆✓"
    "ℓ①②③④⑤⑥⑦⑧⑨⑩¹²³⁴、。〈〉《》「」『』【】〔〕・"
)


def characters() -> str:
    """Return every character the font is asked to hold."""
    ranges = ((0x20, 0x7F), (0xA0, 0x100), (0x391, 0x3A2), (0x3A3, 0x3AA), (0x3B1, 0x3CA), (0xFF01, 0xFF5F))
    plain = "".join(chr(code) for first, stop in ranges for code in range(first, stop))
    pairs = (bytes([high, low]) for high in range(0xB0, 0xF8) for low in range(0xA1, 0xFF))
    return plain + _SIGNS + "".join(pair.decode("gb2312", "ignore") for pair in pairs)


def make(source: str, target: Path) -> None:
    """Cut ``source`` down to ``characters()`` and write it under the course's own family name."""
    options = subset.Options()
    options.font_number = _SIMPLIFIED_CHINESE
    options.hinting = options.glyph_names = False
    options.notdef_outline = True
    options.layout_features = ["kern"]
    options.name_IDs = ["*"]
    options.drop_tables += ["vhea", "vmtx", "VORG", "BASE", "GSUB"]
    font = subset.load_font(source, options, dontLoadGlyphNames=True)
    cutter = subset.Subsetter(options)
    cutter.populate(text=characters())
    cutter.subset(font)
    _rename(font)
    subset.save_font(font, str(target), options)


def _rename(font) -> None:
    full, postscript = f"{FAMILY} Regular", FAMILY.replace(" ", "") + "-Regular"
    new = {1: FAMILY, 3: f"1.0;{postscript}", 4: full, 6: postscript, 16: FAMILY}
    for record in font["name"].names:
        record.string = new.get(record.nameID, record.toUnicode())
    compact = font["CFF "].cff
    compact.fontNames = [postscript]
    compact.topDictIndex[0].FullName, compact.topDictIndex[0].FamilyName = full, FAMILY


if __name__ == "__main__":
    make(sys.argv[1], FONT_FILE)
