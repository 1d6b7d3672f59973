# SPDX-License-Identifier: MIT
"""What the suites share as PyTorch tensors, and how they are found.

The suites of an op are in <folder of the op>/torch_cases.py beside this file: SUITES, a class by
name. Its objects are made of a case's words and a device; they have flops, bytes and dtype,
tk(library) and peers(library), which give implementations, outputs(), and compare(results), which
gives the error against float64 (as a share of the result, both as roots of sums of squares) and the
limit that a right result keeps. On a GPU whole results are compared, on the CPU a sample of rows;
sample = True asks for a sample where the oracle would take longer than all the calls.
"""
import contextlib
import functools
import importlib.util
import math
import os
import sys

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../ops/api"))
from c_headers import ROOT, folders  # noqa: E402

TYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}


def load(folder, name):
    """The module <folder>/<name>.py, loaded once under a name that no package has."""
    known = f"tk_bench_{folder}_{name}"
    if known not in sys.modules:
        path = os.path.join(HERE, folder, f"{name}.py")
        spec = importlib.util.spec_from_file_location(known, path)
        sys.modules[known] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[known])
    return sys.modules[known]


def suites():
    """The classes of all suites, by name, in the order of the list of ops."""
    found = {}
    for folder in folders():
        if os.path.exists(os.path.join(HERE, folder, "torch_cases.py")):
            found.update(load(folder, "torch_cases").SUITES)
    return found


def built_in_cases():
    """Those beside the sizes of each op's tests."""
    paths = (os.path.join(ROOT, "tests/ops", folder, "sizes.txt") for folder in folders())
    return [case for path in paths if os.path.exists(path) for case in read_cases(path)]


def read_cases(path):
    """The lines `bench SUITE NAME WORD=VALUE ... [quick]` of a file."""
    cases = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            words = line.split("#")[0].split()
            if words and words[0] == "bench":
                pairs = [w.split("=") for w in words[3:] if w != "quick"]
                cases.append({"suite": words[1], "case": words[2], "quick": "quick" in words,
                              **{key: value for key, value in pairs}})
    return cases


class unavailable(RuntimeError):
    """A peer that is not on this machine, whatever the case."""


@functools.cache
def package(name):
    """A module. What it raises if it doesn't suit this machine is any exception."""
    try:
        return __import__(name, fromlist=["_"])
    except Exception as failure:
        raise unavailable(repr(failure)) from None


def compiled(function):
    """torch.compile's, for one shape alone."""
    torch._dynamo.reset()  # else it gives up compiling after eight shapes
    return torch.compile(function, dynamic=False)


def made_at_first_call(make):
    """The function that `make` returns, made when it is first called: then a package is missing."""
    made = []

    def call():
        if not made:
            made.append(make())
        return made[0]()

    return call


class implementation:
    """One row of a case: `call` enqueues the work once, `results` gives what it computed."""

    def __init__(self, name, call, results=None, context=contextlib.nullcontext):
        self.name, self.call, self.context = name, call, context
        self.results = results or (lambda returned: returned)


class deviation:
    """Squares of differences from the oracle, summed over the parts that were compared."""

    def __init__(self):
        self.error = self.rounding = self.reference = 0.0

    def add(self, x, ref):
        self.error += (x.double() - ref).square().sum().item()
        self.rounding += (ref.to(x.dtype).double() - ref).square().sum().item()
        self.reference += ref.square().sum().item()

    def relative(self):
        size = math.sqrt(self.reference) or 1.0
        return math.sqrt(self.error) / size, math.sqrt(self.rounding) / size


def sampled(n, budget, device):
    """Rows to compare: all if they fit the budget, else both ends, edges of tiles and a sample."""
    if n <= budget:
        return torch.arange(n, device=device)
    edges = [i + e for i in range(0, n, 64) for e in (0, 63)]
    picks = edges[:8] + edges[-8:] + torch.randint(n, (max(48, budget - 18),)).tolist() + [0, n - 1]
    return torch.tensor(sorted({i for i in picks if i < n}), device=device)
