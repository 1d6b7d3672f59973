# SPDX-License-Identifier: MIT
"""benchmarks/python/compare.py runs every function of tk_ops.torch at small sizes, checks results
and gradients against fp64, and writes its JSON and its picture; a wrong result it reports."""

import json
import os
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
import tk_ops.torch as tk  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "benchmarks/python")]
import compare  # noqa: E402
from cases import CASES, case  # noqa: E402

DEVICE = os.environ.get("TK_TORCH_DEVICE", "cpu")
GIVEN = ["--device", DEVICE, "--quick", "--repeats", "3", "--peers", "^torch$"]


def test_every_function_has_a_case():
    functions = {*tk.functional.__all__, *tk.sequences.__all__, *tk.values.__all__}
    without_gradient = {"argmax", "quantise", "fft_filter"}
    ambiguous = {"topk"}  # of equal numbers any may be the last
    assert functions - without_gradient - ambiguous == {x.removesuffix("_residual") for x in CASES}


def test_all_cases(tmp_path, capsys):
    written, picture = tmp_path / "rows.json", tmp_path / "picture.svg"
    assert compare.main([*GIVEN, "--json", str(written), "--plot", str(picture)]) == 0
    rows = json.loads(written.read_text())["rows"]
    found = {(x["suite"], x["case"].rsplit("_", 1)[1], x["impl"]) for x in rows}
    assert found == {
        (f"torch-{name}", direction, impl)
        for name in CASES
        for direction in ("forward", "training")
        for impl in ("tk", "torch")
    }
    assert all(x["ms"] > 0 and x["bytes"] > 0 for x in rows)
    assert picture.exists() or not find_spec("matplotlib")
    assert ("no plot" in capsys.readouterr().out) == (not find_spec("matplotlib"))


@pytest.mark.parametrize("direction, place", [("forward", 0), ("training", 1)])
def test_wrong_results(direction, place, monkeypatch, capsys):
    """Of a result alone, and of a gradient alone."""
    wrong = {
        "forward": lambda x: 1.1 * tk.silu(x),
        "training": lambda x: 1.1 * (y := tk.silu(x)) - (0.1 * y).detach(),
    }[direction]
    this = CASES["silu"]
    monkeypatch.setitem(CASES, "silu", case(wrong, this.definition, this.inputs))
    assert compare.main([*GIVEN, "--filter", f"silu {direction}"]) == 1
    assert f"of result {place}, limit" in capsys.readouterr().out
