"""What is in memory whenever a phase of the step has just ended: one ledger per boundary."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from ..arguments import choice, instance, whole
from ..errors import CourseError
from ..ledger import ACTIVATIONS, ATTENTION_SCORES, LOGITS, WORKSPACE, Ledger, Lifetime, Row, model_state
from .shapes import ARRAYS, KEEPS, POLICIES, Policy, StepShape

SCALES: Final = "归一化的尺度"
STREAM: Final = "残差流"
LAST_NORMAL: Final = "末次归一化"

INIT: Final = "初始化"
EMBED: Final = "嵌入"
FORWARD_END: Final = "前向结束"
HEAD_BACK: Final = "输出层反向"
BACKWARD_END: Final = "反向结束"
UPDATE_END: Final = "更新结束"


def layer_phase(layer: int, kind: str) -> str:
    """Name the phase of one layer, counted from 0; ``kind`` is 前向, 重算 or 反向."""
    return f"第 {layer + 1} 层{kind}"


@dataclass(frozen=True, slots=True)
class Boundary:
    """What is in memory when a phase has just ended."""

    phase: str
    ledger: Ledger

    @property
    def total_bytes(self) -> int:
        """Sum over the rows."""
        return self.ledger.total_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class StepPlan:
    """A shape, how its values are stored, and how many of a layer's ten arrays are kept: 10, 4 or 1.

    Source: example 27.1 for the states and the ten arrays, section 27.6 for keeping four.

    >>> StepPlan().boundaries()[0].total_bytes
    16000000
    """

    shape: StepShape = field(default_factory=StepShape)
    dtype: str = "float16"
    keep: int = 10

    def __post_init__(self) -> None:
        instance("shape", self.shape, StepShape, "请用 StepShape(...) 写明尺寸")
        choice("dtype", self.dtype, POLICIES)
        keep = whole("keep", self.keep)
        if keep not in KEEPS:
            raise CourseError("keep 不是可用的留法", got=keep, remedy="请给 10、4 或 1")
        object.__setattr__(self, "keep", keep)

    @property
    def policy(self) -> Policy:
        """Bytes per value."""
        return POLICIES[self.dtype]

    @property
    def kept(self) -> tuple[str, ...]:
        """Names of what a layer saves."""
        return KEEPS[self.keep]

    def state(self) -> Ledger:
        """Return the model state, the rows of table 27.1 where the policy is the chapter's."""
        policy = self.policy
        ledger = model_state(
            self.shape.parameters,
            weights=policy.weights,
            grads=policy.grads,
            master=policy.master,
            moments=(policy.moments, policy.moments),
        )
        return Ledger(ledger.rows)

    def saved(self, layers: int, *, whole_layers: int = 0) -> Ledger:
        """Return what ``layers`` layers keep, and ``whole_layers`` more with all that backward needs."""
        few, many = whole("layers", layers), whole("whole_layers", whole_layers)
        lean, full = self._layer_values(self.kept), self._layer_values(KEEPS[10])
        counts = {name: few * lean[name] + many * full[name] for name in lean}
        return Ledger(tuple(step_row(name, count, self.policy.saved) for name, count in counts.items()))

    def _layer_values(self, names: tuple[str, ...]) -> dict[str, int]:
        shape = self.shape
        return {
            ACTIVATIONS: shape.array_values * sum(ARRAYS.get(name, 0) for name in names),
            ATTENTION_SCORES: shape.score_values * names.count("scores"),
            SCALES: shape.sequences * shape.positions * sum(name.startswith("scale") for name in names),
        }

    def stream(self) -> Ledger:
        """Return the residual stream, or its gradient, on its way between two layers."""
        return Ledger((step_row(STREAM, self.shape.array_values, self.policy.compute),))

    def output(self) -> Ledger:
        """Return what the output layer saves: its normalised input with the scale, and the logits."""
        shape, each = self.shape, self.policy.saved
        places = shape.sequences * shape.positions
        normal = step_row(LAST_NORMAL, shape.array_values + places, each)
        return Ledger((normal, step_row(LOGITS, places * shape.vocabulary, each)))

    def boundaries(self) -> tuple[Boundary, ...]:
        """Return the ledger of every phase boundary in order.

        >>> rows = {b.phase: b.total_bytes for b in StepPlan().boundaries()}
        >>> rows["前向结束"], rows["更新结束"]
        (24738816, 16000000)
        """
        state, layers = self.state(), range(self.shape.layers)
        flowing = state + self.stream()
        rows = [Boundary(INIT, state), Boundary(EMBED, flowing)]
        rows += [Boundary(layer_phase(n, "前向"), flowing + self.saved(n + 1)) for n in layers]
        everything = self.saved(len(layers))
        rows.append(Boundary(FORWARD_END, state + everything + self.output()))
        rows.append(Boundary(HEAD_BACK, flowing + everything))
        for n in reversed(layers):
            if self.keep != 10:
                rows.append(Boundary(layer_phase(n, "重算"), flowing + self.saved(n, whole_layers=1)))
            rows.append(Boundary(layer_phase(n, "反向"), flowing + self.saved(n)))
        return (*rows, Boundary(BACKWARD_END, state), Boundary(UPDATE_END, state))


def step_row(name: str, values: int, bytes_each: int) -> Row:
    """Return a row of a step."""
    why = "反向计算用完之前不能丢" if name != WORKSPACE else "运算途中借用，算完就还"
    return Row(name, values, (bytes_each,), why, Lifetime.WITHIN_STEP)
