"""Presenting: which cells share a slide, which notebook is meant, and a throw-away place for all of it."""

import json
import os
import tomllib

import pytest

from course_lib.app import present
from course_lib.app.cli import main
from course_lib.app.places import ROOT, use_own_places
from course_lib.app.slides import SCREEN, height_of, slide_types
from course_lib.errors import CourseError

from .reading import stored


def words(text):
    return {"cell_type": "markdown", "source": text, "metadata": {}}


def code(source, *outputs):
    return {"cell_type": "code", "source": source, "metadata": {}, "outputs": list(outputs)}


def text_output(text):
    return {"output_type": "execute_result", "data": {"text/plain": text}}


EXPLORER = code(
    "explorer()", {"output_type": "execute_result", "data": {"image/png": "", "text/plain": "图"}}
)


def test_headings_begin_slides_and_an_explorer_is_alone():
    cells = [words("# 题"), words("## 问"), words("话"), EXPLORER, words("说"), code("1", text_output("1"))]
    assert slide_types(cells) == ["slide", "slide", "-", "subslide", "subslide", "-"]


def test_what_shows_nothing_is_skipped_but_a_guess_stays():
    assert slide_types([words("## 猜"), code("guess = None"), code("import sys")]) == ["slide", "-", "skip"]


def test_a_full_slide_goes_on_on_the_next():
    tall = code("rows", text_output("\n".join(["行"] * 10)))
    kinds = slide_types([words("## 表"), tall, tall])
    assert kinds == ["slide", "-", "subslide"]


@pytest.mark.parametrize("path", stored(), ids=lambda path: path.stem)
def test_stored_notebooks_carry_the_rule_and_no_guessed_slide_is_too_full(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    kinds = [cell["metadata"].get("slideshow", {}).get("slide_type", "-") for cell in cells]
    assert kinds == slide_types(cells)
    assert kinds[0] == "slide"
    filled = 0
    for cell, kind in zip(cells, kinds, strict=True):
        height = 0 if kind == "skip" else height_of(cell)
        filled = filled + height if kind in ("-", "skip") else height
        assert filled <= SCREEN + 20 or filled == height


@pytest.mark.parametrize("section", ["27.2", "27.02"])
def test_a_section_is_found(section):
    assert present.notebook_of(section).name == "27.02-memory-ledger.ipynb"


@pytest.mark.parametrize("section", ["27.11", "2", "27", "../27.2"])
def test_a_section_that_is_not_there(section, capsys):
    assert main(["present", section]) == 1
    assert "没有这一节" in capsys.readouterr().err


def test_without_the_slideshow_one_sentence_says_how_to_get_it(monkeypatch, capsys):
    monkeypatch.setattr(present, "EXTENSION", "no_such_module")
    assert main(["present", "27.2"]) == 1
    told = capsys.readouterr().err
    assert len(told.splitlines()) == 1
    assert "jupyterlab-slideshow<0.4" in told


def test_a_file_that_is_not_there(tmp_path, monkeypatch):
    with pytest.raises(CourseError):
        present.lay_out(tmp_path / "none.ipynb", tmp_path / "notebooks")


def test_the_copy_is_folded_and_the_settings_are_its_own(tmp_path, monkeypatch):
    for name in list(os.environ):
        monkeypatch.setenv(name, os.environ[name])  # so that what use_own_places changes is put back
    use_own_places(tmp_path / "runtime")
    present.dress(tmp_path / "runtime")
    config = tmp_path / "runtime" / "config"
    overrides = config / "labconfig" / "default_setting_overrides.json"
    settings = json.loads(overrides.read_text(encoding="utf-8"))
    assert settings["jupyterlab-slideshow:plugin"] == {"active": True}
    assert settings["@jupyterlab/translation-extension:plugin"]["locale"] == "zh_CN"
    style = (config / "custom" / "custom.css").read_text(encoding="utf-8")
    assert (config / "custom" / "CourseHeiSC-Regular.otf").is_file()
    assert "CourseHeiSC-Regular.otf" in style

    notebook = present.notebook_of("27.2")
    before = notebook.read_bytes()
    present.lay_out(notebook, tmp_path / "notebooks")
    assert len(list((tmp_path / "notebooks").iterdir())) == 11
    cells = json.loads((tmp_path / "notebooks" / notebook.name).read_text(encoding="utf-8"))["cells"]
    for cell in cells:
        folded = cell["metadata"].get("jupyter", {}).get("source_hidden", False)
        assert folded == bool(cell.get("outputs"))
    assert notebook.read_bytes() == before


def test_the_extra_is_named_in_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    assert extras["present"] == ["jupyterlab-slideshow>=0.3.4,<0.4"]
    assert extras["present"][0] in extras["test"]
