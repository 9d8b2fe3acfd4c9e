"""The reader's copies: later versions of the course never cost the reader any work."""

import json

import pytest

from course_lib.app import workspace
from course_lib.app.workspace import MANIFEST, prepare
from course_lib.errors import CourseError

NAME = "27.02-ledger.ipynb"
BESIDE = "27.02-ledger.new.ipynb"


@pytest.fixture
def course(tmp_path):
    class Folders:
        shipped = tmp_path / "notebooks"
        work = tmp_path / "work 学 习"

        def ship(self, text, name=NAME):
            self.shipped.mkdir(exist_ok=True)
            (self.shipped / name).write_text(text, encoding="utf-8")
            return prepare(shipped=self.shipped, work=self.work)

        def read(self, name=NAME):
            return (self.work / name).read_text(encoding="utf-8")

        def edit(self, text, name=NAME):
            (self.work / name).write_text(text, encoding="utf-8")

        def names(self):
            return sorted(path.name for path in self.work.iterdir())

    return Folders()


def test_first_start_copies_and_says_nothing(course):
    assert course.ship("v1") == []
    assert course.names() == [MANIFEST, NAME]


def test_second_start_keeps_the_readers_work(course):
    course.ship("v1")
    course.edit("mine")
    assert course.ship("v1") == []
    assert (course.read(), course.names()) == ("mine", [MANIFEST, NAME])


def test_untouched_copy_is_replaced_with_a_sentence(course):
    course.ship("v1")
    (sentence,) = course.ship("v2")
    assert "新版" in sentence
    assert (course.read(), course.names()) == ("v2", [MANIFEST, NAME])
    assert course.ship("v2") == []


def test_new_version_comes_beside_the_readers_work_and_is_named(course):
    course.ship("v1")
    course.edit("mine")
    (sentence,) = course.ship("v2")
    assert BESIDE in sentence
    assert (course.read(), course.read(BESIDE)) == ("mine", "v2")
    assert course.ship("v2") == []
    assert course.names() == [MANIFEST, NAME, BESIDE]


def test_third_version_replaces_the_untouched_second_but_not_a_worked_on_one(course):
    course.ship("v1")
    course.edit("mine")
    course.ship("v2")
    course.ship("v3")
    assert course.read(BESIDE) == "v3"
    course.edit("mine too", BESIDE)
    course.ship("v4")
    assert [course.read(), course.read(BESIDE)] == ["mine", "mine too"]
    assert course.read("27.02-ledger.new-2.ipynb") == "v4"


def test_deleted_copy_comes_back(course):
    course.ship("v1")
    (course.work / NAME).unlink()
    assert course.ship("v1") == []
    assert course.read() == "v1"


@pytest.mark.parametrize("broken", [None, "", "{", "[]", "null", '{"27.02-ledger.ipynb": 3}'])
def test_lost_or_broken_list_never_costs_work(course, broken):
    course.ship("v1")
    course.edit("mine")
    if broken is None:
        (course.work / MANIFEST).unlink()
    else:
        course.edit(broken, MANIFEST)
    course.ship("v2")
    assert (course.read(), course.read(BESIDE)) == ("mine", "v2")


def test_start_killed_before_the_list_is_written_is_done_again(course, monkeypatch):
    course.ship("v1")
    course.edit("mine")
    whole = workspace.write_whole

    def killed(path, content):
        if path.name == MANIFEST:
            raise KeyboardInterrupt
        whole(path, content)

    monkeypatch.setattr(workspace, "write_whole", killed)
    with pytest.raises(KeyboardInterrupt):
        course.ship("v2")
    monkeypatch.undo()
    course.ship("v2")
    assert (course.read(), course.read(BESIDE)) == ("mine", "v2")
    assert course.names() == [MANIFEST, NAME, BESIDE]


def test_pictures_and_folders_come_along_hidden_files_do_not(course):
    (course.shipped / "figures").mkdir(parents=True)
    (course.shipped / "figures/a.svg").write_text("<svg/>", encoding="utf-8")
    (course.shipped / ".ipynb_checkpoints").mkdir()
    (course.shipped / ".ipynb_checkpoints/x.ipynb").write_text("", encoding="utf-8")
    course.ship("v1")
    assert course.read("figures/a.svg") == "<svg/>"
    assert course.names() == [MANIFEST, NAME, "figures"]


def test_list_names_versions_not_places(course):
    course.ship("v1")
    listed = json.loads(course.read(MANIFEST))
    assert listed == {NAME: "3bfc269594ef649228e9a74bab00f042efc91d5acc6fbee31a382e80d42388fe"}


def test_nothing_to_copy_is_a_sentence(tmp_path):
    with pytest.raises(CourseError, match="重新下载"):
        prepare(shipped=tmp_path / "none", work=tmp_path / "work")
