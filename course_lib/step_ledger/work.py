"""The arithmetic of a step: what its matrix products cost, and what recompute adds."""

from __future__ import annotations

from ..arguments import instance
from .boundaries import StepPlan


def forward_flops(plan: StepPlan) -> int:
    """Return the work of all layers' matrix products in one forward pass, without the output layer.

    A layer does 24·B·T·D² for its weights and 4·B·T²·D for attention: 2 per multiplication and addition.

    >>> forward_flops(StepPlan())
    134217728
    """
    shape = instance("plan", plan, StepPlan, "请用 StepPlan(...) 写明尺寸与留法").shape
    return shape.layers * shape.array_values * (24 * shape.width + 4 * shape.positions)


def rebuild_flops(plan: StepPlan) -> int:
    """Return the work that recompute adds: forward without the last product, and without q, k, v if kept.

    >>> rebuild_flops(StepPlan(keep=4)), rebuild_flops(StepPlan(keep=1)), rebuild_flops(StepPlan())
    (75497472, 100663296, 0)
    """
    shape = instance("plan", plan, StepPlan, "请用 StepPlan(...) 写明尺寸与留法").shape
    if plan.keep == 10:
        return 0
    widths = 10 if plan.keep == 4 else 16
    return shape.layers * shape.array_values * (widths * shape.width + 4 * shape.positions)
