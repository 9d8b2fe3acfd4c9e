"""Where the course keeps what it writes: everything inside its own folder, nothing in the reader's home."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
NOTEBOOKS: Final = ROOT / "notebooks"
WORK: Final = ROOT / "work"
RUNTIME: Final = ROOT / ".runtime"
_SHIPPED: Final = {"jupyter": "config", "ipython": "ipython"}

# Settings of other installations that change how Jupyter, kernels or pictures behave.
_FOREIGN: Final = ("JUPYTER", "IPYTHON", "MPL", "MATPLOTLIB", "PYDEVD", "JPY_")


def use_own_places(runtime: Path | None = None) -> None:
    """Point this process and all its children to folders below ``runtime``, made where missing.

    Called anew at every start, so that a renamed course folder needs no repair. Our settings are copied
    fresh, as Jupyter writes beside them. (``JUPYTER_NO_CONFIG`` would put an empty folder in their place.)
    """
    runtime = runtime or RUNTIME
    for name in [name for name in os.environ if name.startswith(_FOREIGN)]:
        del os.environ[name]
    places = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "run",
        "IPYTHONDIR": "ipython",
        "MPLCONFIGDIR": "matplotlib",
    }
    for name, folder in places.items():
        (runtime / folder).mkdir(parents=True, exist_ok=True)
        os.environ[name] = str(runtime / folder)
    for shipped, folder in _SHIPPED.items():
        shutil.copytree(Path(__file__).parent / shipped, runtime / folder, dirs_exist_ok=True)
    others = [
        part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part not in ("", str(ROOT))
    ]
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), *others])
