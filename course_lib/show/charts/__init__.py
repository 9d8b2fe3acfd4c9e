"""What pictures are made of: marks that change without being made anew, and charts built from them.

``marks`` has labels, rules, areas, points and curves, ``boxes`` rectangles; the rest are the shapes of this
chapter: ledger bars, lanes (timelines, pipelines), memory curve, histogram, scatter, number line, grid.
All take axes and styles once, then ``show(...)`` the values of the moment, in any number.
"""

from .amounts import Histogram, MemoryCurve, Scatter
from .axes import axis_in_bytes, even_ticks, legend, plain, round_up, short_bytes
from .bars import LedgerBars
from .boxes import Boxes
from .lanes import Lanes, Span
from .marks import Areas, Curves, Labels, Points, Rules
from .values import Grid, NumberLine

__all__ = [
    "Areas", "Boxes", "Curves", "Grid", "Histogram", "Labels", "Lanes", "LedgerBars", "MemoryCurve",
    "NumberLine", "Points", "Rules", "Scatter", "Span", "axis_in_bytes", "even_ticks", "legend", "plain",
    "round_up", "short_bytes",
]  # fmt: skip
