"""The glossary: readable by machine, true to the code, and kept by the notebooks."""

import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from .reading import markdown, prose, stored

GLOSSARY = Path(__file__).resolve().parents[1] / "docs" / "glossary.md"
TERM_COLUMNS = ("术语", "English", "代码里", "意思")
RIVAL_COLUMNS = ("用", "不用")


def rows(columns):
    """The rows of every table of the glossary that has these columns."""
    found, inside = [], False
    for line in GLOSSARY.read_text(encoding="utf-8").splitlines():
        fields = tuple(field.strip() for field in line.strip("|").split("|")) if line.startswith("|") else ()
        if fields == columns:
            inside = True
        elif not fields:
            inside = False
        elif inside and not set(line) <= set("|- "):
            assert len(fields) == len(columns), line
            found.append(fields)
    return found


TERMS = rows(TERM_COLUMNS)
RIVALS = rows(RIVAL_COLUMNS)
NAMES = [name for _, _, code, _ in TERMS for name in re.findall(r"`([^`]+)`", code)]


def titles_dropped(text):
    """Markdown without its headings and link texts: titles of the book are quoted as they are."""
    return re.sub(r"^#.*$|\[[^\]]*\]\(", " ", text, flags=re.M)


def forbidden(text):
    rivals = [rival for _, rivals in RIVALS for rival in rivals.split("、")]
    return [rival for rival in rivals if rival in prose(titles_dropped(text))]


def test_about_sixty_terms_each_with_all_its_fields():
    assert 50 <= len(TERMS) <= 80
    for term, english, code, meaning in TERMS:
        assert all((term, english, meaning)), term
        assert code == "—" or re.fullmatch(r"`[\w.]+`(, `[\w.]+`)*", code), term
        assert re.search(r"[一-鿿]", meaning), term
        assert english.isascii(), term


def test_terms_and_code_names_are_unique():
    for column in (0, 1):
        values = [row[column] for row in TERMS]
        assert len(values) == len(set(values))
    assert len(NAMES) == len(set(NAMES))


@pytest.mark.parametrize("name", NAMES)
def test_code_name_exists(name):
    module, *path = name.split(".")
    assert find_spec(f"course_lib.{module}"), module
    value = import_module(f"course_lib.{module}")
    for part in path:
        value = getattr(value, part)


def test_preferred_words_are_terms_and_no_rival_is():
    terms = {term for row in TERMS for term in (row[0], *row[0].split("、"))}
    for word, rivals in RIVALS:
        assert set(word.split("、")) <= terms, word
        assert not set(rivals.split("、")) & terms, rivals
        assert not [rival for rival in rivals.split("、") if rival in word], word


def test_rivals_are_seen_outside_of_titles_and_code():
    assert forbidden("把小批次加倍") == ["小批次"]
    assert forbidden("# 27.4 几个小批次，可以共同决定一次更新\n\n见 [几个小批次](27.04-x.ipynb)") == []
    assert forbidden("`小批次`") == []


@pytest.mark.parametrize("path", stored(), ids=lambda path: path.stem)
def test_notebook_keeps_to_the_words(path):
    assert forbidden("\n\n".join(markdown(path))) == []
