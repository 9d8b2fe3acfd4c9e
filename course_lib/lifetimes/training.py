"""The lifetimes of one process that trains: figure 27.1 as objects over the events of a schedule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ..activations import SavedActivations, TransformerActivations
from ..arguments import instance, is_a, truth, whole
from ..errors import CourseError
from ..ledger import ACTIVATIONS, GRAD_BUFFER, GRADS, Ledger, Lifetime, Row
from .columns import LARGEST_OBJECTS, LARGEST_TIME, Ints
from .lanes import LARGEST_LANES, Lane
from .phases import PhaseKind, Phases, schedule
from .timeline import Timeline

SAVED_FILE: Final = "恢复检查点文件"
_WHY_FILE: Final = "进程停止后只剩下它，续训要从它读回状态"
_WHY_ACTIVATIONS: Final = "本层的反向计算还没有用完它"
_RESET: Final = (GRADS, GRAD_BUFFER)
_NOTHING_MORE: Final = Ledger(())


@dataclass(frozen=True, slots=True)
class _Block:
    """Objects of one size on some lanes: ``starts`` and ``ends`` of shape (lanes, objects per lane)."""

    lanes: tuple[Lane, ...]
    n_bytes: int
    starts: Ints
    ends: Ints


def training_timeline(
    *,
    state: Ledger,
    acts: SavedActivations | TransformerActivations,
    microbatches: int = 1,
    updates: int = 1,
    save_after: int | None = None,
    stop: bool = False,
    per_array: bool = False,
    in_backward: Ledger = _NOTHING_MORE,
) -> Timeline:
    """Return the objects of ``updates`` updates, each summing over ``microbatches`` microbatches.

    ``state`` is the ledger without the activations. Its rows that live across updates (and across a stop)
    stay in memory as long as the process runs; gradients are one object per update, replaced by a zeroed one
    at the boundary; rows within a step stay for the forward and backward pass of each microbatch. ``acts``
    gives the arrays of a layer, from the start of its forward to the end of its backward: one object per
    layer, or per array with ``per_array``. ``in_backward`` has rows that exist only in the backward passes,
    for example room for what is computed again there. ``save_after`` names the update after which the state
    without gradients is written to a file (whole once the phase is over); with ``stop`` the process then
    ends, nothing is left in memory, and the run resumes from the file. Times are ticks: see ``phases``.

    Raises ``CourseError`` for more than 5,000,000 objects. Source: section 27.2, figure 27.1.

    >>> from course_lib.ledger import model_state
    >>> acts = SavedActivations(sequences=2, positions=128, width=64,
    ...                         layers=4, arrays_per_layer=10, bytes_per_value=2)
    >>> peak = training_timeline(state=model_state(1_000_000), acts=acts, microbatches=2).peak()
    >>> peak.total_bytes, peak.time, peak.until, peak.phase.label
    (17310720, 3, 5, '前向')
    """
    _check_parts(state, acts, truth("per_array", per_array))
    instance("in_backward", in_backward, Ledger, "请给只在反向期间存在的账本")
    phases = schedule(
        layers=acts.layers, microbatches=microbatches, updates=updates, save_after=save_after, stop=stop
    )
    rows = _activation_rows(acts, per_array)
    each_time = sum(row.lifetime is Lifetime.WITHIN_STEP for row in state) + len(in_backward.rows)
    _check_size(rows + each_time, phases.of(PhaseKind.FORWARD)[0].size, len(state.rows))
    blocks = [_row_block(row, phases) for row in state]
    blocks.append(_activation_block(acts, rows, phases))
    blocks += [_block(row, *phases.of(PhaseKind.BACKWARD)) for row in in_backward]
    blocks.append(_file_block(state, phases))
    return _joined([block for block in blocks if block.starts.size], phases)


def _check_parts(state: object, acts: object, per_array: bool) -> None:
    ledger = instance("state", state, Ledger, "请给 model_state(...) 这样的账本")
    if any(row.name == ACTIVATIONS for row in ledger):
        raise CourseError(f"state 里已有「{ACTIVATIONS}」，会重复计入", remedy="激活请只由 acts 给出")
    if not is_a(acts, SavedActivations, TransformerActivations):
        raise CourseError("acts 必须是激活", got=acts, remedy="请用 SavedActivations(...) 写明每层留几个数组")
    if per_array and not isinstance(acts, SavedActivations):
        raise CourseError("这种 acts 不分数组", got=acts, remedy="请用 per_array=False，每层画一个对象")


def _check_size(rows: int, repeats: int, others: int) -> None:
    if rows * repeats > LARGEST_OBJECTS or rows + others >= LARGEST_LANES:  # one lane is the file's
        raise CourseError(
            f"要画 {rows} 条、每条 {repeats} 个对象，超出本课程能算的规模",
            remedy=f"请让对象不超过 {LARGEST_OBJECTS:,} 个，条数不超过 {LARGEST_LANES:,}",
        )


def _activation_rows(acts: SavedActivations | TransformerActivations, per_array: bool) -> int:
    if not acts.layer_bytes:
        return 0
    return acts.arrays if per_array and isinstance(acts, SavedActivations) else acts.layers


def _activation_block(acts: SavedActivations | TransformerActivations, rows: int, phases: Phases) -> _Block:
    forward, _ = phases.of(PhaseKind.FORWARD)
    per_layer = rows // acts.layers
    layer = np.repeat(np.arange(acts.layers), per_layer)[:, np.newaxis]
    labels = [
        f"第 {index + 1} 层" + (f"第 {array + 1} 个数组" if per_layer > 1 else "")
        for index in range(acts.layers)
        for array in range(per_layer)
    ]
    lanes = tuple(Lane(label, ACTIVATIONS, _WHY_ACTIVATIONS, Lifetime.WITHIN_STEP) for label in labels)
    # Backward visits the layers in reverse: layer i is done 2L − i ticks after the microbatch began.
    ends = forward + 2 * acts.layers - layer
    return _Block(lanes, acts.layer_bytes // max(per_layer, 1), forward + layer, ends)


def _row_block(row: Row, phases: Phases) -> _Block:
    if row.lifetime is Lifetime.WITHIN_STEP:
        starts, ends = phases.of(PhaseKind.FORWARD)[0], phases.of(PhaseKind.BACKWARD)[1]
    else:
        cuts = phases.of(PhaseKind.UPDATE)[1] if row.name in _RESET else np.array([], dtype=np.int64)
        starts, ends = _running(phases, cuts)
    return _block(row, starts, ends)


def _block(row: Row, starts: Ints, ends: Ints) -> _Block:
    lane = Lane(row.name, row.name, row.why, row.lifetime)
    return _Block((lane,), row.total_bytes, starts[np.newaxis], ends[np.newaxis])


def _running(phases: Phases, cuts: Ints) -> tuple[Ints, Ints]:
    """Return the stretches in which the process runs, also divided at ``cuts``."""
    stopped, resumed = phases.of(PhaseKind.STOP)
    edges = np.unique(np.concatenate(([0], cuts, stopped, resumed, phases.ends[-1:])))
    starts, ends = edges[:-1], edges[1:]
    runs = ~np.isin(starts, stopped)
    return starts[runs], ends[runs]


def _file_block(state: Ledger, phases: Phases) -> _Block:
    kept = [row for row in state if row.lifetime is not Lifetime.WITHIN_STEP and row.name not in _RESET]
    _, written = phases.of(PhaseKind.SAVE)
    lane = Lane(SAVED_FILE, SAVED_FILE, _WHY_FILE, Lifetime.ACROSS_STOP, in_memory=False)
    ends = np.full_like(written, phases.ends[-1])
    # A file that is written by the very last tick exists from the end of the drawing on: nothing to draw.
    drawn = written < ends
    total = sum(row.total_bytes for row in kept)
    return _Block((lane,), total, written[drawn][np.newaxis], ends[drawn][np.newaxis])


def _joined(blocks: list[_Block], phases: Phases) -> Timeline:
    if not blocks:
        raise CourseError("没有任何对象可画", remedy="请让 state 至少有一行，或让每层至少留一个数组")
    lanes = tuple(lane for block in blocks for lane in block.lanes)
    sizes = [whole("总字节", block.n_bytes, maximum=LARGEST_TIME) for block in blocks]
    lengths = [block.starts.shape[1] for block in blocks for _ in block.lanes]
    return Timeline(
        lanes,
        np.concatenate([block.starts.ravel() for block in blocks]),
        np.concatenate([block.ends.ravel() for block in blocks]),
        np.repeat(sizes, [block.starts.size for block in blocks]),
        np.repeat(np.arange(len(lanes)), lengths),
        phases,
    )
