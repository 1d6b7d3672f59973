#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What an eager call of tk_ops.torch costs over the C call inside it: host_cost.py. RMSNorm of
2 x 2 x 64 bf16 numbers with a weight on one thread of the CPU, where the kernel is nearly nothing;
also with a gradient to come, PyTorch's own, and tk_ops.norm on the same tensors as matrices.
Microseconds, the least of 500 runs of 200 calls: short ones, since others may use the machine."""

import ctypes
import sys
import timeit
from pathlib import Path

import torch
import torch.nn.functional as F

import tk_ops
import tk_ops.torch as tk

sys.dont_write_bytecode = True  # the source folder stays as it is
sys.path.append(str(Path(__file__).resolve().parents[2] / "ops/api"))
from c_headers import c_interface  # noqa: E402

I32, I64, POINTER = ctypes.c_int32, ctypes.c_int64, ctypes.c_void_p


class dl_tensor(ctypes.Structure):
    _fields_ = [
        *(("data", POINTER), ("device", I32 * 2), ("ndim", I32), ("type", ctypes.c_uint8 * 4)),
        *(("shape", POINTER), ("strides", POINTER), ("byte_offset", I64)),
    ]


class norm_problem(ctypes.Structure):
    """tk_norm_problem's first version."""

    _fields_ = [
        ("size", ctypes.c_size_t),
        *((name, POINTER) for name in ("x", "residual", "weight", "bias", "y", "r")),
        *(("kind", I32), ("eps", ctypes.c_float)),
    ]


def as_dl(x):
    """A bf16 tensor as DLPack has it, and what must outlive it."""
    sizes, strides = (I64 * x.dim())(*x.shape), (I64 * x.dim())(*x.stride())
    made = dl_tensor(
        x.data_ptr(), (1, 0), x.dim(), (4, 16, 1, 0), ctypes.addressof(sizes),
        ctypes.addressof(strides), 0,
    )  # fmt: skip
    return made, (x, sizes, strides)


def cost(call):
    nothing = min(timeit.repeat(lambda: None, number=200, repeat=500))
    return (min(timeit.repeat(call, number=200, repeat=500)) - nothing) / 200 * 1e6


def c_call(x, weight):
    """Of tk_workspace and tk_norm, without what ctypes costs."""
    library = ctypes.CDLL(next(iter(tk_ops.libraries)))
    (xs, kept), (ws, kept_too) = as_dl(x.view(4, 64)), as_dl(weight)
    (ys, kept_as_well), size = as_dl(torch.empty_like(x).view(4, 64)), ctypes.c_size_t()
    at = ctypes.addressof
    problem = norm_problem(ctypes.sizeof(norm_problem), at(xs), 0, at(ws), 0, at(ys), 0, 1, 1e-6)
    where = ctypes.byref(problem)
    assert library.tk_norm(where, None, 0, None) == 0
    ask, empty = library.tk_workspace, library.tk_device_type
    op = c_interface().ops["norm"].number
    bare = cost(lambda: empty(where, None, 0, None))
    return (
        cost(lambda: library.tk_norm(where, None, 0, None))
        + cost(lambda: ask(op, where, ctypes.byref(size)))
        - 2 * bare
    )


def main():
    torch.set_num_threads(1)
    x, weight = torch.randn(2, 2, 64).bfloat16(), torch.randn(64).bfloat16()
    inside = c_call(x, weight)
    print(f"the C call                {inside:6.2f}")
    rows, y = x.view(4, 64), torch.empty_like(x).view(4, 64)
    kind = tk_ops.NormKind.RMS
    plain = cost(lambda: tk_ops.norm(x=rows, weight=weight, y=y, kind=kind, eps=1e-6))
    print(f"tk_ops.norm               {plain - inside:6.2f} over it")
    for name, grad in ("", False), (", gradient to come", True):
        y, w = x.clone().requires_grad_(grad), weight.clone().requires_grad_(grad)
        ours = cost(lambda: tk.rms_norm(y, (64,), w, 1e-6))
        theirs = cost(lambda: F.rms_norm(y, (64,), w, 1e-6))
        print(f"tk.rms_norm{name:18} {ours - inside:6.2f} over it, F.rms_norm {theirs:6.2f} in all")


main()
