"""Submissions that never end, end too early, or fail."""

from __future__ import annotations

from typing import Final

from tests.hostile.case import ONE, R1, attack, every, lost, since
from tests.submissions import RIGHT

CASES: Final = (
    attack("endless", "死循环，而且先把答案填好", R1 + "\nwhile True:\n    pass", lost({ONE: "timeout"})),
    attack("sleeping", "一直睡", "import time\ntime.sleep(10**6)\n" + R1, lost({ONE: "timeout"})),
    attack(
        "sigint-ignored", "死循环，不理会中断", """
            import signal
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            while True:
                pass
        """, since(ONE, "timeout", "after-timeout"), first=R1,
    ),
    attack(
        "sigint-swallowed", "接住中断，接着循环", """
            while True:
                try:
                    while True:
                        pass
                except BaseException:
                    pass
        """, since(ONE, "timeout", "after-timeout"),
    ),
    attack(
        "in-c", "停在不看中断的 C 代码里", "activation_bytes = sum(range(10**13))",
        since(ONE, "timeout", "after-timeout"),
    ),
    attack(
        "stopped", "让自己的内核暂停", "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)\n" + R1,
        since(ONE, "timeout", "after-timeout"),
    ),
    attack("fifo", "读一根没有人写的管道",
            "import os\nos.mkfifo('pipe')\nactivation_bytes = open('pipe').read()", lost({ONE: "timeout"})),
    attack("os-exit", "os._exit", "import os\nos._exit(0)", every("died")),
    attack(
        "killed-later", "做到第三题，杀掉自己的内核", R1, since("3", "died"),
        ex3=RIGHT["3"] + "\nimport os\nos.kill(os.getpid(), 9)",
    ),
    attack("segfault", "读空指针", "import ctypes\nctypes.string_at(0)\n" + R1, every("died")),
    attack(
        "alarm", "闹钟在做下一题时响", R1 + "\nimport signal\nsignal.setitimer(signal.ITIMER_REAL, 1)",
        since("2", "died"), ex2="import time\ntime.sleep(15)\n" + RIGHT["2"],
    ),
    attack("quit", "sys.exit，先把答案填好", R1 + "\nimport sys\nsys.exit(0)", lost({ONE: "error"})),
    attack("input", "等人输入", R1 + "\ninput('?')", lost({ONE: "error"})),
    attack(
        "recursion", "没有尽头的递归", "def deeper():\n    return deeper()\nactivation_bytes = deeper()",
        lost({ONE: "error"}),
    ),
    attack("syntax", "语法错误", R1 + "\nif True", lost({ONE: "error"})),
    attack(
        "killed-parent", "杀掉父进程", """
            import os, time
            for parent in (os.getppid(), 1):
                try:
                    os.kill(parent, 9)
                except OSError:
                    pass
            time.sleep(1)
            os.kill(os.getpid(), 9)
        """, first=R1, verdicts=every("died"), walls=True,
    ),
    attack(
        "kill-all", "杀掉看得见的一切进程", """
            import os, time
            for pid in (-1, 0):
                try:
                    os.kill(pid, 9)
                except OSError:
                    pass
            time.sleep(1)
            os.kill(os.getpid(), 9)
        """, every("died"), walls=True,
    ),
)  # fmt: skip
