# SPDX-License-Identifier: MIT
"""Which of a package's libraries are loaded: by the card, by TK_OPS_ARCH; and what is said where
none fits. A package with several is made of links to the library under test."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tk_ops
from tk_ops import _choice

PACKAGE = Path(tk_ops.__file__).resolve().parent
HERE = next(iter(sorted(x.parent.name for x in (PACKAGE / "lib").glob("*/libtk_ops.so"))))


@pytest.mark.parametrize(
    "capability, takes",
    [
        (75, []),
        (80, ["sm_80"]),
        (86, ["sm_86"]),
        (87, ["sm_80", "sm_86"]),
        (89, ["sm_89", "sm_86"]),
        (90, ["sm_90a", "sm_80", "sm_89", "sm_86"]),
        (100, ["sm_80", "sm_89", "sm_86"]),
        (120, ["sm_89", "sm_86"]),
    ],
)
def test_capabilities(capability, takes):
    assert _choice.of_capability(capability) == takes


@pytest.mark.parametrize(
    "archs, asked, card, chosen",
    [
        ("host", "", None, "host"),
        ("host sm_90a", "", None, "host sm_90a"),  # the only one says itself what it runs on
        ("host sm_80 sm_90a", "", 90, "host sm_90a"),
        ("host sm_80 sm_86", "", 90, "host sm_80"),
        ("host sm_80 sm_89", "", 120, "host sm_89"),
        ("host sm_80 sm_90a", "sm_80", 90, "host sm_80"),
        ("host emulate-sm_90a", "", None, "host"),
        ("host emulate-sm_90a", "emulate-sm_90a", None, "emulate-sm_90a"),
        ("host sm_80 gfx942", "host, sm_80", None, "host sm_80 gfx942"),
    ],
)
def test_choice(archs, asked, card, chosen, monkeypatch):
    monkeypatch.setattr(_choice, "nvidia_card", lambda: card)
    assert _choice.choose(archs.split(), asked) == (chosen.split(), {})


def test_none_fits(monkeypatch):
    monkeypatch.setattr(_choice, "nvidia_card", lambda: 75)
    chosen, reasons = _choice.choose(["host", "sm_80", "sm_90a"])
    assert chosen == ["host"] and reasons == {
        _choice.CUDA: "this package has libraries of sm_80, sm_90a for NVIDIA's cards, this machine"
        " compute capability 7.5"
    }


def test_cards_of_this_machine():
    """Whatever they are, asking for them raises nothing."""
    assert _choice.nvidia_card() is None or _choice.nvidia_card() >= 50
    assert _choice.amd_card() is None or _choice.amd_card().startswith("gfx")


@pytest.fixture
def run(tmp_path):
    """Runs a program where the package has libraries of these archs."""

    def run(program, archs, asked=""):
        package = tmp_path / "tk_ops"
        (package / "lib").mkdir(parents=True)
        for path in PACKAGE.glob("*.py"):
            shutil.copy(path, package)
        (package / "lib/libtk_python.so").symlink_to(PACKAGE / "lib/libtk_python.so")
        for arch in archs.split():
            (package / "lib" / arch).symlink_to(PACKAGE / "lib" / HERE)
        where = {"PYTHONPATH": str(tmp_path), "TK_OPS_ARCH": asked}
        return subprocess.run(
            [sys.executable, "-B", "-c", program],
            env={**os.environ, **where},
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )

    return run


def test_a_library_is_chosen(run):
    done = run("import tk_ops; print(*tk_ops.libraries)", "host emulate-sm_80", "emulate-sm_80")
    assert done.stdout.strip().endswith("lib/emulate-sm_80/libtk_ops.so"), done.stderr


def test_a_missing_one_is_refused(run):
    done = run("import tk_ops", "host emulate-sm_80", "host,sm_90a")
    assert "ImportError: tk_ops: TK_OPS_ARCH asks for sm_90a, which this package" in done.stderr
    assert done.stderr.strip().endswith("it has emulate-sm_80, host")


def test_a_call_says_why_there_is_none(run):
    program = """
import numpy, tk_ops
x = numpy.zeros((2, 4), numpy.float32)
try:
    tk_ops.softmax(x=x, y=x, scale=1)
except RuntimeError as error:
    print(error)
"""
    done = run(program, "emulate-sm_80 emulate-sm_86")
    sentence = (
        "type 1 (DLPack's number): this package has libraries of emulate-sm_80, emulate-sm_86"
    )
    assert sentence in done.stdout and done.stdout.strip().endswith("this machine a CPU")
