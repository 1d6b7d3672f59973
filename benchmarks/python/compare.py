#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The functions of tk_ops.torch beside what PyTorch and others have in their place: eager,
torch.compile's, scaled_dot_product_attention by cuDNN and FlashAttention-2, FlashAttention-3 and
-4, quack, Liger, flash-linear-attention, mamba_ssm and causal_conv1d, whichever can be imported
(cases.py has them). Of each case its forward, without gradients, and a training step's share,
forward and backward, are compared with fp64, and then timed as ../peers.py does: in turns, each
behind an overwritten L2 cache, and queued before the card comes to it. On a CPU, sizes are small.

The JSON is what `tk_bench compare` reads. Exit status: 0, or 1 if a result of tk was wrong or
missing.

usage: compare.py [--device DEVICE] [--quick] [--type bf16|fp16] [--filter REGEX] [--peers REGEX]
                  [--repeats N] [--json FILE] [--plot FILE] [--lib libtk_ops.so]
"""

import argparse
import datetime
import json
import os
import re
import statistics
import sys
import types

import torch

sys.dont_write_bytecode = True  # the source folder stays as it is
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cases import BOUND, CARD, CASES, QUICK  # noqa: E402
from peers import clock, commit, describe, show, show_summary  # noqa: E402
from torch_cases import TYPES, compiled, implementation, unavailable  # noqa: E402

import tk_ops  # noqa: E402

DIRECTIONS = ("forward", "training")


def many(x):
    return x if isinstance(x, (tuple, list)) else (x,)


def call_of(function, inputs, direction, constant=()):
    """What computes the results, or in training results and gradients, of inputs of its own: some
    peers leave gradients in their place."""
    inputs = [x.detach().clone() for x in inputs]
    if direction == "forward":

        def call():
            with torch.no_grad():
                return many(function(*inputs))

        return call
    wanted = [
        x.requires_grad_()
        for i, x in enumerate(inputs)
        if x.is_floating_point() and i not in constant
    ]
    given = []

    def call_with_gradients():
        results = many(function(*inputs))
        if not given:
            generator = torch.Generator(results[0].device).manual_seed(2)
            for y in results:
                x = torch.randn(y.shape, generator=generator, device=y.device)
                given.append(x.to(torch.bfloat16).to(y.dtype))
        gradients = torch.autograd.grad(results, wanted, given)
        return [*(y.detach() for y in results), *gradients]

    return call_with_gradients


def check(got, exact, case, dtype, limit):
    """The root mean square error of the first result relative to it. Raises if that of any result
    or gradient is above `limit` times what the case allows."""
    errors = []
    for place, (x, y) in enumerate(zip(got, exact, strict=True)):
        errors.append(((x.double() - y).norm() / y.norm()).item())
        bound = limit * case.loose.get(place, BOUND) * torch.finfo(dtype).eps
        if not errors[-1] <= bound:
            raise RuntimeError(
                f"wrong: error {errors[-1]:.3e} of result {place}, limit {bound:.3e}"
            )
    return errors[0]


def implementations(name, device, given):
    """The functions to run, by name, tk's first."""
    case = CASES[name]
    found = {"tk": case.function, "torch": case.definition}
    if device != "cpu":
        if case.compiled:
            found["torch_compile"] = compiled(case.definition)
        found.update(case.peers)
    return {x: f for x, f in found.items() if x == "tk" or given.search(x)}


def first_call(call):
    """Its results; raises with the reason if it cannot run."""
    try:
        return call()
    except unavailable:
        raise
    except Exception as failure:  # packages have their own
        raise RuntimeError((str(failure) or repr(failure)).splitlines()[0]) from None


def shown(inputs):
    """The sizes of a case: those of its first two inputs."""
    return "_".join("x".join(map(str, x.shape)) for x in inputs[:2])


def run_case(name, direction, sizes, dtype, timer, options, notes):
    """Rows of the JSON: of each implementation of a case in one direction."""
    case, device = CASES[name], timer.device
    inputs = case.make(sizes, dtype, device)
    line = {"suite": f"torch-{name}", "case": f"{shown(inputs)}_{direction}"}
    double = [x.double() if x.is_floating_point() else x for x in inputs]
    exact = call_of(case.definition, double, direction, case.constant)()
    size = sum(x.numel() * x.element_size() for x in inputs)
    ready, errors = [], {}
    for impl, function in implementations(name, device, options.peers).items():
        try:
            call = call_of(function, inputs, direction, case.constant)
            got = first_call(call)
            errors[impl] = check(got, exact, case, dtype, 1 if impl == "tk" else 10)
            ready.append(implementation(impl, call))
            if impl == "tk":
                size += sum(x.numel() * x.element_size() for x in got)
            del got
        except unavailable as failure:
            if (note := f"no {impl}: {failure}") not in notes:
                notes.append(note)
        except RuntimeError as failure:
            word = "FAILED" if impl == "tk" else f"no {impl} in"
            notes.append(f"{word} {line['suite']} {line['case']}: {failure}")
    flops = case.flops(sizes) * (1 if direction == "forward" else 3) if case.flops else 0
    found = []
    for impl, ms in timer.time_all(ready, options.repeats).items():
        low, median, high = statistics.quantiles(ms, n=4, method="inclusive")
        found.append(
            {**line, "impl": impl, "dtype": options.type, "ms": median, "ms_min": min(ms),
             "ms_iqr": high - low, "flops": flops, "bytes": size,
             "error": errors[impl]}
        )  # fmt: skip
    show(line, found)
    return found


def arguments(given):
    p = argparse.ArgumentParser(description="tk_ops.torch beside its peers, checked and timed")
    p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    p.add_argument("--quick", action="store_true", help="the small sizes, those of a CPU")
    p.add_argument("--type", choices=["bf16", "fp16"], default="bf16")
    p.add_argument("--filter", default="", help="regular expression, in 'function direction'")
    p.add_argument("--peers", default="", metavar="REGEX", type=re.compile, help="^$ is none")
    p.add_argument("--repeats", type=int, default=20)
    p.add_argument("--json", help="file to write, anew after each case")
    p.add_argument("--plot", help="picture of the ratios, by matplotlib")
    p.add_argument("--lib", help="path of a libtk_ops.so, if not the package's")
    options = p.parse_args(given)
    if options.repeats < 3:
        p.error(f"--repeats is {options.repeats}; a median and its spread take at least 3")
    if options.lib:
        tk_ops.load_library(options.lib)
    return options


def version_for(device):
    """Of the library that works there."""
    for version in tk_ops.libraries.values():
        if ("host" in version.split()) == (device == "cpu"):
            return version
    sys.exit(f"tk_ops has no library for {device}: --lib")


def main(given=None):
    options = arguments(given)
    device = options.device
    version, timer, notes = version_for(device), clock(device), []
    cases = [
        (name, x) for name in CASES for x in DIRECTIONS
        if re.search(options.filter, f"{name} {x}")
    ]  # fmt: skip
    if not cases:
        sys.exit(f"no case matches '{options.filter}'; there are {', '.join(CASES)}")
    document = {
        "machine": describe(types.SimpleNamespace(version=version), device),
        "arch": version.split()[1],
        "commit": commit(),
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "ceilings": {"copy_bytes_per_s": 0.0 if device == "cpu" else timer.copy_rate()},
        "rows": [],
    }
    print(f"{document['machine']['device']}, {version}, torch {torch.__version__}; medians of")
    print(f"{options.repeats}, and the distance of the quartiles; xR: tk / peer")
    sizes = QUICK if options.quick or device == "cpu" else CARD
    for name, direction in cases:
        document["rows"] += run_case(
            name, direction, sizes, TYPES[options.type], timer, options, notes
        )
        if options.json:
            with open(options.json, "w", encoding="utf-8") as out:
                json.dump(document, out, indent=1)
    show_summary(document["rows"], notes)
    if options.plot:
        try:
            from plot import plot
        except ImportError as failure:
            print(f"no plot: {failure}")
        else:
            plot(document, options.plot)
    return 1 if any(note.startswith("FAILED") for note in notes) else 0


if __name__ == "__main__":
    sys.exit(main())
