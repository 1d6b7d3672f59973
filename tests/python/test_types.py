# SPDX-License-Identifier: MIT
"""The package's types (.pyi): all public names are there, with the arguments that they have, and a
checker, mypy, makes of calls what they give."""

import ast
import importlib
import inspect
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import tk_ops

NEEDS = {"torch": "torch", "jax": "jax_tvm_ffi", "transformers": "transformers"}
KINDS = "posonlyargs", "args", "kwonlyargs"


def module_of(name):
    if name:
        pytest.importorskip(NEEDS[name])
        return importlib.import_module(f"tk_ops.{name}")
    return tk_ops


def stub_of(module):
    return ast.parse(Path(module.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))


def names_of(body):
    """Of each name in a stub what defines it."""
    found = {}
    for x in body:
        if isinstance(x, ast.FunctionDef | ast.ClassDef):
            found.setdefault(x.name, []).append(x)
        elif isinstance(x, ast.AnnAssign):
            found[x.target.id] = [x]
        elif isinstance(x, ast.ImportFrom):
            found |= {y.asname: [x] for y in x.names if y.asname}
    return found


def is_typed(function):
    every = [x for kind in KINDS for x in getattr(function.args, kind) if x.arg != "self"]
    return function.returns is not None and all(x.annotation for x in every)


def check(definitions, function):
    """All definitions of a function have its arguments in their order, and the first one all of
    their kinds, and whether they may be left out."""
    wanted = list(inspect.signature(function).parameters.values())
    for x in definitions:
        assert is_typed(x), x.name
        every = [y.arg for kind in KINDS for y in getattr(x.args, kind)]
        assert every == [y.name for y in wanted if y.kind not in (y.VAR_KEYWORD, y.VAR_POSITIONAL)]
    first = definitions[0].args
    positional = [*first.posonlyargs, *first.args]
    required = len(positional) - len(first.defaults)
    given = {x.arg for x in positional[required:]}
    given |= {x.arg for x, y in zip(first.kwonlyargs, first.kw_defaults, strict=True) if y}
    assert given == {x.name for x in wanted if x.default is not x.empty}
    assert {x.arg for x in first.kwonlyargs} == {x.name for x in wanted if x.kind == x.KEYWORD_ONLY}


@pytest.mark.parametrize("name", ["", *NEEDS])
def test_every_name(name):
    module = module_of(name)
    found = names_of(stub_of(module).body)
    made = sys.modules["tk_ops._functions"].__all__ if not name else ()  # which has types itself
    assert sorted(found) == sorted({*module.__all__} - {*made})
    for key, definitions in found.items():
        theirs = getattr(module, key)
        if inspect.isfunction(theirs):
            check(definitions, theirs)
        elif isinstance(definitions[0], ast.ClassDef):
            for method, those in names_of(definitions[0].body).items():
                if isinstance(those[0], ast.FunctionDef) and method != "__exit__":
                    check(those, getattr(theirs, method))
    for key in made:
        if inspect.isfunction(getattr(tk_ops, key)):
            signature = inspect.signature(getattr(tk_ops, key))
            assert all(x.annotation is not x.empty for x in signature.parameters.values())


SAMPLE = """
from typing import assert_type

import jax
import torch
import tk_ops
import tk_ops.jax as jk
import tk_ops.torch as tk

x = torch.zeros(3, 8)
assert_type(tk.rms_norm(x, 8, eps=1e-6), torch.Tensor)
assert_type(tk.layer_norm(x, (8,), residual=x), tuple[torch.Tensor, torch.Tensor])
assert_type(tk.linear_attention(x, x, x), torch.Tensor)
o, state = tk.linear_attention(x, x, x, return_final_state=True)
assert_type(state, torch.Tensor)
assert_type(tk.topk(x, 2).indices, torch.Tensor)
with tk.repeat("row"), tk.replacing() as calls:
    assert_type(calls.replaced["a"], int)
tk.softmax(x, along=1)
tk.repeat("batch")
y = jax.numpy.zeros((3, 8))
with jk.repeat("row"):
    assert_type(jk.silu(y), jax.Array)
jk.repeat("batches")
assert_type(jk.softmax(y), jax.Array)
assert_type(jk.based(y, y, y, return_final_states=True)[0], jax.Array)
jk.softmax(y, dim=1)
tk_ops.norm(x=x, y=x, kind=tk_ops.NormKind.RMS, eps=1e-6)
tk_ops.norm(x=x, y=x, epsilon=1e-6)
"""
WRONG = "softmax(x, along", 'repeat("batch")', 'repeat("batches")', "dim=1", "epsilon"


@pytest.mark.skipif(not find_spec("mypy"), reason="mypy is missing")
def test_a_checker(tmp_path):
    """What is right is taken, and what is wrong is found."""
    module_of("torch"), module_of("jax")
    path = tmp_path / "sample.py"
    path.write_text(SAMPLE)
    found = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file=", "--follow-imports=silent"]
        + ["--ignore-missing-imports", "--hide-error-context", "--cache-dir", tmp_path, path],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(Path(tk_ops.__file__).resolve().parents[1])},
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    lines = {int(x.split(":")[1]) for x in found.splitlines() if ": error: " in x}
    wrong = {i for i, x in enumerate(SAMPLE.splitlines(), 1) if any(y in x for y in WRONG)}
    assert lines == wrong, found
