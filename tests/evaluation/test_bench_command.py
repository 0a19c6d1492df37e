"""manage.py bench: from a file to a table, the budgets as people write them, and all benchmarks in small."""

from __future__ import annotations

import argparse
import subprocess

import pytest
from django.core.management import CommandError, call_command

from arborweb.home import PROJECT
from memory.evaluation import interleave, rows, suite
from memory.evaluation.benchmarks import BENCHMARKS
from memory.evaluation.systems import USUAL, measured
from memory.evaluation.systems.peers import PEERS
from memory.management.commands.bench import numbers
from memory.models import Forest
from tests.evaluation.histories import write_locomo, write_stream


@pytest.mark.django_db
def test_a_file_becomes_a_table(tmp_path, capsys):
    write_stream(tmp_path / "streams" / "a.jsonl")
    how = ["--data", str(tmp_path / "streams"), "--out", str(tmp_path / "out"), "--processes", "1"]
    call_command("bench", "streams", *how, "--system", "previous", "tfidf")
    said = capsys.readouterr()
    assert "| `previous` | 6 | 0.000 [0.000, 0.000] |" not in said.out and "| `previous` | 6 | 0.167 [" in said.out
    assert "streams: 2 of 2 (tfidf, a" in said.err
    assert (tmp_path / "out" / "streams" / "tfidf.jsonl").exists()


@pytest.mark.django_db
def test_answers_come_from_the_engine_of_this_installation(tmp_path, capsys):
    file = write_locomo(tmp_path / "talks.json")
    how = ["--data", str(file), "--out", str(tmp_path / "out"), "--processes", "1", "--system", "bm25", "--budgets", "128,1K"]
    call_command("bench", "locomo", *how, "--answer", "--answer-budgets", "1K", "--limit", "1", "--name", "talks")
    said = capsys.readouterr().out
    assert "| `bm25` | 1K | offline | 3 |" in said
    assert "![Evidence in the context by budget](benchmarks/talks.svg)" in said
    assert len(list(rows.read(tmp_path / "out" / "talks" / "bm25.answers.jsonl"))) == 3


@pytest.mark.django_db
def test_what_is_wrong_is_said_in_words(tmp_path, settings):
    out = ["--out", str(tmp_path)]
    with pytest.raises(CommandError, match="--data PATH"):
        call_command("bench", "locomo", *out)
    with pytest.raises(CommandError, match="nowhere"):
        call_command("bench", "locomo", "--data", str(tmp_path / "nowhere.json"), *out)
    with pytest.raises(CommandError, match="--shared DIR"):
        call_command("bench", "all", "--standard", *out)
    with pytest.raises(CommandError, match="no directory"):
        call_command("bench", "all", "--full", "--shared", str(tmp_path / "nowhere"), *out)
    settings.JUDGE_MODEL = ""
    with pytest.raises(CommandError, match="JUDGE_MODEL"):
        call_command("bench", "locomo", "--data", str(write_locomo(tmp_path / "t.json")), "--judge", *out)


def test_budgets_are_written_as_people_do():
    assert numbers("256,2K,8k") == (256, 2048, 8192)
    for wrong in ("2K,", "K", "much", "0"):
        with pytest.raises(argparse.ArgumentTypeError):
            numbers(wrong)


# --- All of them ------------------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_the_smoke_run_measures_every_system_on_generated_sessions(tmp_path, capsys):
    call_command("bench", "all", "--smoke", "--out", str(tmp_path))
    said = capsys.readouterr().out
    for name in USUAL:
        if name not in PEERS and measured(name, BENCHMARKS["branchmemeval"].measures):
            assert f"| `{name}` |" in said, name
    assert "### Evidence" in said and "### Localization, online replay" in said
    assert "failed" not in said and "longer than their budget" not in said
    assert not Forest.objects.exists()


def test_a_standard_run_states_its_samples_and_leaves_out_what_is_not_there(tmp_path):
    told = []
    (tmp_path / suite.BEAM).mkdir(parents=True)
    common = {"out": tmp_path / "out", "seed": 1, "processes": 2, "keep": False, "again": False}
    found = suite.plans(tmp_path, "standard", systems=None, answer=(), tell=told.append, **common)
    assert [(plan.benchmark, plan.sample) for plan in found] == [("branchmemeval", None), ("beam", 4), ("beam", 4)]
    assert {name for plan in found[1:] for name in plan.systems} == set(USUAL)
    assert {"ours", "without-facts"} <= set(found[1].systems) and {"additive", "mem0"} <= set(found[2].systems)
    assert sum("left out" in line for line in told) == 15
    full = suite.plans(tmp_path, "full", systems=["ours"], answer=(), tell=told.append, **common)
    assert [(plan.benchmark, plan.sample, plan.systems) for plan in full] == [("branchmemeval", None, ("ours",)), ("beam", None, ("ours",))]


def test_without_any_data_nothing_is_begun(tmp_path, monkeypatch):
    monkeypatch.setattr(suite, "_made", lambda *_, **__: tmp_path / "none")
    with pytest.raises(ValueError, match="data of no benchmark"):
        suite.plans(tmp_path, "standard", systems=None, answer=(), tell=lambda line: None, out=tmp_path, seed=1, processes=1, keep=False, again=False)


def test_streams_are_made_once(tmp_path, monkeypatch):
    made = []

    def write(out, kind, file, **how):
        made.append((out.name, kind, how["seed"], how["branches"]))
        out.mkdir(parents=True)
        (out / f"{kind}-000.jsonl").write_text("")
        return 1

    monkeypatch.setattr(interleave, "write", write)
    file = tmp_path / "trees.jsonl"
    few, many = (next(of for of in suite.STREAMS if of.name == name) for name in ("oasst", "oasst-20"))
    assert suite._streams(file, tmp_path / "s", few, 1) is None
    file.write_text("")
    for _ in range(2):
        assert suite._streams(file, tmp_path / "s", few, 5) == tmp_path / "s"
    assert made == [(str(number), "oasst", 5 + number, (4, 6)) for number in range(4)]
    assert sorted(path.name for path in (tmp_path / "s").iterdir()) == [f"{number}-oasst-000.jsonl" for number in range(4)]
    suite._streams(file, tmp_path / "many", many, 5)
    assert made[4:] == [("0", "oasst", 5, (20, 25))]


def test_make_bench_says_where_data_are_looked_for(tmp_path):
    asked = subprocess.run(["make", "-n", "bench", f"DATA={tmp_path}"], cwd=PROJECT, capture_output=True, text=True)
    assert f'bench all --standard --shared "{tmp_path}"' in asked.stdout
