"""The worked examples step by step: the chapter's numbers, questions that hold, and the way back."""

import base64
import re
import warnings
from fractions import Fraction

import pytest

from course_lib.errors import CourseError
from course_lib.show import walk
from course_lib.show.lettering import word_picture
from course_lib.show.walkthrough import Walkthrough
from course_lib.show.walkthroughs import Question, Step, Walk, all_walks

NAMES = tuple(all_walks())
# What the chapter prints: name → (step, what its formula ends in, or holds).
PRINTED = {
    "27.1": {
        1: "= 2,000,000 字节", 2: "= 2,000,000 字节", 3: "= 4,000,000 字节", 4: "(4 + 4) = 8,000,000 字节",
        5: "1,000,000 × 16 = 16,000,000 字节", 6: "2 × 128 × 64 × 2 = 32,768 字节",
        7: "10 个 × 32,768 = 1,310,720 字节", 8: "16,000,000 + 1,310,720 = 17,310,720 字节",
        9: "17,310,720 × 1.25 = 21,638,400 字节", 10: "注意力分数",
    },
    "decimal": {
        1: "1.00", 2: "1.00 − 0.003 = 0.997 → 1.00", 3: "1.00 − 0.003 = 0.997 → 1.00",
        4: "1.000 − 0.003 = 0.997", 5: "0.997 − 0.003 = 0.994", 6: "0.994 → 0.99",
    },
    "loss-scaling": {
        1: "0.000001", 2: "0.000001 × 1,024 = 0.001024", 3: "0.001024 ÷ 1,024 = 0.000001",
        4: "0.00000002 → 0", 5: "÷ 1,024 = 约 0.00000002", 6: "0 × 1,024 = 0",
        7: "2 × 32,768 = 65,536 > 65,504",
    },
    "27.2": {
        1: "2 × 1 = 2", 2: "6 × 3 = 18", 3: "2 + 6 = 8 个事件", 4: "2 + 18 = 20", 5: "(2 + 18) ÷ 8 = 2.5",
        6: "(1 + 3) ÷ 2 = 2", 7: "20 ÷ 8 = 2.5",
    },
    "27.3": {
        1: "1,000,000 × 16 = 16,000,000 字节", 2: "12,000,000 ÷ 4 = 3,000,000 字节",
        3: "2,000,000 + 2,000,000 + 3,000,000 = 7,000,000 字节",
        4: "7,000,000 + 1,310,720 = 8,310,720 字节", 5: "2,000,000 + 14,000,000 ÷ 4 = 5,500,000 字节",
        6: "16,000,000 ÷ 4 = 4,000,000 字节", 7: "临时收集的权重",
    },
    "transfer": {
        1: "2 毫秒", 2: "1,000,000 ÷ 100,000,000 = 0.01 秒 = 10 毫秒", 3: "2 + 10 = 12 毫秒", 4: "= 10 毫秒",
        5: "2 ÷ 12 = 1/6",
    },
    "recompute": {
        1: "4 × 10 × 32,768 = 1,310,720 字节", 2: "4 × 4 × 32,768 = 524,288 字节",
        3: "1,310,720 − 524,288 = 786,432 字节", 4: "6 ÷ 10 = 3/5 遍前向",
        5: "524,288 + 6 × 32,768 = 720,896 字节", 6: "16,000,000 − 16,000,000 = 0 字节",
    },
    "recovery": {
        1: "2,000,000 字节", 2: "2,000,000 + 4,000,000 + 8,000,000 = 14,000,000 字节", 3: "整数", 4: "接着抽",
        5: "tokenizer", 6: "4 片", 7: "保存、重载、继续",
    },
}  # fmt: skip
ANSWERS = {
    "27.1": {4: "放不下", 7: 1_310_720, 9: 21_638_400, 10: "不能"},
    "decimal": {2: 1, 6: Fraction(99, 100)},
    "loss-scaling": {2: Fraction(1024, 10**6), 4: "归零", 6: "救不回", 7: "变成无穷"},
    "27.2": {5: Fraction(5, 2), 6: "微批次甲", 7: "不是"},
    "27.3": {3: 7_000_000, 4: "放得下", 5: 5_500_000, 7: "不是"},
    "transfer": {2: 10, 3: 12, 4: "10 毫秒"},
    "recompute": {2: 524_288, 4: "不会", 5: "不是", 6: "一点不少"},
    "recovery": {2: 14_000_000, 4: "不是", 6: "不能"},
}


@pytest.fixture(scope="module", params=NAMES)
def player(request):
    return walk(request.param)


def all_steps(player):
    return range(1, len(player.walk.steps) + 1)


def shown(player):
    return player.text, player.words.value, player.ledger.value, player.image.value


def enabled_to(player):
    """Go as far as the buttons lead."""
    for _ in all_steps(player):
        player.buttons[1].click()
    return player.step


@pytest.mark.parametrize("name", PRINTED)
def test_steps_hold_the_chapters_numbers(name):
    steps = all_walks()[name]().steps
    assert len(steps) == len(PRINTED[name])
    for number, words in PRINTED[name].items():
        assert words in steps[number - 1].formula, steps[number - 1].formula


@pytest.mark.parametrize("name", ANSWERS)
def test_questions_have_the_chapters_answers(name):
    steps = enumerate(all_walks()[name]().steps, start=1)
    assert {n: step.ask.answer for n, step in steps if step.ask} == ANSWERS[name]


def test_every_walk_has_typed_expectations():
    assert set(PRINTED) == set(ANSWERS) == set(NAMES)


def test_forth_and_back_shows_the_same_bytes(player):
    there = {}
    word_picture.cache_clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a missing glyph is a warning
        for step in all_steps(player):
            player.go(step)
            there[step] = shown(player)
    assert len(set(there.values())) == len(there), "two steps look the same"
    for step in reversed(all_steps(player)):
        player.go(step)
        assert shown(player) == there[step]
        assert player.stage.redraw_all() == there[step][-1]
    fresh = Walkthrough(player.walk, step=len(player.walk.steps))
    assert shown(fresh) == there[len(player.walk.steps)]


def test_handle_and_step_are_one(player):
    player.go(len(player.walk.steps))
    for step in all_steps(player):
        player.slider.value = step
        assert player.step == step
    for step in all_steps(player):
        player.go(step)
        assert player.slider.value == step


def test_questions_hold_the_next_step_until_committed(player):
    fresh = Walkthrough(player.walk)
    for number, step in enumerate(player.walk.steps, start=1):
        if step.ask is None:
            continue
        assert enabled_to(fresh) == number - 1
        fresh.slider.value = len(player.walk.steps)
        assert (fresh.step, fresh.slider.value) == (number - 1, number - 1)
        assert fresh.pending and fresh.question.choices[-1].description == "直接看"
        fresh.commit(step.ask.answer)
        assert fresh.step == number
        assert fresh.question.said.endswith(("对。", "正好。"))
    assert enabled_to(fresh) == len(player.walk.steps)
    fresh.go(1)
    assert enabled_to(fresh) == len(player.walk.steps), "what was opened stays open"


def test_the_teacher_may_skip_every_question(player):
    fresh = Walkthrough(player.walk)
    for _ in player.walk.steps:
        if enabled_to(fresh) < len(player.walk.steps):
            fresh.question.choices[-1].click()
    assert fresh.step == len(player.walk.steps)


def test_a_lecture_resumes_at_a_step(player):
    for step in all_steps(player):
        resumed = Walkthrough(player.walk, step=step)
        player.go(step)
        assert shown(resumed) == shown(player)


def test_stored_form_is_the_last_step_and_leaves_the_live_one(player):
    player.go(1)
    before = shown(player)
    bundle, metadata = player._repr_mimebundle_()
    assert shown(player) == before
    assert {"application/vnd.jupyter.widget-view+json", "image/png", "text/plain"} <= set(bundle)
    assert base64.b64decode(bundle["image/png"])[:4] == b"\x89PNG" and metadata["image/png"]["width"] > 600
    assert all(step.text in bundle["text/plain"] for step in player.walk.steps)
    assert len(bundle["image/png"]) < 150_000
    assert player._repr_mimebundle_()[0]["image/png"] == bundle["image/png"]


def test_words_fit_a_slide(player):
    """A Chinese character is 24 pixels wide, another at most 15: the formula is one line of a slide."""
    for step in player.walk.steps:
        width = sum(24 if ord(char) > 0x2E80 else 15 for char in f"{step.name}　{step.formula}")
        assert width <= 1100, step.name
        assert len(step.says) <= 100 and step.says.endswith("。"), step.name
        assert re.search(r"[一-鿿]", step.name)


@pytest.mark.parametrize("bad", [0, 11, -1, 2.0, True, "3", None])
def test_bad_step_is_explained(bad):
    with pytest.raises(CourseError, match=r"step .*；收到 .*。请给 1 到 10 之间的整数"):
        walk("27.1", step=bad)
    player = walk("27.1", step=2)
    with pytest.raises(CourseError, match="step"):
        player.go(bad)
    assert player.step == 2


@pytest.mark.parametrize("bad", ["27.9", 27.1, None])
def test_unknown_example_is_explained(bad):
    with pytest.raises(CourseError, match=r"可选：27\.1"):
        walk(bad)


@pytest.mark.parametrize("typed", ["", "很多", "--"])
def test_an_answer_that_is_no_number_is_explained(typed):
    player = walk("27.1", step=6)
    player.commit(typed)
    assert player.step == 6 and "读不懂" in player.question.error


@pytest.mark.parametrize("typed", ["1310720", "1,310,720", "1.25 MiB", "１３１０７２０"])
def test_a_number_may_be_written_as_people_write(typed):
    player = walk("27.1", step=6)
    player.commit(typed)
    assert player.step == 7 and player.question.said == "你猜 1,310,720 字节，正好。"


def test_a_wrong_choice_is_set_right_and_opens_the_step():
    player = walk("27.1", step=3)
    player.question.choices[0].click()
    assert player.step == 4 and player.question.said == "选的是「放得下」：其实是「放不下」。"
    player.back()
    player.forward()
    assert "放得下" in player.question.said, "the answer is still there"


def test_an_answer_that_is_no_option_is_refused_when_the_walk_is_written():
    with pytest.raises(CourseError, match="answer"):
        Question("几个？", "丙", options=("甲", "乙"))
    assert Walk("题", ("列",), (Step("一", "1", "一。", (), ()),), lambda stage: None).ledger(1).rows == ()
