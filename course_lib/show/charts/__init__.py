"""What pictures are made of: marks that change without being made anew, and charts built from them.

``marks`` has boxes, labels, rules, areas, points and curves; ``charts`` the shapes of this chapter: ledger
bars, lanes (timelines, pipelines), memory curve, histogram, number line, grid, scatter of arrangements.
All take axes and styles once, then ``show(...)`` the values of the moment, in any number.
"""

from .axes import axis_in_bytes, even_ticks, legend, plain, round_up, short_bytes
from .boxes import Boxes
from .charts import Grid, Histogram, Lanes, LedgerBars, MemoryCurve, NumberLine, Scatter, Span
from .marks import Areas, Curves, Labels, Points, Rules

__all__ = [
    "Areas", "Boxes", "Curves", "Grid", "Histogram", "Labels", "Lanes", "LedgerBars", "MemoryCurve",
    "NumberLine", "Points", "Rules", "Scatter", "Span", "axis_in_bytes", "even_ticks", "legend", "plain",
    "round_up", "short_bytes",
]  # fmt: skip
