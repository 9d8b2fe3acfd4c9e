"""Recovery: resumed equals continuous bit by bit; what is not whole is refused; failures harm nothing."""

import errno
import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from course_lib import files, recovery
from course_lib.app import cli
from course_lib.errors import CourseError
from course_lib.loss_scaling import StaticScale, Warmup
from course_lib.recovery import PARTS, SMALL, advance, begin, compare, digest, kill_and_resume, load, save
from course_lib.recovery.naive import load_naively, save_naively
from course_lib.recovery.store import MANIFEST, saves
from course_lib.step_ledger import StepPlan, StepShape

ROOT = Path(__file__).resolve().parents[1]


def run_to(rounds, setup=SMALL):
    return advance(begin(setup), rounds=rounds)


@pytest.fixture
def folder(tmp_path):
    """Two saves of one run, after rounds 3 and 5."""
    run = run_to(3)
    save(run, tmp_path)
    save(advance(run, rounds=2), tmp_path)
    return tmp_path


@pytest.mark.parametrize("dtype", ["float16", "float64"])
@pytest.mark.parametrize("shards", [1, 3, 8])
def test_resumed_is_continuous_bit_by_bit(tmp_path, dtype, shards):
    """17 rounds cross the end of the data, a change of the loss scale and of the learning rate."""
    setup = replace(SMALL, plan=StepPlan(shape=SMALL.plan.shape, dtype=dtype))
    whole, run = run_to(17, setup), run_to(7, setup)
    place = save(run, tmp_path, shards=shards)
    assert len(list(place.glob("shard-*.bin"))) == shards
    loaded = load(str(tmp_path), setup=setup)
    assert (loaded.run.rounds, loaded.save, loaded.refused) == (7, place, ())
    assert digest(loaded.run) == digest(run)
    resumed = advance(loaded.run, rounds=10)
    assert digest(resumed) == digest(whole)
    assert all(
        np.array_equal(each, whole.state.weights[name]) for name, each in resumed.state.weights.items()
    )


def test_the_digest_sees_every_part():
    run = run_to(3)
    first = digest(run)
    for change in (
        {"cursor": 0},
        {"scheduled": 0},
        {"rounds": 0},
        {"scale": StaticScale(2)},
        {"random": np.random.default_rng(9)},
        {"order": run.order[::-1]},
        {"state": replace(run.state, updates=0)},
    ):
        assert digest(replace(run, **change)) != first, change
    for kind in ("weights", "master", "first", "second"):
        array = getattr(run.state, kind)["0.wq"]
        kept, array[0, 0] = array[0, 0], 9
        assert digest(run) != first, kind
        array[0, 0] = kept
    assert digest(run) == first


def test_only_the_newest_saves_are_kept(tmp_path):
    run = begin(SMALL)
    for _ in range(4):
        run = advance(run)
        save(run, tmp_path)
    assert [place.name.split("-")[1] for place in saves(tmp_path)] == ["00000004", "00000003"]


def newest(folder):
    return saves(folder)[0]


def shard(folder, number=1):
    return newest(folder) / f"shard-{number}-of-4.bin"


def truncate(folder):
    shard(folder).write_bytes(shard(folder).read_bytes()[:-1])


def empty(folder):
    shard(folder).write_bytes(b"")


def alter(folder):
    content = bytearray(shard(folder).read_bytes())
    content[-1] ^= 1
    shard(folder).write_bytes(content)


def mix(folder):
    older = saves(folder)[1]
    shutil.copy(older / shard(folder).name, shard(folder))


def swap(folder):
    shutil.copy(shard(folder, 0), shard(folder, 1))


def alter_manifest(folder):
    path = newest(folder) / MANIFEST
    path.write_text(
        path.read_text(encoding="utf-8").replace('"cursor": 20', '"cursor": 16'), encoding="utf-8"
    )


def foreign(folder):
    shard(folder).write_bytes(b"something else altogether" * 1000)


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (truncate, "分片 shard-1-of-4.bin 不完整"),
        (empty, "不完整：应有"),
        (alter, "分片 shard-1-of-4.bin 被改过"),
        (lambda folder: shard(folder).unlink(), "缺少分片 shard-1-of-4.bin"),
        (mix, "分片 shard-1-of-4.bin 属于另一次保存"),
        (swap, "不是这个位置"),
        (foreign, "属于另一次保存"),
        (lambda folder: (newest(folder) / MANIFEST).unlink(), "保存中途停了"),
        (lambda folder: (newest(folder) / MANIFEST).write_bytes(b""), "没有写全"),
        (alter_manifest, "清单被改过"),
    ],
)
def test_what_is_not_whole_is_refused_and_the_one_before_is_taken(folder, damage, reason):
    damage(folder)
    loaded = load(folder, setup=SMALL)
    assert (loaded.run.rounds, len(loaded.refused)) == (3, 1)
    assert reason in loaded.refused[0][1]
    assert digest(loaded.run) == digest(run_to(3))


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"data": "数数 2"}, "数据版本与保存时不同：那时是 数数 1，现在是 数数 2"),
        ({"tokenizer": "整数 2"}, "tokenizer 版本"),
        ({"seed": 1}, "种子"),
        ({"plan": StepPlan(shape=SMALL.plan.shape, dtype="float64")}, "存储方式"),
        ({"schedule": Warmup(peak=Fraction(1, 40), warmup_updates=12)}, "学习率日程"),
        ({"scale": StaticScale(1024)}, "损失缩放的规则"),
    ],
)
def test_another_version_is_refused(folder, changed, named):
    with pytest.raises(CourseError, match=named):
        load(folder, setup=replace(SMALL, **changed))


def test_another_file_format_is_refused(folder, monkeypatch):
    monkeypatch.setattr("course_lib.recovery.store.FORMAT", 2)
    with pytest.raises(CourseError, match="另一个版本"):
        load(folder, setup=SMALL)


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("fails_at", range(1, 6))
@pytest.mark.parametrize("reason", [errno.ENOSPC, errno.EROFS])
def test_a_full_disk_leaves_earlier_saves_as_they_were(folder, monkeypatch, fails_at, reason):
    before, calls, real = contents(folder), [], os.fsync

    def fsync(handle):
        calls.append(handle)
        if len(calls) == 2 * fails_at - 1:  # one call for a file, one for its folder
            raise OSError(reason, os.strerror(reason))
        real(handle)

    monkeypatch.setattr(files.os, "fsync", fsync)
    with pytest.raises(CourseError, match="更早的检查点没有动"):
        save(run_to(6), folder)
    assert contents(folder) == before
    assert load(folder, setup=SMALL).run.rounds == 5


def test_a_write_that_fails_leaves_the_old_file_and_nothing_beside_it(tmp_path, monkeypatch):
    files.write_whole(tmp_path / "file", b"old")

    def full(handle):
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError, match="full"):
        files.write_whole(tmp_path / "file", b"new")
    assert contents(tmp_path) == {tmp_path / "file": b"old"}


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CourseError, match="检查点没有写成"):
        save(begin(SMALL), tmp_path / "file")
    if os.name == "posix" and os.geteuid():
        save(run_to(1), tmp_path)
        tmp_path.chmod(0o500)
        try:
            with pytest.raises(CourseError, match="检查点没有写成"):
                save(run_to(2), tmp_path)
            assert load(tmp_path, setup=SMALL).run.rounds == 1
        finally:
            tmp_path.chmod(0o700)


class Killed(BaseException):
    """Stands for SIGKILL: nothing catches it."""


def killed_at(monkeypatch, owner, name, call):
    """Let the process die when a function is called for the so manieth time."""
    calls, real = [], getattr(owner, name)

    def counted(*arguments, **named):
        calls.append(name)
        if len(calls) == call:
            raise Killed
        return real(*arguments, **named)

    monkeypatch.setattr(owner, name, counted)


@pytest.mark.parametrize("call", range(1, 6))
def test_killed_between_any_two_files_the_earlier_save_counts(folder, monkeypatch, call):
    killed_at(monkeypatch, files.os, "replace", call)
    with pytest.raises(Killed):
        save(run_to(6), folder)
    monkeypatch.undo()
    loaded = load(folder, setup=SMALL)
    assert (digest(loaded.run), len(loaded.refused)) == (digest(run_to(5)), 1)
    save(advance(loaded.run, rounds=2), folder)
    assert [place.name.split("-")[1] for place in saves(folder)] == ["00000007", "00000005"]


def test_killed_between_two_files_the_naive_save_is_silently_another_state(tmp_path, monkeypatch):
    save_naively(run_to(5), tmp_path)
    killed_at(monkeypatch, np, "save", 20)
    with pytest.raises(Killed):
        save_naively(run_to(6), tmp_path)
    assert digest(load_naively(tmp_path, setup=SMALL)) not in {digest(run_to(n)) for n in (5, 6)}


def test_nothing_left_out_is_the_same_run():
    for at in (1, 20, 47):
        assert compare(saved_after=at).first_difference is None


@pytest.mark.parametrize("part", PARTS)
def test_every_part_is_needed(part):
    """Without the state of the loss scale the difference shows later, or by chance never."""
    found = compare(saved_after=20, without=[part])
    assert found.first_difference is not None
    if part != "scale":
        assert found.first_difference == (20 if part == "precise" else 21)


def test_a_lower_loss_proves_nothing():
    """Several of the 24 wrong resumptions end with the lower loss; the processor decides which."""
    wrong = [compare(saved_after=at, without=[part]) for at in (10, 20, 30) for part in PARTS]
    assert sum(each.lower_loss for each in wrong) >= 4


def test_a_handful_of_kills_damages_nothing():
    trial = kill_and_resume(3)
    assert (trial.killed, trial.damaged, trial.final_equal) == (3, 0, True)


@pytest.mark.slow
def test_fifty_kills_damage_nothing_but_the_naive_save():
    trial, control = kill_and_resume(50), kill_and_resume(50, naive=True)
    assert (trial.killed, trial.damaged, trial.final_equal) == (50, 0, True)
    assert control.damaged > 0


def test_a_worker_without_folder_tells_every_round():
    done = subprocess.run(
        [sys.executable, "-m", "course_lib.recovery.worker", "-", "2"],
        cwd=ROOT, capture_output=True, encoding="utf-8",
    )  # fmt: skip
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["0", "1", "2", "2"], done.stderr


def test_a_worker_says_what_it_cannot_read(tmp_path):
    save(begin(SMALL), tmp_path)
    (newest(tmp_path) / MANIFEST).unlink()
    done = subprocess.run(
        [sys.executable, "-m", "course_lib.recovery.worker", str(tmp_path), "2"],
        cwd=ROOT, capture_output=True, encoding="utf-8",
    )  # fmt: skip
    assert done.stdout.split() == ["damaged", "CourseError"]


@pytest.mark.parametrize(("damaged", "status"), [(0, 0), (2, 1)])
def test_command(monkeypatch, capsys, damaged, status):
    monkeypatch.setattr(
        recovery, "kill_and_resume", lambda kills, naive: recovery.Trial(kills, damaged, not naive, 9)
    )
    assert cli.main(["recovery-trial", "--kills", "4", "--json"]) == status
    assert json.loads(capsys.readouterr().out) == {
        "killed": 4,
        "damaged": damaged,
        "final_equal": True,
        "rounds": 9,
    }
    cli.main(["recovery-trial", "--kills", "4", "--naive"])
    said = capsys.readouterr().out
    assert "杀掉 4 次" in said
    assert "断电" in said


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda: begin(None), "setup"),
        (lambda: advance(None), "run"),
        (lambda: advance(begin(SMALL), rounds=-1), "rounds"),
        (lambda: save(None, "x"), "run"),
        (lambda: save(begin(SMALL), None), "folder"),
        (lambda: save(begin(SMALL), "x", shards=0), "shards"),
        (lambda: load("", setup=SMALL), "folder"),
        (lambda: load("a\0b", setup=SMALL), "folder"),
        (lambda: load("x" * 5000, setup=SMALL), "folder 读不了|一次也没有"),
        (lambda: save(begin(SMALL), "x" * 5000), "检查点没有写成"),
        (lambda: load("x", setup=None), "setup"),
        (lambda: load("does/not/exist", setup=SMALL), "一次也没有保存过"),
        (lambda: replace(SMALL, data=""), "data"),
        (lambda: replace(SMALL, seed=True), "seed"),
        (lambda: replace(SMALL, schedule=None), "schedule"),
        (lambda: replace(SMALL, plan=1), "plan"),
        (lambda: replace(SMALL, plan=StepPlan(shape=StepShape(sequences=41))), "比数据还多"),
        (lambda: compare(saved_after=0), "saved_after"),
        (lambda: compare(saved_after=3, without=["weights"]), "without"),
        (lambda: compare(saved_after=3, without="first"), "without"),
        (lambda: kill_and_resume(0), "kills"),
        (lambda: kill_and_resume(1, naive=1), "naive"),
    ],
)
def test_bad_input_gets_a_sentence(wrong, sentence):
    with pytest.raises(CourseError, match=sentence):
        wrong()
