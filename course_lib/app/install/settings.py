"""Which of the reader's settings an install sees: those that reach packages, not those that redirect it."""

from __future__ import annotations

import ast
import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from ..places import ROOT

# The others may send the install elsewhere (PIP_USER, PIP_TARGET, PIP_PYTHON, UV_SYSTEM_PYTHON ...), change
# what is installed, or skip the hashes.
_REACHES_PACKAGES: Final = re.compile(
    "PIP_(INDEX_URL|PYPI_URL|EXTRA_INDEX_URL|FIND_LINKS|NO_INDEX|PROXY|CERT|CLIENT_CERT|TRUSTED_HOST|TIMEOUT"
    "|DEFAULT_TIMEOUT|RETRIES|RESUME_RETRIES|CACHE_DIR|NO_CACHE_DIR|KEYRING_PROVIDER|USE_FEATURE|USE_DEPRECATED)"
    "|UV_(INDEX.*|DEFAULT_INDEX|EXTRA_INDEX_URL|FIND_LINKS|NO_INDEX|OFFLINE|INSECURE_HOST|KEYRING_PROVIDER"
    "|NATIVE_TLS|SYSTEM_CERTS|HTTP_.*|REQUEST_TIMEOUT|CACHE_DIR|NO_CACHE|CONCURRENT_.*|LINK_MODE"
    "|CONFIG_FILE|NO_CONFIG)"
)
# PYTHONPATH, PYTHONHOME and the like would mix another installation into ours.
_HARMLESS_PYTHON: Final = re.compile("PYTHON(IOENCODING|UNBUFFERED|DONTWRITEBYTECODE|PYCACHEPREFIX|HASHSEED)")


def clean_environment() -> dict[str, str]:
    """Return an environment for child processes in which nothing redirects an install or an import."""
    kept = {}
    for name, value in os.environ.items():
        rule = _REACHES_PACKAGES if name.startswith(("PIP_", "UV_")) else _HARMLESS_PYTHON
        if not name.startswith(("PIP_", "UV_", "PYTHON")) or rule.fullmatch(name):
            kept[name] = value
    return kept | {"PYTHONUTF8": "1", "PYTHONNOUSERSITE": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def pip_environment(pip: Sequence[str]) -> dict[str, str]:
    """Return a clean environment that repeats what pip's files say about reaching packages.

    ``PIP_CONFIG_FILE`` then names an empty file, so that a ``target`` or ``user`` in a file has no say.
    """
    environment = clean_environment()
    file = {name: value for name, value in os.environ.items() if name == "PIP_CONFIG_FILE"}
    listed = subprocess.run(
        [*pip, "config", "list"],
        env=environment | file,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )
    for name, value in _file_settings(listed.stdout):
        variable = "PIP_" + name.upper().replace("-", "_")
        if _REACHES_PACKAGES.fullmatch(variable):
            environment[variable] = os.environ.get(variable) or value
    return environment | {"PIP_CONFIG_FILE": os.devnull}


def _file_settings(listing: str) -> Iterator[tuple[str, str]]:
    """Yield name and value from ``pip config list``; the command's own section comes last and so counts."""
    for section in ("global.", "install."):
        for line in listing.splitlines():
            name, _, value = line.partition("=")
            if name.startswith(section):
                yield name.removeprefix(section), " ".join(str(ast.literal_eval(value)).split())


def uv_environment() -> dict[str, str]:
    """Return a clean environment in which uv, too, asks the mirror that was set for pip."""
    environment = clean_environment()
    mirror = environment.get("PIP_INDEX_URL")
    if mirror and not environment.keys() & {"UV_DEFAULT_INDEX", "UV_INDEX_URL"}:
        environment["UV_INDEX_URL"] = mirror
    return environment


def uv_is_redirected() -> bool:
    """Say whether a settings file has a [pip] table: its ``target`` beats every option we could give."""
    home = Path(os.path.expanduser("~"))
    folders = [
        os.environ.get("XDG_CONFIG_HOME") or home / ".config",
        os.environ.get("APPDATA") or home,
        os.environ.get("PROGRAMDATA") or "/etc",
        "/etc/xdg",
    ]
    files = [Path(folder, "uv", "uv.toml") for folder in folders]
    files.append(Path(os.environ.get("UV_CONFIG_FILE") or files[0]))
    files += [folder / name for folder in (ROOT, *ROOT.parents) for name in ("uv.toml", "pyproject.toml")]
    return any(_has_pip_table(file) for file in files)


def _has_pip_table(file: Path) -> bool:
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return re.search(r"^\s*(\[(tool\.uv\.)?pip\]|pip\s*[.=])", text, re.MULTILINE) is not None
