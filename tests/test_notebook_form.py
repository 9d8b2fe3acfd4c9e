"""The notebooks tool: what it keeps, what it drops, and what it refuses."""

import argparse
import json

import pytest

from course_lib.app.notebook_form import drop_widget_views, faults, normalise
from course_lib.app.notebooks import add_command

WIDGET = "application/vnd.jupyter.widget-view+json"


def cell(code="1", *, outputs=(), count=1, **more):
    fixed = {
        "cell_type": "code",
        "execution_count": count,
        "metadata": {},
        "outputs": list(outputs),
        "source": code,
    }
    return fixed | more


def note(text="题", **more):
    return {"cell_type": "markdown", "metadata": {}, "source": text} | more


def notebook(*cells, **metadata):
    return {"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def ids(*given, stem="27.01-missing"):
    text = normalise(notebook(*(note(id=name) for name in given)), stem=stem)
    return [cell["id"] for cell in json.loads(text)["cells"]]


def test_ids_of_the_section_stay_and_others_get_free_numbers():
    assert ids("27-01-002", "8f3a", "27-01-002", "27-01-guess", "27-02-001") == [
        "27-01-002",
        "27-01-001",
        "27-01-003",
        "27-01-guess",
        "27-01-004",
    ]
    assert ids("x", stem="00-start") == ["00-001"]


def test_volatile_things_are_dropped_and_counts_start_at_one():
    shown = {
        "data": {"text/plain": "7", "image/png": "AA==", WIDGET: {"model_id": "e0"}},
        "metadata": {"image/png": {"width": 400}, "volatile": 1},
        "output_type": "display_data",
    }
    result = {
        "data": {"text/plain": "7"},
        "execution_count": 9,
        "metadata": {},
        "output_type": "execute_result",
    }
    kept = {"tags": ["x"], "execution": {"iopub.status.busy": "2026"}, "collapsed": True}
    text = normalise(
        notebook(
            cell(count=7, outputs=[shown], metadata=kept),
            note(),
            cell(count=9, outputs=[result]),
            widgets={"a": 1},
        ),
        stem="27.01-x",
    )
    first, _, second = json.loads(text)["cells"]
    assert first["metadata"] == {"tags": ["x"], "slideshow": {"slide_type": "slide"}}
    assert first["outputs"][0]["data"] == {"text/plain": ["7"], "image/png": "AA=="}
    assert first["outputs"][0]["metadata"] == {"image/png": {"width": 400}}
    assert (first["execution_count"], second["execution_count"]) == (1, 2)
    assert second["outputs"][0]["execution_count"] == 2
    assert set(json.loads(text)["metadata"]) == {"kernelspec", "language_info"}
    assert json.loads(text)["metadata"]["kernelspec"]["name"] == "python3"
    assert normalise(json.loads(text), stem="27.01-x") == text


def test_saving_drops_widget_ids_where_a_picture_is_left():
    both = {"data": {"image/png": "AA==", WIDGET: {}}, "metadata": {}, "output_type": "display_data"}
    alone = {"data": {WIDGET: {}}, "metadata": {}, "output_type": "display_data"}
    model = {"type": "notebook", "content": notebook(cell(outputs=[both, alone, stream("1")]), note())}
    drop_widget_views(model=model, path="x.ipynb", contents_manager=None)
    kept = [set(output.get("data", ())) for output in model["content"]["cells"][0]["outputs"]]
    assert kept == [{"image/png"}, {WIDGET}, set()]
    drop_widget_views(model={"type": "file", "content": "text"}, path="x.txt", contents_manager=None)


def stream(text, name="stdout"):
    return {"name": name, "output_type": "stream", "text": text}


ERROR = {"ename": "ValueError", "evalue": "", "output_type": "error", "traceback": []}


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (cell(count=None), "没有运行过"),
        (cell(outputs=[ERROR]), "存着错误 ValueError"),
        (cell(outputs=[stream("注意", "stderr")]), "stderr"),
        (cell(outputs=[stream("<f at 0x7f32a1b2c3d4>")]), "内存地址"),
        (cell(outputs=[stream("字" * 400_000)]), "超过 1000000"),
    ],
)
def test_faults_of_a_notebook_in_normal_form(tmp_path, broken, said):
    path = tmp_path / "27.01-x.ipynb"
    path.write_text(normalise(notebook(broken), stem=path.stem), encoding="utf-8")
    (fault,) = faults(path)
    assert said in fault


def test_fault_of_another_form_and_of_no_notebook(tmp_path):
    path = tmp_path / "27.01-x.ipynb"
    text = normalise(notebook(note()), stem=path.stem)
    path.write_text(text, encoding="utf-8")
    assert faults(path) == []
    path.write_text(text.replace("\n ", "\n  "), encoding="utf-8")
    assert "notebooks run" in faults(path)[0]
    for junk in ("{", "[]", '{"cells": 1, "nbformat": 4, "nbformat_minor": 5, "metadata": {}}'):
        path.write_text(junk, encoding="utf-8")
        assert "读不成笔记本" in faults(path)[0]
    assert "读不成笔记本" in faults(tmp_path / "27.01-missing.ipynb")[0]


def run(*words):
    parser = argparse.ArgumentParser()
    add_command(parser.add_subparsers())
    options = parser.parse_args(["notebooks", *map(str, words)])
    return options.handle(options)


def test_run_is_repeatable_and_leaves_a_failing_notebook_alone(tmp_path, capsys):
    """Two runs of the same cells give the same bytes; a failure names its cell and writes nothing."""
    good = ["import course_lib, ipywidgets", "print('甲')\nprint('乙')", "ipywidgets.IntSlider(3)"]
    for folder, codes in (("a", good), ("b", good), ("c", ["1", "1 / 0"])):
        (tmp_path / folder).mkdir()
        draft = notebook(*(cell(code, count=None) for code in codes)) | {"nbformat_minor": 4}
        (tmp_path / folder / "27.01-x.ipynb").write_text(json.dumps(draft), encoding="utf-8")
    first, second, failing = (tmp_path / folder / "27.01-x.ipynb" for folder in "abc")
    before = failing.read_bytes()
    assert run("run", first, second, failing) == 1
    printed = capsys.readouterr().out
    assert "第 2 格" in printed
    assert "ZeroDivisionError" in printed
    assert failing.read_bytes() == before
    assert first.read_bytes() == second.read_bytes() != before
    assert faults(first) == []
    assert [path.name for path in failing.parent.iterdir()] == ["27.01-x.ipynb"]
    assert run("check", first, failing) == 1
    assert run("check", first) == 0
