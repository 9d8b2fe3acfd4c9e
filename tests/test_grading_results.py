"""What is made of records: tables, the sheet for people, pages. Expected values are typed by hand."""

import codecs
import csv
import io
import json
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser

import pytest

from course_lib.errors import CourseError
from course_lib.exercises import BOOK, Verdict
from course_lib.grading.class_page import class_page
from course_lib.grading.feedback_page import feedback_page
from course_lib.grading.gradebook import Gradebook, short
from course_lib.grading.manual import merge_manual
from course_lib.grading.page import page_names
from course_lib.grading.records import BUBBLEWRAP, PROCESS, CriterionMark, ExerciseMark, Record
from course_lib.grading.spreadsheets import harmless, read_rows, unquoted
from course_lib.grading.tables import canvas_csv, grades_csv, grades_json, moodle_csv
from course_lib.show.class_pictures import mistakes_picture, points_picture
from course_lib.show.spreads import Spread

FORMULA = '=HYPERLINK("http://x")'
LONG_ID = "20230001234567891"
ONE, TWO = BOOK[:2]
TAGS = "<script>alert(1)</script>"


def pass_two():
    return ExerciseMark(
        "2",
        Verdict.PARTIAL,
        (
            CriterionMark("合并后的平均梯度", Verdict.PASS, Fraction(2), 2),
            CriterionMark(
                "等权平均错在哪里",
                Verdict.FAIL,
                Fraction(0),
                1,
                "以为该数序列",
                ("一个序列里，有的位置被 Mask 排除。", "分母就数对损失有贡献的单位。"),
            ),
        ),
    )


def one(points, verdict, said=""):
    return ExerciseMark(
        "1",
        verdict,
        (
            CriterionMark("激活的字节数", verdict, Fraction(points), 2),
            CriterionMark("加余量前的合计", Verdict.UNANSWERED, Fraction(0), 2),
        ),
        said,
    )


HONEST = Record(
    LONG_ID,
    "20230001234567891.ipynb",
    BUBBLEWRAP,
    (one("1/3", Verdict.PARTIAL), pass_two()),
    (("1", "激活随序列数翻倍。"), ("2", FORMULA)),
)
HOSTILE = Record(
    "0429",
    f"0429 {TAGS}.ipynb",
    BUBBLEWRAP,
    (one(0, Verdict.ERROR, f"NameError: {TAGS}"), pass_two()),
    (("1", f'{TAGS}"引号"，\r\n第二行\x00'),),
    ("习题 1 的作答格有不止一个，只看第一个。",),
)
UNREADABLE = Record(
    "0500",
    "0500.ipynb",
    BUBBLEWRAP,
    tuple(
        ExerciseMark(
            exercise.id,
            Verdict.INVALID,
            tuple(CriterionMark(c.name, Verdict.INVALID, Fraction(0), c.points) for c in exercise.criteria),
        )
        for exercise in (ONE, TWO)
    ),
    problem="文件不是完整的 JSON。请让这名学生重新保存并再交一次。",
)
NAMES = {"0429": "欧阳,娜娜", LONG_ID: FORMULA, "0500": "王<b>五</b>", "0777": "没交"}
CLASS = Gradebook((ONE, TWO), (HONEST, UNREADABLE, HOSTILE), NAMES)


def rows_of(content):
    assert content.startswith(codecs.BOM_UTF8)
    text = content.decode("utf-8-sig")
    assert text.count("\n") >= text.count("\r\n") > 0
    return list(csv.reader(io.StringIO(text, newline="")))


def test_grades_csv_is_exact_for_scripts_and_right_in_excel():
    assert grades_csv(CLASS) == (
        b"\xef\xbb\xbf"
        b"student,1,2,total\r\n"
        b"0429,0,2,2\r\n"
        b"0500,0,0,0\r\n"
        b"0777,,,0\r\n"
        b"20230001234567891,0.33,2,2.33\r\n"
    )


def test_grades_json_has_what_scripts_count_on():
    content = grades_json(CLASS)
    assert content.endswith(b"]\n")
    assert "激活的字节数".encode() in content
    found = json.loads(content)
    assert [entry["student"] for entry in found] == ["0429", "0500", LONG_ID]
    assert found[2] == {
        "student": "20230001234567891",
        "file": "20230001234567891.ipynb",
        "total": 2.33,
        "max": 7,
        "sandbox": "bubblewrap",
        "exercises": [
            {
                "id": "1",
                "points": 0.33,
                "max": 4,
                "verdict": "partial",
                "criteria": [
                    {
                        "name": "激活的字节数",
                        "verdict": "partial",
                        "points": 0.33,
                        "max": 2,
                        "misconception": "",
                    },
                    {
                        "name": "加余量前的合计",
                        "verdict": "unanswered",
                        "points": 0,
                        "max": 2,
                        "misconception": "",
                    },
                ],
            },
            {
                "id": "2",
                "points": 2,
                "max": 3,
                "verdict": "partial",
                "criteria": [
                    {
                        "name": "合并后的平均梯度",
                        "verdict": "pass",
                        "points": 2,
                        "max": 2,
                        "misconception": "",
                    },
                    {
                        "name": "等权平均错在哪里",
                        "verdict": "fail",
                        "points": 0,
                        "max": 1,
                        "misconception": "以为该数序列",
                    },
                ],
            },
        ],
        "manual": {},
    }


def test_points_given_by_people_stand_apart_and_count_for_all():
    book = replace(CLASS, manual={"0429": {"1": Fraction(7, 2)}})
    assert grades_csv(book).splitlines()[1:] == [
        b"0429,3.5,2,5.5",
        b"0500,0,0,0",
        b"0777,,,0",
        b"20230001234567891,0.33,2,2.33",
    ]
    found = json.loads(grades_json(book))
    assert [(e["total"], e["max"], e["manual"]) for e in found] == [
        (5.5, 10, {"1": 3.5}),
        (0, 10, {}),
        (2.33, 10, {}),
    ]
    assert found[0]["exercises"][0]["points"] == 0
    assert canvas_csv(book).splitlines()[1] == b"    Points Possible,,,,,10"


def test_moodle_gets_an_id_and_points():
    assert moodle_csv(CLASS, assignment="作业 3").decode("utf-8-sig") == (
        "ID number,作业 3\r\n0429,2\r\n0500,0\r\n0777,\r\n20230001234567891,2.33\r\n"
    )


def test_canvas_gets_its_columns_and_the_points_possible():
    assert canvas_csv(CLASS).decode("utf-8-sig") == (
        "Student,ID,SIS User ID,SIS Login ID,Section,第 27 章习题\r\n"
        "    Points Possible,,,,,7\r\n"
        '"欧阳,娜娜",,0429,0429,,2\r\n'
        "王<b>五</b>,,0500,0500,,0\r\n"
        "没交,,0777,0777,,\r\n"
        '"\'=HYPERLINK(""http://x"")",,20230001234567891,20230001234567891,,2.33\r\n'
    )


def test_what_fits_nobody_is_in_the_grades_but_not_sent_to_a_system():
    stray = replace(HONEST, student="", file="作业最终版.ipynb")
    book = Gradebook((ONE, TWO), (stray,))
    assert grades_csv(book).splitlines()[1] == b",0.33,2,2.33"
    assert moodle_csv(book).splitlines()[1:] == []
    both = Gradebook((ONE, TWO), (replace(stray, file="0.ipynb"), HOSTILE))
    assert [entry["file"] for entry in json.loads(grades_json(both))] == [HOSTILE.file, "0.ipynb"]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\t=1", "\r1", "\n1", "  =1", "＝1", "－1"])
def test_what_a_spreadsheet_would_run_gets_an_apostrophe(text):
    assert harmless(text) == "'" + text
    assert unquoted("'" + text) == text


@pytest.mark.parametrize("text", ["0429", LONG_ID, "", "欧阳,娜娜", "'quoted'", "3-4"])
def test_other_text_stays_as_it_is(text):
    assert harmless(text) == text
    assert unquoted(text) == text


def test_the_order_of_the_records_changes_nothing():
    turned = replace(CLASS, records=CLASS.records[::-1], names=dict(reversed(NAMES.items())))
    for made in (grades_csv, grades_json, moodle_csv, canvas_csv, lambda book: merge_manual(book).csv()):
        assert made(turned) == made(CLASS)


def test_short_points():
    assert [repr(short(Fraction(n, 6))) for n in (0, 1, 2, 3, 6)] == ["0", "0.17", "0.33", "0.5", "1"]


# manual.csv


def sheet(book=CLASS, before=b""):
    return merge_manual(book, before)


def edited(change, book=CLASS, before=b""):
    """Return the sheet as text after ``change`` was made to its rows, as a spreadsheet saves it."""
    rows = rows_of(sheet(book, before).csv())
    change(rows)
    file = io.StringIO()
    csv.writer(file).writerows(rows)
    return file.getvalue()


def fill(row, column, value):
    def change(rows):
        rows[row][column] = value

    return change


def test_the_sheet_shows_every_text_and_no_points():
    rows = rows_of(sheet().csv())
    assert rows[0] == ["文件", "学号", "姓名", "习题", "理由原文", "得分", "备注", "行标记（请勿改）"]
    assert [row[:7] for row in rows[1:]] == [
        [
            "0429 <script>alert(1)</script>.ipynb",
            "0429",
            "欧阳,娜娜",
            "习题 1　微批次加倍（满分 3）",
            '<script>alert(1)</script>"引号"，\n第二行\ufffd',
            "",
            "",
        ],
        [
            "20230001234567891.ipynb",
            "20230001234567891",
            '\'=HYPERLINK("http://x")',
            "习题 1　微批次加倍（满分 3）",
            "激活随序列数翻倍。",
            "",
            "",
        ],
        [
            "20230001234567891.ipynb",
            "20230001234567891",
            '\'=HYPERLINK("http://x")',
            "习题 2　两个均值怎样合并（满分 3）",
            '\'=HYPERLINK("http://x")',
            "",
            "",
        ],
    ]


def test_a_very_long_text_is_cut_and_says_so():
    book = Gradebook((ONE,), (replace(HONEST, texts=(("1", "字" * 1_000_000),)),))
    text = rows_of(sheet(book).csv())[1][4]
    assert text == "字" * 10_000 + "\n……（原文共 1000000 个字符，这里只有前 10000 个，其余请看作业文件）"


def what_excel_does(rows):
    rows[1][1], rows[2][1] = "429", "2.02301E+16"
    rows[1][5], rows[2][5], rows[3][5] = "2", "１.5", "0"
    rows[1][4] = "改得面目全非"


@pytest.mark.parametrize(
    "saved",
    [
        lambda text: text.encode("gb18030"),
        lambda text: text.encode("gbk", "replace"),
        lambda text: text.encode("utf-8-sig"),
        lambda text: text.encode("utf-8"),
        lambda text: text.encode("utf-16"),
        lambda text: text.replace("\r\n", "\n").encode("utf-8"),
        lambda text: ("sep=,\r\n" + text).encode("utf-8"),
        lambda text: resaved(text, ";").encode("gb18030"),
        lambda text: resaved(text, "\t").encode("utf-16"),
    ],
)
def test_points_are_found_again_whatever_excel_did(saved):
    before = saved(edited(what_excel_does))
    found = sheet(before=before)
    assert found.points == {"0429": {"1": 2}, LONG_ID: {"1": Fraction(3, 2), "2": 0}}
    rows = rows_of(found.csv())
    assert [row[5] for row in rows] == ["得分", "2", "1.5", "0"]
    assert [row[1] for row in rows[1:]] == ["0429", LONG_ID, LONG_ID]
    assert sheet(before=found.csv()).csv() == found.csv()


def resaved(text, separator):
    file = io.StringIO()
    csv.writer(file, delimiter=separator).writerows(csv.reader(io.StringIO(text, newline="")))
    return file.getvalue()


def test_rows_can_be_sorted_and_left_out():
    def change(rows):
        rows[3][5] = "3"
        del rows[1]
        rows[1:] = rows[:0:-1]

    assert sheet(before=edited(change).encode()).points == {LONG_ID: {"2": 3}}


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("两分", "manual.csv 第 3 行「得分」（单元格 F3）不是数；收到 '两分'。"),
        ("nan", "（单元格 F3）不是数"),
        ("NaN", "（单元格 F3）不是数"),
        ("inf", "（单元格 F3）不是数"),
        ("1e9", "（单元格 F3）不是数"),
        ("1/2", "（单元格 F3）不是数"),
        ("1月2日", "（单元格 F3）不是数"),
        ("-1", "（单元格 F3）不能是负数"),
        ("－0.5", "（单元格 F3）不能是负数"),
        ("3.5", "（单元格 F3）超过满分；收到 '3.5'。习题 1 的理由最多 3 分"),
        ("99999", "（单元格 F3）超过满分"),
    ],
)
def test_points_that_are_none_are_refused_with_row_and_cell(cell, said):
    with pytest.raises(CourseError) as caught:
        sheet(before=edited(fill(2, 5, cell)).encode())
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("cell", "points"), [("2", 2), (" 2 ", 2), ("2.0", 2), ("2,5", 2.5), ("'1", 1), ("2分", 2)]
)
def test_points_are_read_as_people_write_them(cell, points):
    assert sheet(before=edited(fill(2, 5, cell)).encode()).points == {LONG_ID: {"1": points}}


def test_a_lost_mark_and_a_lost_head_get_a_sentence():
    with pytest.raises(CourseError, match=r"第 3 行的「行标记（请勿改）」被改动或删掉了"):
        sheet(before=edited(fill(2, 7, "")).encode())
    with pytest.raises(CourseError, match=r"没有「得分」这一列"):
        sheet(before="甲,乙\r\n1,2\r\n".encode())
    with pytest.raises(CourseError, match=r"manual\.csv 的编码读不懂"):
        sheet(before=b"\xff\x00\xff\xff")


def test_two_rows_of_one_text_must_agree():
    def change(rows):
        rows[1][5] = "1"
        rows.append([*rows[1][:5], "2", *rows[1][6:]])

    with pytest.raises(CourseError, match=r"第 2 行.*与 .*第 5 行.*得分却不同"):
        sheet(before=edited(change).encode())


def with_text(text):
    return replace(CLASS, records=(replace(HONEST, texts=(("1", text),)),))


def test_a_changed_text_keeps_its_points_and_says_so_until_a_person_looked():
    before = edited(fill(1, 5, "2"), with_text("旧")).encode()
    found = sheet(with_text("新"), before)
    assert found.points == {LONG_ID: {"1": 2}}
    changed = "给分以后文字改过，请再看一遍；看过就清空这一格。"
    assert [row[4:7] for row in rows_of(found.csv())[1:]] == [["新", "2", changed]]
    again = sheet(with_text("新"), found.csv())
    assert again.csv() == found.csv()
    looked = sheet(with_text("新"), edited(fill(1, 6, ""), with_text("新"), found.csv()).encode())
    assert [row[4:7] for row in rows_of(looked.csv())[1:]] == [["新", "2", ""]]


def test_new_texts_are_added_and_points_without_a_text_are_kept_but_do_not_count():
    before = edited(fill(1, 5, "2"), with_text("旧")).encode()
    other = replace(CLASS, records=(HOSTILE,))
    found = sheet(other, before)
    assert found.points == {}
    assert [(row[1], row[5], row[6]) for row in rows_of(found.csv())[1:]] == [
        ("0429", "", ""),
        (LONG_ID, "2", "这次没有收到这份文字；得分留着，没有计入。"),
    ]
    assert sheet(other, found.csv()).csv() == found.csv()
    back = sheet(with_text("旧"), found.csv())
    assert back.points == {LONG_ID: {"1": 2}}
    assert [row[5:7] for row in rows_of(back.csv())[1:]] == [["2", ""]]


def test_read_rows_finds_the_separator():
    assert read_rows("得分;注\r\n1,5;a\r\n".encode(), "x", "得分") == [["得分", "注"], ["1,5", "a"]]


# pages


class Opened(HTMLParser):
    """What a browser takes from a page: tags, addresses, words."""

    def __init__(self, content):
        super().__init__()
        self.tags, self.addresses, self.text, self.open = [], [], "", []
        self.feed(content)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.addresses += [value for name, value in attributes if name in ("src", "href")]
        assert not [name for name, _ in attributes if name.startswith("on")]
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] != ["style"]:
            self.text += data


PLAIN_TAGS = {
    "html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "ul", "li", "div", "span", "small",
    "b", "pre", "section", "table", "thead", "tbody", "tfoot", "tr", "th", "td", "a", "img",
}  # fmt: skip


def opened(content):
    found = Opened(content)
    assert found.open == []
    assert content.startswith("<!DOCTYPE html>")
    assert set(found.tags) <= PLAIN_TAGS
    return found


def test_the_page_of_a_student_says_points_verdicts_and_hints():
    found = opened(feedback_page(CLASS, HONEST))
    for said in (
        '=HYPERLINK("http://x")（20230001234567891）',
        "2.33 / 7 分",
        "习题 1　微批次加倍0.33 / 4 分◐ 对了一部分",
        "加余量前的合计：○ 还没有作答0 / 2",
        "等权平均错在哪里：✗ 再想想0 / 1看起来是：以为该数序列。",
        "分母就数对损失有贡献的单位。",
        "理由：已收到，由老师来读；还没有评分。",
        "这份作业在沙箱（bubblewrap）里运行：没有网络",
    ):
        assert said in found.text, said
    assert found.addresses == []


def test_the_page_shows_error_line_warnings_and_points_of_a_person():
    book = replace(CLASS, manual={"0429": {"1": Fraction(3, 2)}})
    text = opened(feedback_page(book, HOSTILE)).text
    for said in (
        "欧阳,娜娜（0429）",
        "文件 0429 <script>alert(1)</script>.ipynb",
        "3.5 / 10 分",
        "! 作答的那一格出错NameError: <script>alert(1)</script>",
        "习题 1 的作答格有不止一个，只看第一个。",
        "理由：老师评了 1.5 / 3 分。",
    ):
        assert said in text, said
    silent = replace(HONEST, texts=())
    assert "理由：没有写，0 / 3 分。" in opened(feedback_page(book, silent)).text


def test_without_walls_the_pages_say_so():
    record = replace(HONEST, sandbox=PROCESS)
    assert "没有沙箱的围墙" in opened(feedback_page(CLASS, record)).text
    text = opened(class_page(replace(CLASS, records=(record, HOSTILE)))).text
    assert "1 份用 process 方式运行" in text
    assert "1 份在沙箱（bubblewrap）里运行" in text


def test_a_file_that_could_not_be_read_gets_its_sentence():
    text = opened(feedback_page(CLASS, UNREADABLE)).text
    assert "文件不是完整的 JSON。请让这名学生重新保存并再交一次。" in text
    assert "王<b>五</b>（0500）" in text
    assert "习题 1" not in text


def test_solutions_only_when_they_are_asked_for_and_with_own_numbers():
    why = "还原成总和 4，再除以事件总数 4"
    assert why not in feedback_page(CLASS, HONEST)
    assert why in feedback_page(CLASS, HONEST, solutions=True)
    own = {"2": {**TWO.parameters, "mean_a": 3}}
    assert "还原成总和 7，再除以事件总数 4" in feedback_page(CLASS, HONEST, solutions=True, parameters=own)


def test_the_page_of_the_class_lists_everyone_and_everything():
    content = class_page(
        replace(CLASS, records=(*CLASS.records, replace(HONEST, student="", file="作业最终版.ipynb"))),
        noticed=[(f"{TAGS}.ipynb", "发给别人的。")],
        unread=[("坏.zip", "压缩包打不开。")],
        not_counted=[("旧.ipynb", "以后交的为准。")],
        links={"0429": "feedback/0429.html"},
    )
    found = opened(content)
    for said in (
        "批改了 4 份作业，名单上还有 1 人没有交。满分 7 分。",
        "对不上名单的文件作业最终版.ipynb",
        "<script>alert(1)</script>.ipynb：发给别人的。",
        "0500.ipynb（0500）：文件不是完整的 JSON。",
        "坏.zip：压缩包打不开。",
        "旧.ipynb：以后交的为准。",
        "（0429）：习题 1 的作答格有不止一个，只看第一个。",
        "0429 欧阳,娜娜022",
        "0777 没交没有交0",
        "0500 王<b>五</b>没能读出来0",
        "平均（3 份读出来的）0.2222.22",
    ):
        assert said in found.text, said
    assert found.addresses[0] == "feedback/0429.html"
    assert [address[:22] for address in found.addresses[1:]] == ["data:image/png;base64,"] * 2
    assert 'alt="习题 1：微批次加倍，0 分 3 人；习题 2：两个均值怎样合并，2 分 3 人"' in content
    assert 'alt="习题 2：以为该数序列 3 人"' in content


def test_a_mistake_made_twice_in_one_submission_counts_once():
    twice = replace(pass_two(), criteria=pass_two().criteria[1:] * 2)
    content = class_page(replace(CLASS, records=(replace(HONEST, exercises=(twice,)),)))
    assert 'alt="习题 2：以为该数序列 1 人"' in content


def test_a_class_without_records_has_a_page():
    text = opened(class_page(Gradebook((ONE,), (), {"0429": "甲"}))).text
    assert "批改了 0 份作业，名单上还有 1 人没有交。满分 4 分。" in text


def test_pictures_take_any_names_and_many_points():
    names = ["习题 1：$x_{", "a\nb", "长" * 300, "$$"]
    pictures = (
        mistakes_picture([(name, 3) for name in names]),
        points_picture([Spread("$$" * 40, ("0–9", "10"), (0, 200))] * 4),
    )
    assert [picture[:4] for picture in pictures] == [b"\x89PNG"] * 2
    many = replace(ONE, criteria=tuple(replace(criterion, points=50) for criterion in ONE.criteria))
    assert "0–12 分 2 人" in class_page(replace(CLASS, exercises=(many,)))


def test_same_records_same_pages_in_any_order():
    turned = replace(CLASS, records=CLASS.records[::-1], names=dict(reversed(NAMES.items())))
    assert class_page(turned) == class_page(CLASS)
    assert feedback_page(turned, HONEST) == feedback_page(CLASS, HONEST)


def test_pages_have_names_that_every_file_system_keeps_apart():
    names = page_names(["0429", LONG_ID, "../etc", "A1", "a1", "../../" + "x" * 500, "欧阳", ""])
    assert names["0429"] == "0429.html"
    assert names[LONG_ID] == "20230001234567891.html"
    assert names["欧阳"] == "欧阳.html"
    assert len({name.casefold() for name in names.values()}) == 8
    assert all("/" not in name and len(name.encode()) < 150 for name in names.values())


def test_nothing_is_drawn_before_there_is_something_to_draw():
    code = "import sys, course_lib.grading.class_page; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8")
    assert done.stdout.strip() == "False", done.stderr
