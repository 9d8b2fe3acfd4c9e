"""The arrows of the house: who may import whom, read from the source, and what an import loads."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "course_lib"
GROUND = ("errors", "arguments")
# In the chapter's order: a module imports only modules before it, of its own section or of earlier ones.
SECTIONS = {
    "units": 1,
    "ledger": 2, "activations": 2, "models": 2, "lifetimes": 2, "step_ledger": 2,
    "precision": 3, "loss_scaling": 3,
    "accumulation": 4,
    "parallel": 5, "collectives": 5, "sharding": 5,
    "recompute": 6, "trainer": 6, "measuring": 6, "workers": 6, "vanishing": 6, "recovery": 6,
    "plan": 7,
}  # fmt: skip
HELPERS = ("arrays", "files")  # shared by number modules, imports only the ground
NUMBERS = (*GROUND, *HELPERS, *SECTIONS)
# They run; a prediction never looks at them.
MEASURED = ("trainer", "measuring", "workers", "vanishing", "recovery")
LAYERS = {  # besides itself and the numbers
    "exercises": {"exercises"},
    "show": {"show", "exercises"},
    "grading": {"grading", "show", "exercises"},
}
DRAWING = {"matplotlib", "ipywidgets", "IPython"}
FORBIDDEN_AT_IMPORT = ("matplotlib", "ipywidgets", "IPython")


def unit(path):
    """Return the top-level name below course_lib that a file belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path):
    """Yield the dotted names a file imports, relative ones resolved."""
    package = ["course_lib", *path.relative_to(PACKAGE).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *filter(None, [node.module])])
            yield from (f"{module}.{name.name}" for name in node.names)


def units_imported(path):
    return {
        name.split(".")[1]
        for name in imports(path)
        if name.startswith("course_lib.") and name.split(".")[1] != unit(path)
    }


def sources(*units):
    files = sorted(PACKAGE.rglob("*.py"))
    return [path for path in files if "__pycache__" not in path.parts and (not units or unit(path) in units)]


def forbidden(path):
    """Return the arrows out of a file that the house does not have."""
    me, targets = unit(path), units_imported(path)
    if me in GROUND or me in HELPERS:
        allowed = set(GROUND)
    elif me in SECTIONS:
        order = list(SECTIONS)
        allowed = {*GROUND, *HELPERS, *order[: order.index(me)]}
        if me not in MEASURED:
            allowed -= set(MEASURED)
        if me == "lifetimes":
            allowed -= {"recompute", "sharding"}
    else:
        allowed = {*NUMBERS, *LAYERS[me]}
    return targets - allowed


@pytest.mark.parametrize(
    "path",
    [path for path in sources() if unit(path) not in ("app", "__main__", "__init__")],
    ids=lambda path: path.relative_to(PACKAGE).as_posix(),
)
def test_every_arrow_is_one_of_the_house(path):
    assert unit(path) in (*NUMBERS, *LAYERS), "a new module needs a place in the house"
    assert not forbidden(path)


def test_nothing_imports_the_app():
    for path in sources():
        if unit(path) not in ("app", "__main__"):
            assert "app" not in units_imported(path), path


def test_only_show_draws():
    for path in sources():
        if unit(path) not in ("show", "app"):
            drawn = {name.split(".")[0] for name in imports(path)} & DRAWING
            assert not drawn, (path, drawn)


def test_a_wrong_arrow_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path)
    for name, text in {
        "units.py": "from .ledger import Row",
        "ledger.py": "from course_lib import sharding",
        "plan.py": "def late():\n    from .trainer import run",
        "accumulation.py": "import course_lib.plan",
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        assert forbidden(tmp_path / name), name


@pytest.mark.parametrize("name", [name for name in NUMBERS if list(PACKAGE.glob(f"{name}*"))])
def test_numbers_load_nothing_that_draws(name):
    code = f"import sys, course_lib.{name}; print(*[m for m in {FORBIDDEN_AT_IMPORT} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, encoding="utf-8")
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr
