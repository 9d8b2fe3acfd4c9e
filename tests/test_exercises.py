"""Every exercise on untouched, right and each listed wrong answer; numbers typed from chapter and papers."""

import re
from fractions import Fraction

import pytest

from course_lib.errors import CourseError
from course_lib.exercises import BOOK, EXERCISES, FURTHER, Verdict, check, judge
from course_lib.exercises.exercise import tells_apart

# The chapter's solutions (27.9); for the further ones published figures or hand arithmetic.
RIGHT = {
    "1": {"activation_bytes": 2_621_440, "total_bytes": 18_621_440},
    "2": {"mean_grad": 1, "equal_weight_error": "B"},
    "3": {"missing_items": ["已保存激活", "临时收集的权重", "通信缓冲区"]},
    "4": {
        "immediate_after_1": "1.00", "immediate_after_2": "1.00", "master_after_1": "0.997",
        "master_after_2": "0.994", "working_after_2": "0.99",
    },
    "5": {"supported": ["A", "D"], "not_supported": ["B", "C", "E", "F"]},
    "6": {
        "fits_before": False, "fits_after": True, "seconds_before": 0.25, "seconds_after": 0.31,
        "can_say_faster": False,
    },
    "27.1-a": {"gpt2_file_bytes": 248_951_808, "gpt2_state_bytes": 1_991_614_464},
    "27.1-b": {"llama_short_bytes": 104_480_000_000, "llama_devices": 6},
    "27.2-a": {"gpt3_state_bytes": 3_150_000_000_000, "gpt3_extra_bytes": 350_000_000_000},
    "27.2-b": {"gpt2_array_bytes": 104_857_600, "gpt2_acts_bytes": 60_397_977_600},
    "27.3-a": {"least_scale": 8, "largest_scale": 4096},
    "27.3-b": {"steps_with_master": 5, "moves_without_master": False},
    "27.4-a": {"gpt2_events": 2048, "gpt2_mean_grad": 3.5},
    "27.4-b": {"accumulation_rounds": 6, "sequences_at_once": 4, "tokens_per_update": 3_145_728},
    "27.5-a": {"zero1_bytes": 31_406_250_000, "zero3_bytes": 1_875_000_000},
    "27.5-b": {"bubble_of_ideal": 0.21875, "bubble_of_total": 7 / 39},
    "27.6-a": {"kept_bytes": 10_066_329_600, "rebuild_peak_bytes": 11_114_905_600},
    "27.6-b": {
        "recovery_bytes": 1_742_662_656, "also_saved": ["完成步数", "数据游标", "数据与 tokenizer 的版本"],
    },
}  # fmt: skip

# Wrong answers typed by hand: exercise, answers, criterion, misconception, its first hint.
WRONG = [
    ("1", {"activation_bytes": 1_310_720}, "微批次没有变", "再读一遍题目：哪个量变了，变成了几？"),
    ("1", {"activation_bytes": 655_360}, "只算了一层",
     "从第一层走到最后一层，前向留下的东西都要等到反向才用完。"),
    ("1", {"activation_bytes": "2.5 MB"}, "把 MiB 当成了 MB",
     "两种「兆」差百分之几，查一查你换算时用的是哪一种。"),
    ("1", {"activation_bytes": 262_144}, "每层只算了一个数组", "一层里同样形状的数组不止一个。"),
    ("1", {"total_bytes": 23_276_800}, "加了余量", "题目问的是加余量之前。"),
    ("1", {"total_bytes": 34_621_440}, "状态也跟着放大了", "序列变多，参数的个数变了吗？"),
    ("1", {"total_bytes": 17_310_720}, "用了改变以前的激活", "合计里的激活，是哪一个微批次的？"),
    ("1", {"total_bytes": 2_621_440}, "没有加模型状态", "除了激活，内存里还一直放着什么？"),
    ("2", {"mean_grad": 0}, "等权平均", "两个微批次里，事件一样多吗？"),
    ("2", {"mean_grad": 4}, "总和没有再除", "你算的是总和；题目要的是平均。"),
    ("2", {"mean_grad": 2}, "总和除以了微批次数", "分子对了，看看分母。"),
    ("2", {"mean_grad": -1}, "权重用反了", "每份均值该乘哪个事件数？"),
    ("2", {"equal_weight_error": "a"}, "以为要先取正", "负的梯度是正当的方向，不用改。"),
    ("2", {"equal_weight_error": "C"}, "以为异号不能合并", "方向相反的两份证据，本来就该互相抵消一部分。"),
    ("2", {"equal_weight_error": "D"}, "以为该数序列", "一个序列里，有的位置被 Mask 排除，有的没有。"),
    ("3", {"missing_items": ["梯度", "主权重副本", "工作权重"]}, "把已经算进去的又报一次",
     "先想一想：分给各进程的「全部模型状态」包括哪几样？"),
    ("3", {"missing_items": ["内存碎片", "临时工作区", "另外三个进程的份额"]}, "把别的进程的份额算进来",
     "问的是这一个进程的内存。"),
    ("3", {"missing_items": ["内存碎片", "临时工作区"]}, "写少了", "题目要三样，还不够。"),
    ("4", {"immediate_after_1": "0.997"}, "没有舍入", "这份权重能存几位小数？"),
    ("4", {"immediate_after_1": "0.99"}, "当成截断", "舍入是找最近的，不是把后面的砍掉。"),
    ("4", {"immediate_after_1": 0.9970703125}, "用了二进制 FP16",
     "这是十进制的类比，不用 FP16 的二进制规则。"),
    ("4", {"immediate_after_2": 0.99}, "到最后才舍入一次", "第二次从哪一个数开始减？"),
    ("4", {"immediate_after_2": 0.98}, "当成截断", "舍入是找最近的，不是把后面的砍掉。"),
    ("4", {"master_after_1": 1}, "主副本也舍入成两位", "主副本存几位小数？"),
    ("4", {"master_after_2": 0.99}, "写成了工作副本的值", "舍入是为了给计算使用，主副本自己变不变？"),
    ("4", {"master_after_2": 0.997}, "从舍入后的数接着减", "第二次从哪一个数开始减？"),
    ("4", {"working_after_2": 0.994}, "没有舍入", "工作副本能存几位小数？"),
    ("4", {"working_after_2": 1}, "以为还是没有动", "工作副本从谁舍入得来？"),
    ("6", {"fits_before": True, "fits_after": True}, "只数了激活", "设备里除了激活，还一直放着什么？"),
    ("6", {"seconds_before": 0.2}, "漏了传输", "一次迭代只有算术吗？"),
    ("6", {"seconds_after": 0.325}, "连传输也一起加了", "多出来的百分数，是加在哪一段上的？"),
    ("6", {"seconds_after": 0.26}, "漏了传输", "算术变长了，传输还在不在？"),
    ("6", {"seconds_after": "250 ms"}, "以为时间不变", "重建那些值，要不要再算一遍？"),
    ("6", {"can_say_faster": True}, "放得下就当作更快", "比一比你写的两个秒数。"),
    ("27.5-a", {"zero1_bytes": 1_406_250_000}, "只算了分片的那一部分", "没有分片的那几样，放在哪里？"),
    ("27.2-a", {"gpt3_state_bytes": 2_800_000_000_000}, "梯度仍按 2 字节", "哪一行的字节数变了？"),
    ("27.6-a", {"rebuild_peak_bytes": 10_066_329_600}, "漏了正在重建的一层",
     "反向要用到缺的数组，它们补到哪里去？"),
]  # fmt: skip

MISTAKES = [
    pytest.param(exercise, criterion, mistake, id=f"{exercise.id}-{criterion.name}-{mistake.name}")
    for exercise in EXERCISES.values()
    for criterion in exercise.criteria
    for mistake in criterion.misconceptions
]
every_exercise = pytest.mark.parametrize("exercise", EXERCISES.values(), ids=list(EXERCISES))


def test_the_six_and_two_of_every_section():
    letters = [f"27.{section}-{letter}" for section in range(1, 7) for letter in "ab"]
    assert list(EXERCISES) == [*"123456", *letters]
    assert [exercise.id for exercise in (*BOOK, *FURTHER)] == list(EXERCISES)


@every_exercise
def test_untouched_is_unanswered(exercise):
    for answers in ({}, dict.fromkeys(exercise.answers), dict.fromkeys(exercise.answers, "……")):
        result = check(exercise.id, **answers)
        assert {outcome.verdict for outcome in result.criteria} == {Verdict.UNANSWERED}
        assert (result.points, result.verdict, result.max_points) == (
            0,
            Verdict.UNANSWERED,
            exercise.max_points,
        )
        assert not any(outcome.hints for outcome in result.criteria)


@every_exercise
def test_right_is_full_marks_and_solve_agrees(exercise):
    for answers in (RIGHT[exercise.id], exercise.solve(exercise.parameters)):
        result = check(exercise.id, **answers)
        assert [outcome.verdict for outcome in result.criteria] == [Verdict.PASS] * len(result.criteria)
        assert result.points == result.max_points == exercise.max_points
        assert not any(outcome.hints or outcome.misconception for outcome in result.criteria)


@pytest.mark.parametrize(("id", "answers", "name", "hint"), WRONG)
def test_typed_wrong_answer_gets_its_feedback(id, answers, name, hint):
    result = check(id, **RIGHT[id] | answers)
    (outcome,) = [outcome for outcome in result.criteria if outcome.verdict is not Verdict.PASS]
    assert (outcome.misconception, outcome.hints[0]) == (name, hint)
    assert outcome.verdict is (Verdict.PARTIAL if outcome.points else Verdict.FAIL)
    assert result.points == result.max_points - outcome.max_points + outcome.points


@pytest.mark.parametrize(("exercise", "criterion", "mistake"), MISTAKES)
def test_every_misconception_is_named_with_its_hints(exercise, criterion, mistake):
    """The wrong answer of each misconception loses points on its criterion, which names it."""
    answers = {**RIGHT[exercise.id], **mistake.wrong(exercise.parameters)}
    outcome = next(o for o in judge(exercise, answers=answers).criteria if o.name == criterion.name)
    assert outcome.verdict in (Verdict.FAIL, Verdict.PARTIAL)
    assert outcome.points < outcome.max_points
    assert (outcome.misconception, outcome.hints) == (mistake.name, mistake.hints)


@every_exercise
def test_definitions_are_complete(exercise):
    assert sum(len(criterion.misconceptions) for criterion in exercise.criteria) >= 3
    assert {name for criterion in exercise.criteria for name in criterion.answers} == set(exercise.answers)
    assert tells_apart(exercise, exercise.parameters)
    assert exercise.reason.endswith("？")
    assert len(exercise.rubric) >= 2
    for criterion in exercise.criteria:
        for hints in (criterion.hints, *(mistake.hints for mistake in criterion.misconceptions)):
            assert len(hints) >= 2
            assert all(re.fullmatch(r".*[。？]", hint) for hint in hints), hints


@every_exercise
def test_hints_do_not_give_the_answer(exercise):
    """No hint has a right number of two or more digits, nor a right name of the pool."""
    solved = [
        v for value in exercise.solve().values() for v in (value if isinstance(value, list) else [value])
    ]
    numbers = {re.sub(r"\D", "", str(value)) for value in solved if not isinstance(value, bool)}
    names = {value for value in solved if isinstance(value, str) and len(value) > 1}
    for criterion in exercise.criteria:
        for hints in (criterion.hints, *(mistake.hints for mistake in criterion.misconceptions)):
            for hint in hints:
                assert not {found.replace(",", "") for found in re.findall(r"[\d,]{2,}", hint)} & numbers, (
                    hint
                )
                assert not [name for name in names if name in hint], hint


@every_exercise
def test_solution_code_computes_the_answers(exercise):
    scope = {}
    for source in exercise.code(exercise.parameters).values():
        exec(source, scope)
    assert check(exercise.id, **{name: scope[name] for name in exercise.answers}).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("items", "points", "verdict"),
    [
        (["临时工作区", "内存碎片", "分片前的整层梯度"], 3, Verdict.PASS),
        ("通信缓冲区、 已保存激活，临时收集的权重", 3, Verdict.PASS),
        ({"已保存激活", "内存碎片", "临时工作区", "通信缓冲区"}, 3, Verdict.PASS),
        (["已保存激活", "内存碎片", "梯度"], 1, Verdict.PARTIAL),
        (["已保存激活", "已保存激活", "内存碎片"], 2, Verdict.PARTIAL),
        (["已保存激活", "梯度", "另外三个进程的份额"], 0, Verdict.FAIL),
        (["GPU", "硬盘", "网线"], 0, Verdict.FAIL),
        ([], 0, Verdict.FAIL),
        (EXERCISES["3"].parameters["pool"], 0, Verdict.FAIL),
    ],
)
def test_any_valid_three_are_right_and_others_count_in_part(items, points, verdict):
    (outcome,) = check("3", missing_items=items).criteria
    assert (outcome.points, outcome.verdict) == (points, verdict)


def test_claims_are_judged_in_three_groups_and_in_both_piles():
    right = check("5", supported="AD", not_supported="B, C, E, F")
    assert right.verdict is Verdict.PASS
    everything = check("5", supported="ABCDEF", not_supported="ABCDEF")
    assert [outcome.verdict for outcome in everything.criteria] == [Verdict.FAIL] * 3
    one = check("5", supported=["A", "D", "B"], not_supported=["C", "E", "F"])
    assert [outcome.points for outcome in one.criteria] == [2, 1, 2]
    assert one.criteria[1].misconception == "数据没变，次序就没变"
    half = check("5", supported=["A", "D"])
    assert [outcome.hints for outcome in half.criteria] == [("还差 not_supported。",)] * 3


def test_one_of_two_answers_is_not_an_answer():
    outcome = check("6", fits_before=False).criteria[0]
    assert (outcome.verdict, outcome.hints) == (Verdict.UNANSWERED, ("还差 fits_after。",))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: check(1), "没有这道习题"),
        (lambda: check("7"), "可选：1、2"),
        (lambda: check("1", activation=1), "要填的是 activation_bytes、total_bytes"),
        (lambda: check("1", parameters={}), "不是习题 1 的题设"),
        (lambda: check("1", parameters={**EXERCISES["1"].parameters, "layers": True}), "题设"),
        (lambda: check("1", parameters={**EXERCISES["1"].parameters, "layers": -1}), "layers 超出范围"),
    ],
)
def test_a_slip_in_the_call_is_a_sentence(call, sentence):
    with pytest.raises(CourseError, match=re.escape(sentence)):
        call()


def test_verdicts_are_the_fixed_words():
    assert [verdict.value for verdict in Verdict] == [
        "pass", "partial", "fail", "unanswered", "missing", "error", "timeout", "after-timeout", "died",
        "output-limit", "invalid",
    ]  # fmt: skip
    assert all(re.search("[一-鿿]", verdict.label) for verdict in Verdict)


def test_points_print_short():
    result = check("2", mean_grad=Fraction(1))
    assert (repr(result.points), result.max_points) == ("2", 3)
