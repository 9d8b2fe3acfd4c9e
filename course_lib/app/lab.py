"""Open the reader's notebooks in JupyterLab: ``python -m course_lib lab``."""

from __future__ import annotations

import argparse
import contextlib
import os
import secrets
import signal
import socket
from pathlib import Path
from typing import Final
from urllib.parse import quote

from .places import NOTEBOOKS, RUNTIME, WORK, use_own_places
from .workspace import prepare

START_PAGE: Final = "00-start.ipynb"
FIRST_PORT: Final = 8827  # not Jupyter's 8888: that one is left to the reader's other servers
PORTS_TRIED: Final = 50
HOST: Final = "127.0.0.1"


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``lab`` to a command line."""
    parser = commands.add_parser("lab", help="在浏览器里打开课程")
    parser.add_argument("--no-browser", action="store_true", help="只显示网址，不打开浏览器")
    parser.set_defaults(handle=handle)


def handle(options: argparse.Namespace) -> int:
    """Prepare the reader's copies, then serve them until Ctrl-C or until the terminal closes."""
    use_own_places()
    for sentence in prepare(shipped=NOTEBOOKS, work=WORK):
        print(sentence)
    trust_shipped(WORK)
    serve(open_browser=not options.no_browser)
    return 0


def trust_shipped(work: Path) -> None:
    """Sign the copies that still equal a shipped notebook, so that their stored pictures show at once."""
    import nbformat
    from nbformat.sign import NotebookNotary

    notary = NotebookNotary(data_dir=str(RUNTIME / "data"))  # type: ignore[no-untyped-call]
    for shipped in NOTEBOOKS.glob("*.ipynb"):
        content = shipped.read_text(encoding="utf-8")
        copy = work / shipped.name
        if copy.read_text(encoding="utf-8", errors="replace") == content:
            notebook = nbformat.reads(content, as_version=4)  # type: ignore[no-untyped-call]
            notary.sign(notebook)  # type: ignore[no-untyped-call]


def free_port() -> int:
    """Return the first port where nobody answers; 0 lets the system choose.

    Asked by connecting: on macOS and Windows a second server may bind a port that is in use.
    """
    for port in range(FIRST_PORT, FIRST_PORT + PORTS_TRIED):
        with socket.socket() as probe:
            probe.settimeout(1)
            if probe.connect_ex((HOST, port)) != 0:
                return port
    return 0


def server_options(
    *, token: str, open_browser: bool, root: Path = WORK, runtime: Path = RUNTIME, page: str = START_PAGE
) -> list[str]:
    """Return JupyterLab's options: own port and token, everything it keeps inside ``runtime``."""
    options = {
        "ServerApp.ip": HOST,
        "ServerApp.port": free_port(),
        "ServerApp.port_retries": PORTS_TRIED,
        "ServerApp.root_dir": root,
        "ServerApp.open_browser": open_browser,
        # The usual redirect file lies in a hidden folder, which a browser in a snap may not read.
        "ServerApp.use_redirect_file": False,
        "ServerApp.answer_yes": True,
        "ServerApp.allow_root": True,
        "Application.log_level": "ERROR",
        "ContentsManager.pre_save_hook": "course_lib.app.notebook_form.drop_widget_views",
        "IdentityProvider.token": token,
        # A system-wide Jupyter may set these; the course is opened by its token and at its own address.
        "PasswordIdentityProvider.hashed_password": "",
        "PasswordIdentityProvider.password_required": False,
        "ServerApp.base_url": "/",
        "ServerApp.certfile": "",
        "ServerApp.keyfile": "",
        "KernelSpecManager.allowed_kernelspecs": "python3",
        # Its search for language servers starts npm, which writes into the reader's home.
        "LanguageServerManager.autodetect": False,
        # ?reset: begin at the start page, not with every tab and kernel of last time.
        "LabApp.default_url": f"/lab/tree/{quote(page)}?reset",
        "LabApp.user_settings_dir": runtime / "settings",
        "LabApp.workspaces_dir": runtime / "workspaces",
        "LabApp.custom_css": True,  # stored pictures follow the dark theme too
        "LabApp.extension_manager": "readonly",
        "LabApp.check_for_updates_class": "jupyterlab.NeverCheckForUpdate",
        "LabApp.news_url": "None",
    }
    return [f"--{name}={value}" for name, value in options.items()]


def announce(address: str) -> None:
    """Tell the reader where the course is, and what keeps it there."""
    print(f"课程地址：{address}")
    print("请保持此窗口打开；学完后在这里按 Ctrl-C，课程和所有内核随之关闭。", flush=True)


def serve(*, open_browser: bool, root: Path = WORK, runtime: Path = RUNTIME, page: str = START_PAGE) -> None:
    """Run JupyterLab in this process until it is told to stop; its kernels end with it."""
    from jupyterlab.labapp import LabApp

    token = secrets.token_hex(24)
    options = server_options(token=token, open_browser=open_browser, root=root, runtime=runtime, page=page)
    server = LabApp.initialize_server(argv=options)
    if hasattr(signal, "SIGHUP"):  # a closing terminal: stop in the same orderly way as SIGTERM
        signal.signal(signal.SIGHUP, lambda *_: os.kill(os.getpid(), signal.SIGTERM))
    # Said from inside the loop: only then is the port bound and the address sure to answer.
    server.io_loop.add_callback(
        announce, f"http://{HOST}:{server.port}/lab/tree/{quote(page)}?reset&token={token}"
    )
    server.start()
    with contextlib.suppress(OSError):  # the terminal may be gone
        print("课程已关闭。", flush=True)
