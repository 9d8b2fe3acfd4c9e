"""What the chapter does not claim, and in which notebook a reader must be told so.


``COMPANION_ONLY`` are names the chapter never mentions: a markdown cell that uses one must say 配套 itself or
stand under a heading that says 配套 (配套补充 for other people's numbers, 配套实测 for our own measurements).
``NOT_THE_BOOKS`` are phrases that would put our own measurements into the book's mouth; they stand nowhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

NEGATED = "不|没|未|并非|无法"


@dataclass(frozen=True)
class Claim:
    """One limit of the chapter: ``terms`` are regular expressions that must share one paragraph."""

    key: str
    section: str
    terms: tuple[str, ...]
    example: str

    def said_in(self, paragraph: str) -> bool:
        """True if the paragraph contains every term."""
        return all(re.search(term, paragraph) for term in self.terms)


CLAIMS = (
    Claim(
        "no-industrial-cluster",
        "27.1",
        ("工业", "集群", NEGATED),
        "这里从头到尾只做纸面推算与 CPU 小例，没有任何一个数字出自工业集群。",
    ),
    Claim(
        "mg2-other-ledger",
        "27.1",
        ("MG-2", "float64", "混合精度", NEGATED),
        "前文的 MG-2 全程使用 float64，所以它占多少内存，不能拿这里的混合精度账本去算。",
    ),
    Claim(
        "margin-is-a-plan",
        "27.2",
        ("余量", "规划|计划", "峰值", NEGATED),
        "25% 的余量是规划时留出的，没有谁测过；它不是实际运行的峰值。",
    ),
    Claim(
        "ten-arrays-is-an-assumption",
        "27.2",
        ("注意力分数", "嵌入", "logits", "工作区", "通信缓冲", "碎片", NEGATED),
        "账上没有的：注意力分数、嵌入、logits、临时工作区、通信缓冲区、内存碎片。",
    ),
    Claim(
        "mg2-no-loss-scaling",
        "27.3",
        ("MG-2", "损失缩放", NEGATED),
        "MG-2 没有 FP16 的损失缩放，只演示更新的先后。",
    ),
    Claim(
        "lost-before-scaling",
        "27.3",
        ("缩放", "之前|以前", "丢|变成零|归零", NEGATED),
        "在缩放以前就归零的梯度，乘多大的倍数也救不回来，不能指望缩放。",
    ),
    Claim(
        "accumulation-adds-no-devices",
        "27.4",
        ("累积", "设备", NEGATED),
        "梯度累积省的是内存：算术一步不少，设备也没有变多。",
    ),
    Claim(
        "four-boxes-not-four-times",
        "27.5",
        ("四个方框|四个框|4 个方框|4 个框", "四倍|4 倍", NEGATED),
        "画出四个框，不等于快了四倍。",
    ),
    Claim(
        "one-arrangement-one-number",
        "27.5",
        ("安排|方案", "数字|数值", "另一", NEGATED),
        "7、5.5、4 MB 各属一种安排，一种安排的数字不可填进另一种。",
    ),
    Claim(
        "schedule-says-when-to-update",
        "27.5",
        ("调度", "何时|什么时候|哪一刻", "更新", "必须|要写明|须"),
        "一份调度必须写明权重在哪一刻更新，否则它的含义不完整。",
    ),
    Claim(
        "lasting-share-is-not-the-peak",
        "27.5",
        ("临时", "收集", "峰值"),
        "4 MB 只是长期份额：算到某一层要临时收集权重，峰值比它高。",
    ),
    Claim(
        "twelve-ms-is-a-lower-bound",
        "27.5",
        ("12 ms", "下界|下限", "延迟", "争用"),
        "12 ms 只是下界：延迟与争用一概没有计入。",
    ),
    Claim(
        "recompute-leaves-the-table",
        "27.6",
        ("重算", "表 27.1", "不变|不减|没有变|不会变|不动"),
        "重算只动激活，表 27.1 的每一行都不变。",
    ),
    Claim(
        "weights-are-not-a-run",
        "27.6",
        ("权重文件", "恢复|接着训练|续训", "不够|不等于|不足|不能"),
        "权重文件读得进来，不等于这次训练能恢复。",
    ),
    Claim(
        "bit-equality-needs-evidence",
        "27.6",
        ("逐位", "硬件|机器", "证据|证明|举证", NEGATED),
        "换了机器或软件还能不能逐位一致，这里没有证据，需要单独证明。",
    ),
    Claim(
        "no-distributed-recovery",
        "27.6",
        ("分布式", "恢复", "实验", NEGATED),
        "分布式恢复的实验，书的这一部分没有新做，这里也不声称做过。",
    ),
    Claim(
        "estimate-is-not-capability",
        "27.7",
        ("估算|账本", "工业", "能力", NEGATED),
        "账本写得再全，也不说明具备了工业规模训练的能力。",
    ),
    Claim(
        "fits-is-not-fast",
        "27.9",
        ("放得下|装得下", "快", NEGATED),
        "装得下是一回事，每步更快是另一回事，重算不能同时保证两者。",
    ),
    Claim(
        "papers-speed-is-not-ours",
        "27.10",
        ("论文", "集群|性能", "测", NEGATED),
        "论文里的集群性能是论文的，不是这里测出来的。",
    ),
)

COMPANION_ONLY = re.compile(
    r"GPT-[234]|Llama|MT-NLG|llm\.c|llm-analysis|DeepSpeed|Playbook|scaling-book|Korthikanti|ml_dtypes"
)
NOT_THE_BOOKS = re.compile(r"(本书|书中|书里|本章|原书)(的)?(实测|测得|测出)")
