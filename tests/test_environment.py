"""One source of dependencies: the locks and the conda environment say the same as pyproject.toml."""

import re
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from rattler import MatchSpec

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCKS = ("requirements.lock", "requirements-test.lock")
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
PLATFORMS = (
    "x86_64-unknown-linux-gnu",
    "aarch64-unknown-linux-gnu",
    "x86_64-pc-windows-msvc",
    "aarch64-apple-darwin",
    "x86_64-apple-darwin",
)
# conda-forge's matplotlib adds a Qt window system to matplotlib-base, which is PyPI's matplotlib.
CONDA_NAMES = {"matplotlib-base": "matplotlib"}


def specifiers(text):
    return set(filter(None, text.split(",")))


def direct(*extras):
    texts = PROJECT["dependencies"] + [
        text for extra in extras for text in PROJECT["optional-dependencies"][extra]
    ]
    return {canonicalize_name(item.name): item for item in map(Requirement, texts)}


def entries(lock):
    """Return (requirement, number of hashes) for every entry of a lock."""
    text = (ROOT / lock).read_text(encoding="utf-8")
    for block in re.split(r"\n(?=\S)", text.strip()):
        lines = [line.strip().rstrip("\\").strip() for line in block.splitlines()]
        yield Requirement(lines[0]), sum(line.startswith("--hash=sha256:") for line in lines)


@pytest.mark.parametrize("lock", LOCKS)
def test_lock_pins_everything_with_hashes_and_names_no_host(lock):
    assert "//" not in (ROOT / lock).read_text(encoding="utf-8")
    for requirement, hashes in entries(lock):
        assert [clause.operator for clause in requirement.specifier] == ["=="], requirement
        assert hashes > 0, requirement


@pytest.mark.parametrize(("lock", "extras"), [(LOCKS[0], ("lock",)), (LOCKS[1], ("lock", "test"))])
def test_lock_holds_the_direct_dependencies_within_their_bounds(lock, extras):
    pinned = {}
    for requirement, _ in entries(lock):
        version = Version(next(iter(requirement.specifier)).version)
        pinned.setdefault(canonicalize_name(requirement.name), []).append(version)
    for name, wanted in direct(*extras).items():
        assert pinned[name], name
        assert all(wanted.specifier.contains(version) for version in pinned[name]), name


def test_readers_and_testers_get_the_same_versions():
    readers = {str(requirement) for requirement, _ in entries(LOCKS[0])}
    names = {Requirement(text).name for text in readers}
    testers = {str(requirement) for requirement, _ in entries(LOCKS[1]) if requirement.name in names}
    assert testers == readers


def conda_and_pip():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    assert environment["channels"] == ["conda-forge", "nodefaults"]
    listed = environment["dependencies"]
    conda = [MatchSpec(text, strict=True) for text in listed if isinstance(text, str)]
    (pip,) = (item["pip"] for item in listed if isinstance(item, dict))
    return conda, pip


def test_environment_yml_equals_pyproject():
    conda, pip = conda_and_pip()
    assert pip[-1] == "-e ."
    here = {spec.name.normalized: specifiers(str(spec.version or "")) for spec in conda}
    assert here.pop("python") == specifiers(PROJECT["requires-python"])
    assert here.pop("pip") == set()
    here = {CONDA_NAMES.get(name, name): bounds for name, bounds in here.items()}
    here |= {
        canonicalize_name(item.name): specifiers(str(item.specifier)) for item in map(Requirement, pip[:-1])
    }
    assert here == {name: specifiers(str(item.specifier)) for name, item in direct().items()}


@pytest.mark.network
@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("lock", LOCKS)
def test_lock_resolves_from_wheels_alone(lock, python, platform, tmp_path):
    uv = [sys.executable, "-m", "uv"] if find_spec("uv") else ["uv"]
    options = ["--dry-run", "--only-binary=:all:", "--require-hashes", "--target", str(tmp_path)]
    where = ["--python-version", python, "--python-platform", platform]
    done = subprocess.run(
        [*uv, "pip", "install", *options, *where, "-r", str(ROOT / lock)],
        capture_output=True,
        encoding="utf-8",
        errors="replace",
    )
    assert done.returncode == 0, done.stderr
