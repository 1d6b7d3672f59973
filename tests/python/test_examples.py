# SPDX-License-Identifier: MIT
"""Demos (examples/python) at their smallest: each runs, and losses of TK's ops follow those of
PyTorch's, step by step, as near as 16 bits are. That they learn is seen where they run longer."""

import csv
import importlib.util
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
import tk_ops.torch as tk  # noqa: E402

torch.set_num_threads(1)
FOLDER = Path(__file__).parents[2] / "examples/python"
DEVICE = os.environ.get("TK_TORCH_DEVICE", "cpu")
SMALL = {"batch": 2, "width": 32, "layers": 1, "seeds": 1, "steps": 4}
TRAININGS = {
    "nanogpt": {"length": 40},
    "mamba2": {"length": 70},
    "hyena": {"length": 70},
    "recall": {"pairs": 4, "vocab": 16, "until": 0},
    "lolcats": {"length": 200, "width": 128, "teaching": 2},
}


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Runs a demo with these options, which exits with this status; what it printed, its table."""
    monkeypatch.syspath_prepend(str(FOLDER))
    before = torch.get_default_device()
    torch.set_default_device("cpu")
    torch.manual_seed(0)

    def run(name, out="curves.csv", status=0, **options):
        path = tmp_path / out
        options = {"device": DEVICE, "out": path, **options}
        words = [f"--{key}={value}" for key, value in options.items()]
        monkeypatch.setattr(sys, "argv", [name, *words])
        ended = 0
        try:
            runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
        except SystemExit as exit:
            ended = int(exit.code)
        assert ended == status
        table = path.with_suffix(".csv")
        if not table.exists():
            return capsys.readouterr().out, {}
        columns = zip(*csv.reader(table.open()))
        return capsys.readouterr().out, {x[0]: list(map(float, x[1:])) for x in columns}

    yield run
    torch.set_default_device(before)


@pytest.mark.parametrize("name", TRAININGS)
def test_trainings(name, run):
    printed, curves = run(name, **SMALL | TRAININGS[name])
    assert re.search(r"^TK: [\d,]+ tokens/s", printed, re.MULTILINE)
    assert re.search(r"^eager: [\d,]+ tokens/s", printed, re.MULTILINE)
    ours, theirs = curves["TK, seed 0"], curves["eager, seed 0"]
    assert len(ours) == len(theirs) == SMALL["steps"]
    for x, y in zip(ours, theirs):
        assert abs(x - y) <= 0.01 * y


@pytest.mark.skipif(not importlib.util.find_spec("lightning"), reason="lightning is missing")
def test_lightning(run):
    _, curves = run("lightning_trainer", **SMALL, length=40)
    assert curves["TK, seed 0"] == pytest.approx(curves["eager, seed 0"], rel=0.01)


def test_seeds_are_judged(run, monkeypatch):
    """Three seeds of each. Where TK's gradients have the wrong sign its losses are not eager's."""
    options = SMALL | TRAININGS["nanogpt"] | {"seeds": 3, "steps": 8}
    printed, curves = run("nanogpt", **options)
    assert "means of 3 seeds are 0.0" in printed and ": within its spread" in printed
    compiled = "torch.compile: not asked for" not in printed  # a GPU's default
    assert compiled == (DEVICE != "cpu") and len(curves) == (9 if compiled else 7)
    loss_of = tk.linear_cross_entropy

    def wrong(*arguments):
        loss = loss_of(*arguments)
        return 2 * loss.detach() - loss

    monkeypatch.setattr(tk, "linear_cross_entropy", wrong)
    printed, _ = run("nanogpt", status=1, **options)
    assert "NOT within its spread" in printed


@pytest.mark.parametrize(
    ("ours", "status"),
    (
        ((2.0, 1.0, 3.0), 0),
        ((3.9, 3.9, 4.1), 0),
        ((4.1, 4.1, 4.1), 1),
        ((-0.1, -0.1, -0.1), 1),
        ((2.0, float("nan"), 2.0), 1),
    ),
)
def test_judge(ours, status, monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    import common

    assert common.judge({"TK": ours, "eager": (1.0, 2.0, 3.0)}) == status
    assert common.judge({"TK": ours[:2], "eager": (1.0, 2.0)}) == 0


def test_recall(run):
    """Both kinds end as soon as they recall, and fail where they do not."""
    options = SMALL | {"pairs": 2, "vocab": 8, "batch": 32, "rate": 1e-2}
    printed, curves = run("recall", **options | {"steps": 400, "until": 0.9})
    for kind in "TK", "eager":
        (share,) = re.findall(f"^{kind} recalls ([0-9.]+) %", printed, re.MULTILINE)
        assert float(share) >= 90 and 25 <= len(curves[f"{kind}, seed 0"]) < 400
    printed, _ = run("recall", status=1, **options)
    assert "eager recalls" in printed


def test_compiled(run, monkeypatch):
    monkeypatch.setattr(torch, "compile", lambda function: function)
    options = SMALL | TRAININGS["recall"] | {"compile": 1}
    _, curves = run("recall", **options)
    assert curves["torch.compile, seed 0"] == curves["eager, seed 0"]
    assert curves["TK compiled, seed 0"] == curves["TK, seed 0"]

    def broken(function):
        raise RuntimeError("no compiler\nis here")

    monkeypatch.setattr(torch, "compile", broken)
    printed, curves = run("recall", **options)
    assert "torch.compile: RuntimeError: no compiler\n" in printed
    assert "TK compiled: RuntimeError: no compiler\n" in printed
    assert not any("compile" in name for name in curves)


@pytest.mark.parametrize("compiles", (0, 1))
def test_generation(run, monkeypatch, compiles):
    """The compiler gets a step of decoding of each batch of both models, TK's and eager's."""
    pytest.importorskip("transformers")
    calls = []

    def compiler(function, **_):
        def call(*arguments, **options):
            calls.append(function)
            return function(*arguments, **options)

        return call

    monkeypatch.setattr(torch, "compile", compiler)
    options = {"batch": 2, "count": 3, "prompt": 20, "width": 64, "layers": 1, "vocab": 64}
    printed, curves = run("generate", **options, compile=compiles)
    kinds = ("TK", "eager", "TK compiled", "torch.compile")[: 2 + 2 * compiles]
    assert list(curves) == ["batch", *(f"{x}, {y}" for x in ("Llama", "Qwen3") for y in kinds)]
    assert len(calls) == compiles * 2 * 2 * 2 * 2 * 2  # models, kinds, batches, runs, steps
    apart = [float(x) for x in re.findall("are ([0-9.]+) apart", printed)]
    assert len(apart) == 2 and max(apart) < 0.03


def test_rollout(run):
    printed, _ = run("rollout", batch=2, length=24, count=4, alone=1, layers=1)
    assert "TK: 8 tokens; rollout and training differ in 0, ratios 1.000000 to 1.0" in printed
    assert "batches of one in 0\neager: 8 tokens" in printed
    assert len(re.findall('ms, with repeat."row"', printed)) == 3


def test_picture(run):
    pytest.importorskip("matplotlib")
    run("recall", out="curves.png", **SMALL | TRAININGS["recall"])


def test_command(tmp_path):
    """From another folder, as one command, which names its options."""
    command = [sys.executable, FOLDER / "nanogpt.py", "--help"]
    package = importlib.util.find_spec("tk_ops").submodule_search_locations[0]
    printed = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(package).resolve().parent)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "--device" in printed.stdout and "--steps" in printed.stdout
