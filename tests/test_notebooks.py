"""The ten notebooks and the start page: form, promises to the reader, and the limits that must be said.

What cells compute is compared by nbval; ``test_nbval_notices_a_changed_output`` shows that it is awake.
Authors of notebooks find the rules here: one parametrised test each.
"""

import ast
import json
import re
import subprocess
import sys
from urllib.parse import unquote, urlsplit

import pytest

from course_lib.app.notebook_form import faults, normalise

from .claims import CLAIMS, COMPANION_ONLY, NOT_THE_BOOKS, Claim
from .reading import (
    FOLDER,
    START,
    cells,
    links,
    markdown,
    notebook_of,
    paragraphs,
    prose,
    section_of,
    source,
    stored,
    unlabelled,
)

TITLES = {
    "": "从这里开始",
    "27.1": "27.1 模型装得下，一步训练却未必装得下",
    "27.2": "27.2 持续保留的数组，以及运算之间的中间值",
    "27.3": "27.3 缩小数值表示，还要保住更新",
    "27.4": "27.4 几个小批次，可以共同决定一次更新",
    "27.5": "27.5 把数据、矩阵和层分给不同进程",
    "27.6": "27.6 省下激活后怎样重算，故障后怎样恢复",
    "27.7": "27.7 本章小结",
    "27.8": "27.8 习题",
    "27.9": "27.9 参考解答",
    "27.10": "27.10 参考文献",
}
WITHOUT_EXPLORER = {"", "27.8", "27.10"}
LONGEST_CELL = 12
HOSTS = {"arxiv.org", "doi.org", "creativecommons.org"}

each_notebook = pytest.mark.parametrize("path", stored(), ids=lambda path: path.stem)
told_claims = [claim for claim in CLAIMS if notebook_of(claim.section)]


def test_all_sections_present():
    assert [section_of(path) for path in stored()] == list(TITLES)


@each_notebook
def test_is_stored_executed_and_normal(path):
    assert faults(path) == []


@each_notebook
def test_name_sorts_by_section_and_is_ascii(path):
    assert path.name == START or re.fullmatch(r"27\.(0[1-9]|10)-[a-z0-9]+(-[a-z0-9]+)*\.ipynb", path.name)


@each_notebook
def test_begins_with_the_title(path):
    assert markdown(path)[0].startswith(f"# {TITLES[section_of(path)]}")
    assert json.loads(path.read_text(encoding="utf-8"))["cells"][0]["cell_type"] == "markdown"


@each_notebook
def test_prose_is_chinese(path):
    words = prose("\n".join(markdown(path)))
    chinese = len(re.findall(r"[一-鿿]", words))
    assert chinese >= 150
    assert chinese > len(re.findall(r"[A-Za-z]", words))


@each_notebook
def test_code_cells_are_short_plain_python(path):
    for cell in cells(path, "code"):
        tree = ast.parse(source(cell), filename=cell["id"])  # magics and shell lines fail here
        assert not awaits(tree), f"{cell['id']} awaits at top level: sliders would freeze"
        assert sum(bool(line.strip()) for line in source(cell).splitlines()) <= LONGEST_CELL, cell["id"]


def awaits(tree: ast.AST) -> bool:
    """True if code outside of functions waits for something."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue
        if isinstance(node, (ast.Await, ast.AsyncFor, ast.AsyncWith)) or getattr(node, "is_async", 0):
            return True
        if awaits(node):
            return True
    return False


def pictures(path):
    outputs = [
        output["data"] for cell in cells(path, "code") for output in cell["outputs"] if "data" in output
    ]
    return ["".join(data.get("text/plain", "")) for data in outputs if "image/png" in data]


@each_notebook
def test_has_an_explorer_whose_stored_form_is_complete(path):
    """A stored explorer is a picture beside a text of the same facts; nbval compares the text."""
    texts = pictures(path)
    assert texts or section_of(path) in WITHOUT_EXPLORER
    for text in texts:
        assert re.search(r"[一-鿿]", text), f"a picture without words: {text!r}"


@each_notebook
def test_links_lead_somewhere(path):
    for link in links("\n".join(markdown(path))):
        parts = urlsplit(link)
        if parts.netloc:
            assert parts.netloc in HOSTS, link
        elif parts.path:
            assert (FOLDER / unquote(parts.path)).is_file(), link


@each_notebook
def test_reader_finds_the_way(path):
    """The start page links to every section, a section to the start page and to the next section."""
    linked = {unquote(urlsplit(link).path) for link in links("\n".join(markdown(path)))}
    names = [other.name for other in stored()]
    later = names[names.index(path.name) + 1 :]
    assert set(later if path.name == START else [START, *later[:1]]) & set(names) <= linked


@each_notebook
def test_names_no_address_and_no_foreign_place(path):
    text = path.read_text(encoding="utf-8")
    hosts = {urlsplit(url).netloc for url in re.findall(r"https?://[^\s\"\\)>]+", text)}
    assert hosts <= HOSTS
    assert not re.search(r"/(?:home|root|tmp|work|Users)/", text)


@each_notebook
def test_what_the_companion_adds_is_labelled(path):
    assert unlabelled(markdown(path), COMPANION_ONLY) == []
    assert not NOT_THE_BOOKS.search("\n".join(markdown(path)))


@pytest.mark.parametrize("claim", told_claims, ids=lambda claim: claim.key)
def test_limit_is_said_where_it_belongs(claim: Claim):
    said = [part for text in markdown(notebook_of(claim.section)) for part in paragraphs(text)]
    assert any(claim.said_in(part) for part in said), f"{claim.section} must say: {claim.example}"


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.key)
def test_claim_needs_every_term(claim: Claim):
    assert claim.section in TITLES
    assert claim.said_in(claim.example)
    for term in claim.terms:
        assert not claim.said_in(re.sub(term, "", claim.example)), term


def test_claim_is_not_pieced_together_from_two_paragraphs():
    claim = next(claim for claim in CLAIMS if claim.key == "twelve-ms-is-a-lower-bound")
    assert not any(map(claim.said_in, paragraphs("12 ms 是下界。\n\n延迟与争用另算。")))
    assert not any(map(claim.said_in, paragraphs("- 12 ms 是下界\n- 延迟与争用另算")))


def test_label_reaches_to_the_next_heading_of_its_level():
    assert unlabelled(["### 配套补充：别的模型", "GPT-3 有 96 层。"], COMPANION_ONLY) == []
    assert unlabelled(["### 配套补充", "#### GPT-3", "### 书中的表", "Llama 3"], COMPANION_ONLY) == ["Llama"]
    assert unlabelled(["GPT-2 有 12 层。"], COMPANION_ONLY) == ["GPT-2"]


@pytest.mark.parametrize(
    ("code", "waits"),
    [
        ("await f()", True),
        ("if x:\n    async with y: pass", True),
        ("[a async for a in b]", True),
        ("async def f():\n    await g()", False),
        ("x = 1", False),
    ],
)
def test_top_level_await_is_seen(code, waits):
    assert awaits(ast.parse(code)) is waits


def code_cell(code, *outputs):
    return {
        "cell_type": "code",
        "execution_count": 1,
        "metadata": {},
        "outputs": list(outputs),
        "source": code,
    }


def shown(text, **data):
    return {"data": {"text/plain": text, **data}, "metadata": {}, "output_type": "display_data"}


def test_nbval_notices_a_changed_output(tmp_path):
    """Two right cells pass, a wrong number and a wrong text beside a picture fail: nbval is awake."""
    picture = (
        "from IPython.display import display; display({'image/png': 'AA==', 'text/plain': '7 MB'}, raw=True)"
    )
    right = {"execution_count": 1, **shown("4"), "output_type": "execute_result"}
    wrong = {"execution_count": 1, **shown("5"), "output_type": "execute_result"}
    notebook = {
        "cells": [
            code_cell("2 + 2", right),
            code_cell("2 + 2", wrong),
            code_cell(picture, shown("7 MB", **{"image/png": "BB=="})),
            code_cell(picture, shown("16 MB", **{"image/png": "AA=="})),
        ],
        "metadata": {},
    }
    (tmp_path / "tiny.ipynb").write_text(normalise(notebook, stem="tiny"), encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--nbval",
        "--nbval-current-env",
        "-p",
        "no:cacheprovider",
        "-q",
        "-rA",
    ]
    result = subprocess.run(
        [*command, "tiny.ipynb"], cwd=tmp_path, capture_output=True, text=True, encoding="utf-8"
    )
    verdicts = re.findall(r"^(PASSED|FAILED) tiny.ipynb::Cell (\d)", result.stdout, flags=re.M)
    assert sorted(verdicts, key=lambda verdict: verdict[1]) == [
        ("PASSED", "0"),
        ("FAILED", "1"),
        ("PASSED", "2"),
        ("FAILED", "3"),
    ], result.stdout
