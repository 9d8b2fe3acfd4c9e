"""Every number of the chapter, typed from the chapter, against the calls of its notebooks."""

from decimal import Decimal
from fractions import Fraction

import pytest

from course_lib.accumulation import Arrangement, Contribution, equal_weight_mean, total
from course_lib.activations import SavedActivations
from course_lib.collectives import step_seconds, transfer_seconds
from course_lib.ledger import model_state
from course_lib.lifetimes import training_timeline
from course_lib.loss_scaling import StaticScale
from course_lib.plan import Job, plan
from course_lib.precision import decimal_copies
from course_lib.recompute import keep_arrays, rebuild, tradeoff
from course_lib.sharding import ZERO_1, ZERO_2, ZERO_3, resident
from course_lib.units import MB, format_bytes

STATE = model_state(1_000_000, weights=2, grads=2, master=4, moments=(4, 4))
ACTS = SavedActivations(
    sequences=2, positions=128, width=64, layers=4, arrays_per_layer=10, bytes_per_value=2
)
MEAN = Contribution.from_mean


def test_27_1_two_million_bytes_of_weights_on_a_ten_million_byte_device():
    weights = STATE["工作权重"].total_bytes
    assert (weights, 10 * MB - weights) == (2_000_000, 8_000_000)
    assert STATE.total_bytes > 10 * MB


def test_27_2_example_27_1():
    assert [row.total_bytes for row in STATE] == [2_000_000, 2_000_000, 4_000_000, 8_000_000]
    assert [row.bytes_per_value for row in STATE] == [2, 2, 4, 8]
    assert STATE.total_bytes == 16_000_000
    assert STATE["主权重副本"].bytes_per_value + STATE["一阶矩与二阶矩"].bytes_per_value == 12
    assert (ACTS.array_bytes, ACTS.arrays, ACTS.total_bytes) == (32_768, 40, 1_310_720)
    assert "1.25 MiB" in format_bytes(ACTS.total_bytes)
    need = STATE + ACTS.ledger()
    assert (need.total_bytes, need.with_headroom(percent=25)) == (17_310_720, 21_638_400)


def test_27_2_figure_27_1():
    kept = keep_arrays(ACTS, arrays_per_layer=4)
    assert (ACTS.arrays, kept.arrays, kept.total_bytes) == (40, 16, 524_288)
    assert training_timeline(state=STATE, acts=ACTS).peak().total_bytes == 17_310_720
    shared = resident(STATE, workers=4, sharded=ZERO_1)
    assert training_timeline(state=shared, acts=kept).peak().total_bytes == 7_524_288


def test_27_3_decimal_analogy():
    copies = decimal_copies(start=Decimal("1.00"), subtract=Decimal("0.003"), steps=2)
    assert copies.direct[1:] == (Decimal("1.00"), Decimal("1.00"))
    assert copies.master[1:] == (Decimal("0.997"), Decimal("0.994"))
    assert copies.working[1:] == (Decimal("1.00"), Decimal("0.99"))


def test_27_3_loss_scale_of_1024():
    scale = StaticScale(1024)
    scaled = scale.scale([0.000001])
    assert scaled.tolist() == pytest.approx([0.001024], rel=1e-15)
    assert scale.unscale(scaled).tolist() == [0.000001]


def test_27_4_example_27_2():
    a, b = MEAN(n_events=2, mean_grad=1), MEAN(n_events=6, mean_grad=3)
    assert (a.grad_sum, b.grad_sum) == (2, 18)
    assert ((a + b).n_events, (a + b).grad_sum, (a + b).mean_grad) == (8, Fraction(20), Fraction(5, 2))
    assert equal_weight_mean([a, b]) == 2


def test_27_4_eight_sequences_two_ways():
    alone = Arrangement(workers=1, microbatch=2, accumulation=4)
    pair = Arrangement(workers=2, microbatch=2, accumulation=2)
    assert alone.sequences_per_update == pair.sequences_per_update == 8


def test_27_5_example_27_3():
    z1, z2, z3 = (resident(STATE, workers=4, sharded=stage) for stage in (ZERO_1, ZERO_2, ZERO_3))
    assert (z1.total_bytes, z2.total_bytes, z3.total_bytes) == (7_000_000, 5_500_000, 4_000_000)
    assert z1["主权重副本"].total_bytes + z1["一阶矩与二阶矩"].total_bytes == 3_000_000
    assert (z1 + ACTS.ledger()).total_bytes == 8_310_720


def test_27_5_transfer():
    transfer = transfer_seconds(1_000_000, bytes_per_second=100_000_000)
    assert transfer == Fraction(1, 100)
    assert step_seconds(compute=Fraction(2, 1000), transfer=transfer) == Fraction(12, 1000)
    assert step_seconds(compute=Fraction(2, 1000), transfer=transfer, overlap=1) == Fraction(10, 1000)


def test_27_6_recompute_leaves_the_model_state():
    kept = STATE + keep_arrays(ACTS, arrays_per_layer=4).ledger()
    assert kept.total_bytes == 16_524_288
    assert kept.rows[:4] == STATE.rows


def test_27_7_the_plan_that_fits_ten_million_bytes():
    job = Job(state=STATE, acts=ACTS, capacity_bytes=10 * MB, tokens_per_update=1024)
    knobs = {"workers": 4, "microbatch": 2, "accumulation": 1, "zero": 1}
    ten, four = (plan(job, arrays_per_layer=kept, **knobs) for kept in (10, 4))
    assert (ten.need_bytes, ten.fits) == (10_388_400, False)
    assert (four.need_bytes, four.fits) == (9_405_360, True)


def test_exercise_1():
    acts = SavedActivations(
        sequences=4, positions=128, width=64, layers=4, arrays_per_layer=10, bytes_per_value=2
    )
    assert (acts.total_bytes, (STATE + acts.ledger()).total_bytes) == (2_621_440, 18_621_440)


def test_exercise_2():
    parts = [MEAN(n_events=3, mean_grad=2), MEAN(n_events=1, mean_grad=-2)]
    assert (total(parts).grad_sum, total(parts).mean_grad, equal_weight_mean(parts)) == (4, 1, 0)


def test_exercise_3():
    left_out = resident(STATE, workers=4, sharded=ZERO_3).omits
    assert {"已保存激活", "临时收集的权重", "通信缓冲区", "内存碎片"} <= set(left_out)


def test_exercise_6_thirty_percent_more_arithmetic_can_still_be_what_fits():
    half = rebuild(ACTS, arrays_per_layer=5)
    result = tradeoff(
        state=STATE, plan=half, capacity_bytes=17 * MB, compute_seconds=1, extra_arithmetic=Fraction(3, 10)
    )
    assert (result.fits_before, result.fits_after) == (False, True)
    assert (result.seconds_before, result.seconds_after) == (1, Fraction(13, 10))
