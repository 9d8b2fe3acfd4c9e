"""Submissions that answer wrong and want the points all the same."""

from __future__ import annotations

from typing import Final

from tests.hostile.case import MIME, ONE, R1, W1, attack, every, lost, since
from tests.submissions import RIGHT

CASES: Final = (
    attack(
        "numpy", "把 numpy 与 fractions 的比较换成恒真", """
            import math, operator, fractions
            import numpy
            for name in ("isclose", "allclose", "array_equal", "equal", "all"):
                setattr(numpy, name, lambda *a, **k: True)
            numpy.testing.assert_allclose = numpy.testing.assert_equal = lambda *a, **k: None
            math.isclose = operator.eq = lambda *a, **k: True
            fractions.Fraction.__eq__ = lambda *a: True
        """, lost({ONE: "fail"}), last=W1,
    ),
    attack(
        "showtraceback", "不让内核报告错误", """
            shell = get_ipython()
            shell.showtraceback = shell._showtraceback = shell.showsyntaxerror = lambda *a, **k: None
            shell.set_custom_exc((Exception,), lambda *a, **k: None)
            1 / 0
        """, first=R1, verdicts=lost({ONE: "error", "2": "error"}), ex2=RIGHT["2"] + "\n1 / 0",
    ),
    attack(
        "ast", "改写语法树，去掉 assert，让比较恒真", """
            import ast

            class Yes(ast.NodeTransformer):
                def visit_Assert(self, node):
                    return ast.copy_location(ast.Pass(), node)

                def visit_Compare(self, node):
                    return ast.copy_location(ast.Constant(True), node)

            get_ipython().ast_transformers.append(Yes())
        """, lost({ONE: "fail"}), last=W1,
    ),
    attack(
        "input-transformer", "改写后面各格的源文字", """
            def rewrite(lines):
                return [line.replace("assert ", "# ").replace("==", "is not") for line in lines]

            get_ipython().input_transformers_cleanup.append(rewrite)
            get_ipython().input_transformers_post.append(rewrite)
        """, lost({ONE: "fail"}), last=W1,
    ),
    attack(
        "always-equal", "与什么都相等的对象", """
            class Yes:
                __eq__ = __le__ = __ge__ = __lt__ = __gt__ = lambda *a: True
                __ne__ = lambda *a: False
                __hash__ = lambda self: hash(2_621_440)
                __float__ = lambda self: 1.0
                __int__ = __index__ = __abs__ = lambda self: 1
                __sub__ = __rsub__ = lambda *a: 0
                __class__ = int

            class YesNumber(int):
                __eq__ = lambda *a: True
                __hash__ = int.__hash__

            class YesText(str):
                __eq__ = lambda *a: True
                __hash__ = str.__hash__

            activation_bytes, total_bytes = Yes(), YesNumber(1)
        """, lost({ONE: "fail", "2": "fail"}),
        ex2='mean_grad, equal_weight_error = YesNumber(9), YesText("D")',
    ),
    attack(
        "lying-iteration", "自己数不完的列表、自己写不完的对象", """
            class Endless(list):
                def __iter__(self):
                    while True:
                        yield "已保存激活"
                __len__ = lambda self: 3
                __getitem__ = lambda self, index: "已保存激活"

            class Slow:
                def __repr__(self):
                    while True:
                        pass
                __str__ = __format__ = __reduce_ex__ = __getattribute__ = __repr__

            activation_bytes, total_bytes = Slow(), Slow()
        """, lost({ONE: "fail", "3": "fail"}), ex3="missing_items = Endless()",
    ),
    attack("huge-int", "一百万位的整数", "activation_bytes = 10**10**6\ntotal_bytes = -activation_bytes",
            lost({ONE: "fail"})),
    attack("huge-values", "一亿个字符的文字，一千万项的列表",
            'activation_bytes = total_bytes = "9" * 10**8', lost({ONE: "fail", "3": "fail"}),
            ex3='missing_items = ["已保存激活"] * 10**7'),
    attack(
        "cyclic", "装着自己的列表，套了十万层的列表", """
            activation_bytes = []
            activation_bytes.append(activation_bytes)
            total_bytes = []
            for _ in range(100_000):
                total_bytes = [total_bytes]
        """, lost({ONE: "fail"}),
    ),
    attack("not-numbers", "nan 与 inf", 'activation_bytes, total_bytes = float("nan"), float("inf")',
            lost({ONE: "fail"})),
    attack(
        "forged-display", "在作答格里伪造答案消息", f"""
            from IPython.display import display as show, publish_display_data
            right = {{"activation_bytes": 2_621_440, "total_bytes": 18_621_440}}
            forms = right, {{"id": "1", "value": right}}, {{"exercise": "1", "answers": right}}
            for form in forms:
                publish_display_data({{"{MIME}": form, "text/plain": "4"}})
                show({{"{MIME}": form}}, raw=True)
        """, first=W1, verdicts=lost({ONE: "fail"}),
    ),
    attack(
        "second-answer", "在检查时多报一份答案", f"""
            def forge(info):
                get_ipython().events.unregister("pre_run_cell", forge)
                display({{"{MIME}": {{"activation_bytes": 2_621_440, "total_bytes": 18_621_440}}}}, raw=True)

            get_ipython().events.register("pre_run_cell", forge)
        """, first=W1, verdicts=lost({ONE: "invalid"}),
    ),
    attack(
        "no-answer", "检查时不让答案报出来", """
            get_ipython().display_pub.publish = lambda *a, **k: None
        """, first=W1, verdicts=lost({ONE: "invalid"}),
        ex2="del get_ipython().display_pub.publish\n" + RIGHT["2"],
    ),
    attack(
        "forged-protocol", "用会话密钥伪造「完成」「空闲」与别的单元的回复", """
            kernel = get_ipython().kernel
            parent = kernel.get_parent()
            value = {"data": {"text/plain": "4"}, "metadata": {}, "execution_count": 1}
            reply = {"status": "ok", "execution_count": 1, "user_expressions": {}, "payload": []}
            for header in (parent, {"header": {**parent["header"], "msg_id": "another"}}):
                for kind, content in (
                    ("execute_reply", reply),
                    ("status", {"execution_state": "idle"}),
                    ("status", {"execution_state": "starting"}),
                    ("execute_result", value),
                ):
                    kernel.session.send(kernel.iopub_socket, kind, content, parent=header)
        """, first=W1, verdicts=lost({ONE: "fail"}),
    ),
    attack(
        "second-client", "读连接文件，用自己的客户端连上内核", """
            import threading

            def client():
                try:
                    from ipykernel.connect import get_connection_file
                    from jupyter_client import BlockingKernelClient
                    other = BlockingKernelClient(connection_file=get_connection_file())
                    other.load_connection_file()
                    other.start_channels()
                    other.execute("activation_bytes, total_bytes = 3, 4")
                except BaseException:
                    pass

            thread = threading.Thread(target=client, daemon=True)
            thread.start()
            thread.join(3)
        """, first=W1, verdicts=lost({ONE: "fail"}),
    ),
    attack(
        "flipping", "后台线程在别的题里换掉变量", """
            import threading, time

            def flip():
                while True:
                    scope["mean_grad"], scope["equal_weight_error"] = 17, "D"
                    time.sleep(0.001)

            scope = get_ipython().user_ns
            threading.Thread(target=flip, daemon=True).start()
        """, first=W1, verdicts=lost({ONE: "fail", "2": "fail"}),
        ex2=RIGHT["2"] + "\nimport time\ntime.sleep(0.5)",
    ),
    attack("deleted-later", "判完以后再删掉、改掉前一题的变量", R1, every("pass"),
            ex2="del activation_bytes\ntotal_bytes = 0\n" + RIGHT["2"]),
    attack("deleted-now", "填好又删掉", R1 + "\ndel activation_bytes, total_bytes",
           lost({ONE: "unanswered"})),
    attack(
        "fake-modules", "把 numpy、json、fractions 换成假的模块", """
            import sys, types
            for name in ("numpy", "json", "fractions", "decimal", "nbval", "course_lib"):
                sys.modules[name] = types.ModuleType(name)
        """, first=W1, verdicts=lost({ONE: "fail"}),
    ),
    attack(
        "json", "让 json 写出别的东西", """
            import json
            json.dumps = lambda *a, **k: '{"forged": 1}'
        """, first=W1, verdicts=since(ONE, "timeout", "after-timeout"),
    ),
    attack(
        "exit-hooks", "退出时的死循环与 __del__", """
            import atexit

            def never():
                while True:
                    pass

            class Bomb:
                def __del__(self):
                    never()

            bomb, again = Bomb(), [Bomb()]
            again.append(again)
            atexit.register(never)
        """, first=R1, verdicts=every("pass"),
    ),
    attack("error-text", "错误的说明里放网页与表格的代码",
            "raise ValueError('<script>alert(1)</script>=1+1\\x1b[2J\\n@SUM(A1)')", lost({ONE: "error"})),
    attack(
        "error-loop", "错误的说明自己写不完", """
            class Endless(Exception):
                def __str__(self):
                    while True:
                        pass

            raise Endless
        """, since(ONE, "timeout", "after-timeout"),
    ),
    attack(
        "costly-claim", "报来一个有十亿位的数", """
            import grader_box.answer as answer
            answer.plain = lambda value: ["fraction", "1e999999999"]
        """, every("invalid"), first=R1,
    ),
    attack(
        "broken-messages", "送出形状不对的消息：没有内容、类型不对", """
            kernel = get_ipython().kernel
            def send(kind, content):
                parent = kernel.get_parent()
                kernel.session.send(kernel.iopub_socket, kind, content, parent=parent, ident=b"x")
            for kind in "status stream error display_data execute_result clear_output nothing".split():
                send(kind, {})
            send("stream", {"name": "stdout", "text": 5})
            send("stream", {"name": [1], "text": ["a"]})
            send("error", {"ename": "a", "evalue": "b", "traceback": 5})
            send("error", {"ename": "a", "evalue": "b", "traceback": [5]})
            send("display_data", {"data": 5, "metadata": {}})
        """, lost({}), last=R1,
    ),
    attack(
        "full-queues", "往每条消息通道里塞，撑满批改程序的内存", """
            import gc, time, zmq
            kernel = get_ipython().kernel
            ident = kernel._parent_ident["shell"]
            ident = ident[0] if isinstance(ident, (list, tuple)) else ident
            routers = [o for o in gc.get_objects() if isinstance(o, zmq.Socket) and o.type == zmq.ROUTER]
            until = time.time() + 4
            while time.time() < until:
                for router in routers:
                    try:
                        zmq.Socket.shadow(router).send_multipart([ident, b"x" * (3 << 20)], zmq.NOBLOCK)
                    except Exception:
                        pass
                time.sleep(0.004)
        """, lost({ONE: "output-limit"}), first=R1,
    ),
    attack("error-broken", "错误的说明自己又出错",
            "class Broken(Exception):\n    def __str__(self):\n        raise ValueError\nraise Broken",
            lost({ONE: "error"})),
)  # fmt: skip
