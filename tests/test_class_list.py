"""Class lists as teachers keep them: read whole, or refused with row, cell and remedy."""

import csv
import re

import pytest

from course_lib.app.release import read_secret, secret_warning
from course_lib.errors import CourseError
from course_lib.exercises import draw, find, is_signed, sign
from course_lib.grading.class_list import Student, file_name, read_class_list

NAME = '=HYPERLINK("http://x")'


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "utf-16"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("head", [["学号", "姓名"], ["姓名", "学号", "班级"], ["Student ID", "Name"], []])
def test_class_lists_as_teachers_keep_them(tmp_path, encoding, separator, head):
    rows = [["0429", "欧阳,娜娜"], ["20230001234567891", NAME]]
    if head[:1] == ["姓名"]:
        rows = [[name, id, "一班"] for id, name in rows]
    path = tmp_path / "list.csv"
    with path.open("w", encoding=encoding, newline="") as file:
        csv.writer(file, delimiter=separator).writerows([*([head] if head else []), *rows, []])
    assert read_class_list(path) == [Student("0429", "欧阳,娜娜"), Student("20230001234567891", NAME)]


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"", "没有学生"), ("学号,姓名\n".encode(), "没有学生"), (b"1\n2\n1\n", "第 3 行的学号重复"),
     ("学号,姓名\n,张三".encode(), "第 2 行没有学号"), (b"\xff\xff\x80", "编码读不懂")],
)  # fmt: skip
def test_a_list_that_cannot_be_read_names_the_cause(tmp_path, content, said):
    (tmp_path / "list.csv").write_bytes(content)
    with pytest.raises(CourseError, match=said):
        read_class_list(tmp_path / "list.csv")


def test_file_names_are_safe_and_different():
    ids = ["0429", "a/b", "a_b", "..", "CON?", "张三", "李四", "x" * 300, "X" * 300]
    names = [file_name(Student(id)) for id in ids]
    assert len({name.lower() for name in names}) == len(ids)
    assert all(re.fullmatch(r"[0-9A-Za-z_-]{1,70}", name) for name in names)


BOTH = [Student("0429", "张三"), Student("0430", "李;四")]


def listed(tmp_path, text, encoding="utf-8"):
    (tmp_path / "list.csv").write_bytes(text.encode(encoding) if isinstance(text, str) else text)
    return read_class_list(tmp_path / "list.csv")


@pytest.mark.parametrize(
    "text",
    [
        "序号,学生学号,姓名\n1,0429,张三\n2,0430,李;四\n",
        "编号,姓名,学号\n1,张三,0429\n2,李;四,0430\n",
        "二〇二六年秋 机器学习名单\n\n学号,姓名\n0429,张三\n0430,李;四\n",
        "教师：王老师,班级：3\n学号,姓名\n0429,张三\n0430,李;四\n",
        "学 号,姓　名\n0429,张三\n0430,李;四\n",
        "学号,姓名\r0429,张三\r0430,李;四\r",
        "学号,姓名\r\n0429,张三\r\n0430,李;四\r\n",
        '0429,"张三"\n0430,"李;四"\n',
        '学号, 姓名\n0429, "张三"\n0430, "李;四"\n',
        '学号,姓名\n"=""0429""",张三\n="0430",李;四\n',
        '"学号";"姓名"\n"0429";"张三"\n"0430";"李;四"\n',
        "学号\t姓名\n0429\t张三\n\n0430\t李;四",
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "utf-16"])
def test_what_is_clear_is_taken(tmp_path, text, encoding):
    assert listed(tmp_path, text, encoding) == BOTH


def test_names_in_quotes_keep_their_semicolons(tmp_path):
    assert listed(tmp_path, '0429,"甲;乙;丙;丁"\n0430,"戊;己"\n') == [
        Student("0429", "甲;乙;丙;丁"),
        Student("0430", "戊;己"),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('0,王五\n1,"张三\n2,李四\n3,赵六\n', ("第 2 行", "引号没有配对", "补上引号")),
        ('1,"张三\n2,李四"\n3,赵六\n', ("第 1 行", "引号没有配对", "换行")),
        (f'1,张三\n2,"{"x" * 140_000}"\n', ("第 2 行", "131072")),
        ("学号,姓名\n0429,张三\n2.02601E+11,李四\n", ("第 3 行第 1 格", "2.02601E+11", "文本")),
        ("姓名,学号\n张三,2026001.0\n", ("第 2 行第 2 格", "2026001.0", "文本")),
        ("序号,姓名\n1,张三\n", ("第 1 行", "没有学号一列")),
        ("名单\n姓名,班级\n张三,1\n", ("第 2 行", "没有学号一列")),
        ("0428,赵六\n学号,姓名\n0429,张三\n", ("第 1 行", "在表头上面", "移到")),
        ("1,2026001,张三\n2,2026002,李四\n", ("像序号", "表头")),
        ("张三,0429\n李四,0430\n", ("像姓名", "表头")),
        ("学号\nAB1\nab1\n", ("第 3 行", "第 2 行", "大小写")),
        ("学号\nAB1\nＡＢ１\n", ("第 3 行", "第 2 行", "全角")),
        (b"PK\x03\x04\x14\x00\x06\x00", ("Excel 工作簿", "另存为")),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", ("Excel 工作簿", "另存为")),
        ("\n<html><table>", ("网页", "另存为")),
        ("0429,张三\n".encode("utf-16-le"), ("编码读不懂",)),
    ],
)
def test_what_is_not_clear_is_refused_with_row_cell_and_remedy(tmp_path, text, said):
    with pytest.raises(CourseError) as refused:
        listed(tmp_path, text)
    assert [words for words in said if words not in str(refused.value)] == [], refused.value


def test_each_cause_has_its_own_sentence(tmp_path):
    with pytest.raises(CourseError, match="找不到名单"):
        read_class_list(tmp_path / "none.csv")
    with pytest.raises(CourseError, match="找不到名单"):
        read_class_list(tmp_path / "none" / "list.csv")
    with pytest.raises(CourseError, match="名单是一个文件夹"):
        read_class_list(tmp_path)
    with pytest.raises(CourseError, match="密钥文件是一个文件夹"):
        read_secret(tmp_path)
    with pytest.raises(CourseError, match="找不到密钥文件"):
        read_secret(tmp_path / "none", make=False)
    assert list(tmp_path.iterdir()) == [], "nothing was made"


def test_a_file_that_may_not_be_read_says_so(tmp_path, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("pathlib.Path.read_bytes", refuse)
    with pytest.raises(CourseError, match="没有权限读名单"):
        read_class_list(tmp_path / "list.csv")


@pytest.mark.skipif("os.name != 'posix'", reason="Windows has no such permission bits")
def test_a_secret_that_others_may_read_is_warned_about(tmp_path):
    path = tmp_path / "secret"
    read_secret(path)
    assert secret_warning(path) == ""
    path.chmod(0o640)
    assert "chmod 600 secret" in secret_warning(path)


SECRET = b"a secret for tests only"


@pytest.mark.parametrize(
    "parameters",
    [
        None,
        3,
        "x",
        [],
        [["1", {}]],
        {"1": None},
        {"1": [["layers", 4]]},
        {"1": {"layers": {4}}},
        {1: {}, "1": {}},
    ],
)
def test_what_is_no_mapping_is_refused_and_never_signed(parameters):
    with pytest.raises(CourseError, match="题设的字典"):
        sign("0429", parameters, SECRET)
    assert is_signed("0429", parameters, SECRET, sign("0429", {"1": {"layers": 4}}, SECRET)) is False


def test_a_signature_meets_any_types():
    good = {"1": {"layers": 4}}
    signature = sign("0429", good, SECRET)
    assert is_signed("0429", good, SECRET, signature) is True
    for student in (None, 429, "", [], {}, "0430", "\ud800"):
        assert is_signed(student, good, SECRET, signature) is False
    for other in (None, 3, "", "é", [signature], signature.upper()):
        assert is_signed("0429", good, SECRET, other) is False
    with pytest.raises(CourseError, match="exercise"):
        draw("1", "0429", SECRET)
    assert draw(find("1"), "0429", SECRET)
