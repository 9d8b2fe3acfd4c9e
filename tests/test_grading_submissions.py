"""Collecting what was handed in: odd names, links, zips, claims of another's id, and whose file it is."""

import json
import os
import random
import socket
import stat
import struct
import tracemalloc
import zipfile

import pytest

from course_lib.errors import CourseError
from course_lib.exercises import find, sign
from course_lib.grading import reading
from course_lib.grading.class_list import Student
from course_lib.grading.found import Found, Refused
from course_lib.grading.owners import collect
from course_lib.grading.submissions import find_notebooks

SECRET = b"a secret for tests only"
ONE = (find("1"),)
ROLL = [Student("0429", "张三"), Student("0430", "李四"), Student("12", "王五"), Student("AB-7", "赵六")]
DRAWN_0429 = {"parameters": 3_250_000, "sequences_before": 1, "sequences": 3, "positions": 256, "width": 128,
              "layers": 7, "arrays_per_layer": 10, "bytes_per_value": 4}  # fmt: skip
DRAWN_0430 = {"parameters": 2_000_000, "sequences_before": 1, "sequences": 3, "positions": 256, "width": 128,
              "layers": 4, "arrays_per_layer": 12, "bytes_per_value": 2}  # fmt: skip
posix = pytest.mark.skipif("os.name != 'posix'", reason="needs links, pipes and odd names")


def notebook(course=None):
    metadata = {} if course is None else {"course": course}
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": []}).encode()


def issued(student, parameters=None, secret=SECRET):
    parameters = {} if parameters is None else parameters
    about = {"student": student, "parameters": parameters}
    return notebook(about | {"signature": sign(student, parameters, secret)})


def put(folder, name, content=b"", at=1_000):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    os.utime(path, (at, at))
    return path


def names(items, kind):
    return [item.name for item in items if isinstance(item, kind)]


def owners(collected):
    return {one.file: one.student for one in (*collected.counted, *collected.superseded)}


# What is found in a folder


def test_every_notebook_below_the_folder_and_nothing_that_systems_leave(tmp_path):
    for name in ("b.ipynb", "一班/张 三.IPYNB", "a/b/c/d.ipynb", "__MACOSX/b.ipynb", "._b.ipynb", "x.txt",
                 "a/.ipynb_checkpoints/d-checkpoint.ipynb", "grades/old.ipynb", "a.ipynb.txt"):  # fmt: skip
        put(tmp_path, name, name.encode())
    found = find_notebooks(tmp_path, out=tmp_path / "a" / ".." / "grades")
    assert names(found, Found) == ["a/b/c/d.ipynb", "b.ipynb", "一班/张 三.IPYNB"]
    assert names(found, Refused) == []
    assert found[2].read() == "一班/张 三.IPYNB".encode()
    assert found[0].modified == 1_000 * 10**9


@posix
def test_odd_names_are_shown_and_still_read(tmp_path):
    try:
        for name in ("a\nb.ipynb", os.fsdecode(b"\xd5\xc5.ipynb"), "c\\n.ipynb", "d\u3000\u202ee.ipynb"):
            put(tmp_path, name, b"read")
    except OSError:
        pytest.skip("this file system takes no such names")
    found = find_notebooks(tmp_path)
    assert sorted(names(found, Found)) == [
        "\\udcd5\\udcc5.ipynb", "a\\nb.ipynb", "c\\\\n.ipynb", "d\u3000\\u202ee.ipynb",
    ]  # fmt: skip
    assert {item.read() for item in found} == {b"read"}


@posix
def test_links_pipes_sockets_and_large_files_are_named_and_not_opened(tmp_path, monkeypatch):
    folder, outside = tmp_path / "in", tmp_path / "outside"
    put(outside, "secret.ipynb", b"secret")
    put(folder, "fine.ipynb", b"fine")
    (folder / "link.ipynb").symlink_to(outside / "secret.ipynb")
    (folder / "folder").symlink_to(outside, target_is_directory=True)
    (folder / "self.ipynb").symlink_to(folder, target_is_directory=True)
    os.mkfifo(folder / "pipe.ipynb")
    monkeypatch.chdir(folder)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket.ipynb")
        with (folder / "large.ipynb").open("wb") as file:
            file.truncate(100_000_000)
        said = {}
        for item in find_notebooks(folder):
            try:
                said[item.name] = item.reason if isinstance(item, Refused) else item.read()
            except CourseError as error:
                said[item.name] = str(error)
    assert said.pop("fine.ipynb") == b"fine"
    hand_in = "请让这名学生交笔记本文件本身。"
    assert said == {
        "folder": "这是链接或特殊文件，没有跟进去。" + hand_in,
        "link.ipynb": "这是链接，没有打开。" + hand_in,
        "self.ipynb": "这是链接，没有打开。" + hand_in,
        "pipe.ipynb": "这是管道，没有打开。" + hand_in,
        "socket.ipynb": "这是套接字，没有打开。" + hand_in,
        "large.ipynb": "文件超过 20 MB，没有读。请清除笔记本的输出，保存后再交。",
    }


@posix
def test_a_file_that_becomes_a_link_after_the_look_is_not_followed(tmp_path, monkeypatch):
    put(tmp_path, "in/a.ipynb", b"fine")
    put(tmp_path, "secret", b"secret")
    (item,) = find_notebooks(tmp_path / "in")
    looked = os.lstat(tmp_path / "in" / "a.ipynb")
    (tmp_path / "in" / "a.ipynb").unlink()
    (tmp_path / "in" / "a.ipynb").symlink_to(tmp_path / "secret")
    monkeypatch.setattr(os, "lstat", lambda path: looked)
    with pytest.raises(CourseError, match="文件打不开"):
        item.read()


def test_files_and_folders_without_permission_get_a_sentence(tmp_path, monkeypatch):
    put(tmp_path, "a.ipynb")
    put(tmp_path, "b/c.ipynb")
    scan, open_ = os.scandir, os.open

    def refuse(real, names):
        def call(path, *rest):
            if os.path.basename(os.fspath(path)) in names:
                raise PermissionError(13, "Permission denied")
            return real(path, *rest)

        return call

    monkeypatch.setattr(os, "scandir", refuse(scan, ["b"]))
    monkeypatch.setattr(os, "open", refuse(open_, ["a.ipynb"]))
    found = find_notebooks(tmp_path)
    assert names(found, Refused) == ["b"] and "打不开" in found[1].reason
    with pytest.raises(CourseError, match="文件打不开：Permission denied"):
        found[0].read()


def test_nothing_to_grade_is_one_sentence(tmp_path):
    put(tmp_path, "x.txt")
    put(tmp_path, "texts/x.txt")
    put(tmp_path, "broken.zip", b"PK\x03\x04 and no more")
    put(tmp_path, "x.ipynb/inside.txt")
    with zipfile.ZipFile(tmp_path / "empty.zip", "w"):
        pass
    for path, said in (("none", "找不到"), ("texts", "没有 .ipynb"), ("broken.zip", "不是 zip"),
                       ("x.txt", "不是 zip"), ("empty.zip", "没有 .ipynb")):  # fmt: skip
        with pytest.raises(CourseError, match=said):
            find_notebooks(tmp_path / path)


def test_a_packed_file_inside_is_named_and_not_opened(tmp_path):
    put(tmp_path, "0423.ipynb")
    put(tmp_path, "0424.ZIP", b"PK")
    path = zipped(tmp_path / "all.rar", plain("0423.ipynb"), plain("0424/inner.zip"))
    for found in (find_notebooks(tmp_path), find_notebooks(path)):
        assert "压缩包" in next(item for item in found if isinstance(item, Refused)).reason


# What is found in a zip


def zipped(path, *entries):
    """Write a zip; names that are bytes stand in it with no word on their encoding."""
    stand_ins = [name if isinstance(name, str) else f"{number:04d}".ljust(len(name), "~")
                 for number, (name, _, _) in enumerate(entries)]  # fmt: skip
    with zipfile.ZipFile(path, "w") as archive:
        for stand_in, (_, content, more) in zip(stand_ins, entries, strict=True):
            info = zipfile.ZipInfo(stand_in, (2026, 11, 29, more.get("hour", 10), 0, 0))
            info.compress_type = more.get("method", zipfile.ZIP_DEFLATED)
            info.create_system, info.external_attr = more.get("system", 0), more.get("mode", 0) << 16
            archive.writestr(info, content)
    data = path.read_bytes()
    for stand_in, (name, _, _) in zip(stand_ins, entries, strict=True):
        data = data.replace(stand_in.encode(), name if isinstance(name, bytes) else name.encode())
    path.write_bytes(data)
    return path


def plain(name, encoding="gb18030", content=b"fine", **more):
    return name.encode(encoding), content, more


def test_names_in_a_zip_are_recovered_and_what_climbs_out_is_refused(tmp_path):
    path = zipped(
        tmp_path / "all.zip",
        plain("一班/张三.ipynb"),
        plain("联通.ipynb"),
        plain("模.ipynb"),  # its two bytes are UTF-8 as well
        plain("李四.ipynb", "utf-8", system=3),
        plain("王五.ipynb", "utf-8"),
        plain("赵六.ipynb", system=3),
        plain("__MACOSX/一班/._张三.ipynb"),
        plain("二班\\孙七.ipynb"),
        plain("../../outside.ipynb"),
        plain("..\\outside.ipynb"),
        plain("/etc/cron.d/x.ipynb"),
        plain("C:\\x.ipynb"),
        plain("folder.ipynb/"),
        plain("link", content=b"/etc", system=3, mode=stat.S_IFLNK | 0o777),
        plain("notes.txt"),
        ("周八.ipynb", b"fine", {}),  # says that it is UTF-8
    )
    found = find_notebooks(path)
    assert sorted(names(found, Found)) == sorted(
        [
            "一班/张三.ipynb",
            "联通.ipynb",
            "模.ipynb",
            "李四.ipynb",
            "王五.ipynb",
            "赵六.ipynb",
            "二班/孙七.ipynb",
            "周八.ipynb",
        ]
    )
    assert {item.read() for item in found if isinstance(item, Found)} == {b"fine"}
    assert sorted(names(found, Refused)) == sorted(
        ["../../outside.ipynb", "../outside.ipynb", "/etc/cron.d/x.ipynb", "C:/x.ipynb", "link"]
    )
    assert [item.name for item in tmp_path.iterdir()] == ["all.zip"], "nothing was extracted"


def damaged(path, name, *, flag=0, size=None):
    """Change what the zip says of one entry, in both of its headers."""
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        offset = archive.getinfo(name).header_offset
    central = data.index(b"PK\x01\x02")
    while data[central + 46 : central + 46 + len(name)] != name.encode():
        central = data.index(b"PK\x01\x02", central + 1)
    for at, flags, sizes in ((offset, 6, 22), (central, 8, 24)):
        data[at + flags] |= flag
        if size is not None:
            data[at + sizes : at + sizes + 4] = struct.pack("<I", size)
    path.write_bytes(data)


def test_bombs_locked_and_broken_entries_cost_nobody_else_anything(tmp_path):
    link = {"system": 3, "mode": stat.S_IFLNK | 0o777}
    path = zipped(
        tmp_path / "all.zip",
        plain("bomb.ipynb", content=bytes(200_000_000)),
        plain("liar.ipynb", content=bytes(200_000_000)),
        plain("locked.ipynb"),
        plain("link.ipynb", content=b"/etc/shadow", **link),
        plain("rare.ipynb", method=zipfile.ZIP_BZIP2),
        plain("fine.ipynb"),
        plain("torn.ipynb", content=b"torn" * 100),
    )
    damaged(path, "liar.ipynb", size=5)
    damaged(path, "locked.ipynb", flag=1)
    damaged(path, "torn.ipynb", size=7)
    said = {}
    for item in find_notebooks(path):
        try:
            said[item.name] = item.read()
        except CourseError as error:
            said[item.name] = str(error)
    assert said == {
        "bomb.ipynb": "文件超过 20 MB，没有读。请清除笔记本的输出，保存后再交。",
        "liar.ipynb": "压缩包里的这个文件坏了。请让这名学生再交一次。",
        "locked.ipynb": "压缩包里的这个文件加了密码。请让这名学生交没有密码的。",
        "link.ipynb": "这是链接，没有打开。请让这名学生交笔记本文件本身。",
        "rare.ipynb": "压缩包里的这个文件用了少见的压缩方法。请解压到一个文件夹，再给这个文件夹。",
        "fine.ipynb": b"fine",
        "torn.ipynb": "压缩包里的这个文件坏了。请让这名学生再交一次。",
    }


def test_a_zip_with_an_impossible_date_is_read(tmp_path):
    path = zipped(tmp_path / "all.zip", plain("a.ipynb"), plain("b.ipynb"))
    data = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        date = data[10:14]
        assert archive.getinfo("a.ipynb").date_time == (2026, 11, 29, 10, 0, 0)
    path.write_bytes(data.replace(date, bytes(4)))
    assert [(item.modified, item.read()) for item in find_notebooks(path)] == [(0, b"fine"), (0, b"fine")]


def test_what_is_too_large_takes_no_memory(tmp_path):
    with (tmp_path / "large.ipynb").open("wb") as file:
        file.truncate(300_000_000)
    path = zipped(tmp_path / "all.zip", plain("bomb.ipynb", content=bytes(300_000_000)))
    tracemalloc.start()
    for item in (find_notebooks(tmp_path)[1], *find_notebooks(path)):
        with pytest.raises(CourseError, match="超过 20 MB"):
            item.read()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100_000_000


# Whose file it is


@pytest.mark.parametrize(
    ("name", "student"),
    [
        ("27.08-0429.ipynb", "0429"),
        ("0429张三.ipynb", "0429"),
        ("张三0429-作业.ipynb", "0429"),
        ("作业_0429_张三.ipynb", "0429"),
        ("0430 李四/作业.ipynb", "0430"),
        ("0429\n.ipynb", "0429"),
        ("27.08-12.ipynb", "12"),
        ("0429 (12).ipynb", "0429"),
        ("ab-7.ipynb", "AB-7"),
        ("０４２９.ipynb", "0429"),
        ("10429.ipynb", None),
        ("a0429.ipynb", None),
        ("04290.ipynb", None),
        ("xAB-7.ipynb", None),
        ("作业.ipynb", None),
        ("0429-0430.ipynb", None),
        ("0430/0429.ipynb", None),
    ],
)
def test_the_id_stands_in_the_names_as_a_whole(tmp_path, name, student):
    if os.name != "posix" and "\n" in name:
        pytest.skip("Windows takes no such name")
    put(tmp_path, name, notebook())
    found = collect(tmp_path, students=ROLL)
    assert [one.student for one in found.counted] == ([student] if student else [])
    assert len(found.unmatched) == (0 if student else 1)
    assert [one.id for one in found.missing] == [one.id for one in ROLL if one.id != student]


def test_the_longest_id_counts_and_odd_ids_by_the_names_of_their_notebooks(tmp_path):
    roll = [Student("1"), Student("2026-1"), Student("a/b"), Student("张三"), Student("27")]
    for name in ("2026-1.ipynb", "27.08-a_b-c14cddc0.ipynb", "张三.ipynb", "张三丰.ipynb", "27.08-27.ipynb"):
        put(tmp_path, name, notebook())
    found = collect(tmp_path, students=roll)
    assert owners(found) == {
        "2026-1.ipynb": "2026-1",
        "27.08-a_b-c14cddc0.ipynb": "a/b",
        "张三.ipynb": "张三",
        "27.08-27.ipynb": "27",
    }
    assert [item.name for item in found.unmatched] == ["张三丰.ipynb"]
    assert [one.id for one in found.missing] == ["1"]


def test_a_valid_signature_speaks_where_the_names_do_not(tmp_path):
    put(tmp_path, "a.ipynb", issued("0429"))
    put(tmp_path, "0430-12.ipynb", issued("0430"))
    put(tmp_path, "b.ipynb", issued("9999"))
    put(tmp_path, "c.ipynb", issued("0430", secret=b"another secret"))
    put(tmp_path, "d.ipynb", b"{")
    found = collect(tmp_path, students=ROLL, secret=SECRET)
    assert owners(found) == {"a.ipynb": "0429", "0430-12.ipynb": "0430"}
    assert found.counted[0].name == "张三" and found.counted[0].warnings == ()
    assert found.counted[1].warnings == ("文件名里有不止一个学号（0430、12），按笔记本的签名算作 0430 的。",)
    ask = "请把学号写进文件名，再批改一次。"
    assert {item.name: item.reason for item in found.unmatched} == {
        "b.ipynb": f"文件名里没有名单上的学号，笔记本是发给 9999 的，不在名单上。{ask}",
        "c.ipynb": f"文件名里没有名单上的学号，笔记本里也没有有效的签名。{ask}",
        "d.ipynb": f"文件名里没有名单上的学号，笔记本里也没有有效的签名。{ask}",
    }


def test_the_teacher_hears_of_another_students_notebook_and_of_numbers_not_signed(tmp_path):
    put(tmp_path, "0429.ipynb", issued("0430"))
    put(tmp_path, "0430.ipynb", notebook({"student": "0430", "parameters": {"1": {}}, "signature": "0" * 64}))
    put(tmp_path, "12.ipynb", notebook())
    put(tmp_path, "AB-7.ipynb", issued("AB-7", {"1": {"layers": 3}}))
    found = collect(tmp_path, students=ROLL, secret=SECRET, exercises=ONE)
    assert [one.warnings for one in found.counted] == [
        ("按文件名算作 0429 的，笔记本却是发给 0430 的（签名有效），请查一下。",),
        ("笔记本里的个人题设没有有效的签名；按 0430 自己的题设批改，请核对。",),
        ("笔记本里没有个人题设；按 12 自己的题设批改，请核对。",),
        ("笔记本里的题设签名有效，却与现在抽出的不同；按 AB-7 自己的题设批改，请核对。",),
    ]


def test_numbers_are_drawn_for_the_owner_with_the_secret_only(tmp_path):
    put(tmp_path, "0429.ipynb", issued("0430"))
    put(tmp_path, "0430.ipynb", issued("0430"))
    found = collect(tmp_path, students=ROLL, secret=SECRET, exercises=ONE)
    assert [dict(one.parameters) for one in found.counted] == [{"1": DRAWN_0429}, {"1": DRAWN_0430}]
    without = collect(tmp_path, students=ROLL, exercises=ONE)
    assert [dict(one.parameters) for one in without.counted] == [{}, {}]
    assert without.counted[0].warnings == ("笔记本里有个人题设，但没有给密钥，按教材的题设批改。",)


ANYTHING = [None, 3, "x", [], {}, [[1]], {"a": []}, 1.5, True, "\ud800", 10**400]


def test_metadata_may_be_anything(tmp_path):
    rng = random.Random(5)
    for number in range(60):
        course = {key: rng.choice(ANYTHING) for key in ("student", "parameters", "signature")}
        put(tmp_path, f"m{number}.ipynb", notebook(rng.choice([course, *ANYTHING[1:]])))
    for number, junk in enumerate((b"", b"[]", b"3", b"\xff", b"[" * 100_000, b'{"metadata": 3}')):
        put(tmp_path, f"j{number}.ipynb", junk)
    found = collect(tmp_path, students=ROLL, secret=SECRET, exercises=ONE)
    assert (found.counted, len(found.unmatched)) == ((), 66)
    alone = collect(tmp_path, secret=SECRET, exercises=ONE)
    assert len(alone.counted) == 66


def test_of_two_attempts_the_later_counts_in_either_order(tmp_path, monkeypatch):
    put(tmp_path, "0429 (1).ipynb", notebook(), at=3_000)
    put(tmp_path, "0429.ipynb", notebook(), at=1_000)
    put(tmp_path, "z/0429.ipynb", notebook(), at=2_000)
    put(tmp_path, "0430.ipynb", notebook())
    put(tmp_path, "z/0430.ipynb", notebook())
    scan, seen = os.scandir, []
    for order in (sorted, lambda entries, key: sorted(entries, key=key, reverse=True)):
        monkeypatch.setattr(os, "scandir", lambda path, order=order: order(scan(path), key=lambda e: e.name))
        seen.append(collect(tmp_path, students=ROLL))
    for found in seen:
        assert [one.file for one in found.counted] == ["0429 (1).ipynb", "z/0430.ipynb"]
        assert [one.file for one in found.superseded] == ["0429.ipynb", "z/0429.ipynb", "0430.ipynb"]
        assert found.counted[0].warnings == ("另有 2 份较早的没有计入：0429.ipynb、z/0429.ipynb。",)
        assert found.counted[1].warnings == ("另有 1 份较早的没有计入：0430.ipynb。",)


def test_a_zip_of_a_class(tmp_path):
    path = zipped(
        tmp_path / "all.zip",
        plain("张三_0429/作业.ipynb", content=notebook(), hour=12),
        plain("张三_0429/作业-旧.ipynb", content=notebook(), hour=9),
        plain("李四/作业.ipynb", content=issued("0430")),
        plain("无名/作业.ipynb", content=notebook()),
        plain("../0429.ipynb", content=notebook(), hour=20),
    )
    found = collect(path, students=ROLL, secret=SECRET)
    assert [(one.student, one.file) for one in found.counted] == [
        ("0429", "张三_0429/作业.ipynb"), ("0430", "李四/作业.ipynb"),
    ]  # fmt: skip
    assert [one.file for one in found.superseded] == ["张三_0429/作业-旧.ipynb"]
    assert [item.name for item in found.unmatched] == ["无名/作业.ipynb"]
    assert [item.name for item in found.problems] == ["../0429.ipynb"]
    assert [one.id for one in found.missing] == ["12", "AB-7"]
    assert found.counted[0].read() == notebook()


@posix
def test_what_cannot_be_read_still_belongs_to_its_student(tmp_path):
    (tmp_path / "0429.ipynb").symlink_to("/etc/passwd")
    (tmp_path / "x.ipynb").symlink_to("/etc/passwd")
    put(tmp_path, "0430.ipynb", b"not json")
    found = collect(tmp_path, students=ROLL, secret=SECRET, exercises=ONE)
    assert [(one.student, one.problem) for one in found.counted] == [
        ("0429", "这是链接，没有打开。请让这名学生交笔记本文件本身。"),
        ("0430", ""),
    ]
    assert [one.warnings for one in found.counted] == [(), ()], "of its numbers nothing is known"
    (lost,) = found.unmatched
    assert lost.name == "x.ipynb" and "这是链接，没有打开" in lost.reason


def test_without_a_list_the_signed_id_counts_else_the_name(tmp_path):
    put(tmp_path, "a.ipynb", issued("0429"))
    put(tmp_path, "一班/0430.ipynb", notebook())
    put(tmp_path, ".ipynb", notebook())
    found = collect(tmp_path, secret=SECRET, exercises=ONE)
    assert owners(found) == {"a.ipynb": "0429", "一班/0430.ipynb": "一班/0430", ".ipynb": ".ipynb"}
    assert [dict(one.parameters) for one in found.counted] == [{}, {"1": DRAWN_0429}, {}]
    assert found.counted[2].warnings == ("笔记本里没有个人题设；按教材的题设批改，请核对。",)
    assert found.missing == ()


def test_one_file_at_a_time_is_kept_in_memory(tmp_path):
    for number in range(30):
        put(tmp_path, f"{number}.ipynb", notebook({"pad": "x" * 1_000_000}))
    tracemalloc.start()
    found = collect(tmp_path)
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(found.counted) == 30
    assert kept < 1_000_000 and peak < 10_000_000


def test_the_largest_size_is_the_readers(tmp_path, monkeypatch):
    put(tmp_path, "a.ipynb", b"x" * reading.LARGEST)
    (item,) = find_notebooks(tmp_path)
    assert len(item.read()) == 20_000_000
    put(tmp_path, "a.ipynb", b"x" * (reading.LARGEST + 1))
    with pytest.raises(CourseError, match="超过 20 MB"):
        item.read()
