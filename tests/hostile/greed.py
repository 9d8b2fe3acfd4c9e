"""Submissions that take memory, disk, processes, or say too much."""

from __future__ import annotations

from typing import Final

from tests.hostile.case import ONE, R1, attack, every, lost
from tests.submissions import RIGHT

CASES: Final = (
    attack(
        "fork-bomb", "不停地生出进程，最后杀掉自己的内核", """
            import os, signal, time
            me, until = os.getpid(), time.time() + 2
            while os.getpid() != me or time.time() < until:
                try:
                    os.fork()
                except OSError:
                    pass
            os.kill(me, signal.SIGKILL)
        """, every("died"), walls=True,
    ),
    attack(
        "threads", "开一万个线程", """
            import threading, time
            for _ in range(10_000):
                threading.Thread(target=time.sleep, args=(10**6,), daemon=True).start()
        """, lost({ONE: "error"}), walls=True,
    ),
    attack("memory", "一下子要 8 GB 内存", "block = bytearray(8 << 30)\n" + R1,
            lost({ONE: "error"}), walls=True),
    attack(
        "memory-processes", "二十个进程各占 400 MB 内存", """
            import os, time
            for _ in range(20):
                if os.fork() == 0:
                    block = bytearray(b"x") * (400 << 20)
                    time.sleep(10**6)
            time.sleep(10**6)
        """, every("died"), walls=True,
    ),
    attack(
        "memory-shared", "在 /dev/shm 与 memfd 里堆 8 GB", """
            import os
            try:
                where = os.memfd_create("x")
            except OSError:
                where = os.open("/dev/shm/x", os.O_CREAT | os.O_RDWR)
            for _ in range(8 << 10):
                os.write(where, b"x" * (1 << 20))
        """, lost({ONE: "error"}), walls=True,
    ),
    attack(
        "disk-file", "写一个 5 GB 的文件", """
            with open("big", "wb") as big:
                for _ in range(5 << 10):
                    big.write(b"x" * (1 << 20))
        """, lost({ONE: "error"}), walls=True,
    ),
    attack(
        "disk-files", "写许多文件，共 5 GB", """
            import tempfile
            for number in range(250):
                with tempfile.NamedTemporaryFile(delete=False) as part:
                    for _ in range(20):
                        part.write(b"x" * (1 << 20))
        """, lost({ONE: "error"}), walls=True,
    ),
    attack(
        "inodes", "写一千万个空文件", """
            import os
            for number in range(10_000_000):
                os.close(os.open(f"empty-{number}", os.O_CREAT | os.O_WRONLY))
        """, lost({ONE: "error"}), walls=True,
    ),
    attack("long-lines", "输出 200 MB，每行 1 MB",
            R1 + '\nfor _ in range(200):\n    print("x" * 1_000_000)', lost({ONE: "output-limit"})),
    attack("short-lines", "输出 200 MB，每行 10 个字符",
            R1 + '\nfor _ in range(20_000_000):\n    print("012345678")', lost({ONE: "output-limit"})),
    attack("one-value", "最后一个值写出来有 50 MB", R1 + '\n"x" * 50_000_000', lost({ONE: "output-limit"})),
    attack("one-error", "错误的说明有 50 MB", R1 + '\nraise ValueError("x" * 50_000_000)',
            lost({ONE: "output-limit"})),
    attack(
        "flood", "后台线程不停地输出", """
            import threading, time

            def flood():
                while True:
                    print("x" * 100_000)
                    time.sleep(0.001)

            threading.Thread(target=flood, daemon=True).start()
            time.sleep(10**6)
        """, first=R1, verdicts=lost({ONE: "output-limit"}),
    ),
    attack(
        "chatter", "后台线程时时输出一点", """
            import threading, time

            def chatter():
                while True:
                    print("还在")
                    time.sleep(0.02)

            threading.Thread(target=chatter, daemon=True).start()
        """, first=R1, verdicts=every("pass"), ex2="import time\ntime.sleep(0.5)\n" + RIGHT["2"],
    ),
    attack("many-messages", "三千条小输出，一条也不能让答案丢失",
            "for number in range(3_000):\n    display(number)\n" + R1, every("pass")),
    attack(
        "raw-output", "绕过内核，直接写 2 MB 到标准输出与标准错误", """
            import os
            for _ in range(20):
                os.write(1, b"x" * 50_000)
                os.write(2, b"y" * 50_000)
        """, every("pass"), last=R1,
    ),
    attack("closed-output", "关掉标准输出与标准错误", "import os\nos.close(1)\nos.close(2)\n" + R1,
           every("pass")),
)  # fmt: skip
