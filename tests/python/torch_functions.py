# SPDX-License-Identifier: MIT
"""The cases of test_torch.py: functions of tk_ops.torch, their definitions, inputs, bounds."""

import math
import os
from functools import partial

import numpy
import shared_cases
import torch
import torch.nn.functional as F
from definitions import gated, long_conv
from shared_cases import ALL, ids, randn

import tk_ops.torch as tk

torch.set_default_device(os.environ.get("TK_TORCH_DEVICE", "cpu"))


def type_of(name):
    return getattr(torch, name)


class case(shared_cases.case):
    def make(self, dtype, layout="plain"):
        """The inputs where dtype, by its name, is the case's."""
        made = []
        for i, x in enumerate(self.inputs):
            if x is not None:
                kind = self.type_of(i, dtype)
                x = torch.tensor(x, dtype=None if kind is None else type_of(kind))
            made.append(laid(x, layout))
        return made


def laid(x, layout):
    """x with strides of a view: of a permuted tensor, or of a slice of a larger one."""
    if x is None or layout == "plain" or not x.dim():
        return x
    if layout == "permuted":
        return x.transpose(0, -1).contiguous().transpose(0, -1)
    larger = x.new_zeros([n + 3 for n in x.shape])
    part = larger[tuple(slice(1, n + 1) for n in x.shape)]
    return part.copy_(x)


def distinct(*shape):
    """Whole numbers that differ along dimension 1."""
    return randn(*shape).argsort(1).astype(float)


SDPA, GQA = tk.scaled_dot_product_attention, {"is_causal": True, "enable_gqa": True}


def grouped(function):
    return lambda q, k, v: function(q, k, v, **GQA)


def heads(nq, nk, hq=4, hk=2, dv=32):
    return randn(2, hq, nq, 64), randn(2, hk, nk, 64), randn(2, hk, nk, dv)


CASES = {
    "linear": case(tk.linear, F.linear, (randn(3, 5, 48), randn(40, 48), randn(40))),
    "linear_without_bias": case(tk.linear, F.linear, (randn(48), randn(40, 48), None)),
    "matmul": case(
        lambda a, b: tk.matmul(a, b.mT), lambda a, b: a @ b.mT, (randn(3, 8, 24), randn(16, 24))
    ),
    "matmul_broadcast": case(
        lambda a, b: tk.matmul(a.mT, b),
        lambda a, b: a.mT @ b,
        (randn(2, 1, 24, 8), randn(3, 24, 16)),
    ),
    "matmul_vectors": case(
        lambda a, b, c: (tk.matmul(a, b), tk.matmul(b, c), tk.matmul(a, c)),
        lambda a, b, c: (a @ b, b @ c, a @ c),
        (randn(16), randn(3, 16, 16), randn(16)),
        bound=0.6,
    ),
    "addmm": case(
        lambda c, a, b: tk.addmm(c, a, b, beta=0.5, alpha=-2),
        lambda c, a, b: torch.addmm(c, a, b, beta=0.5, alpha=-2),
        (randn(16), randn(8, 24), randn(24, 16)),
    ),
    "baddbmm_fp32": case(
        lambda c, a, b: tk.baddbmm(c, a, b, out_dtype=torch.float32).to(a.dtype),
        torch.baddbmm,
        (randn(3, 8, 16), randn(3, 8, 24), randn(3, 24, 16)),
    ),
    "rms_norm": case(
        lambda x, w: tk.rms_norm(x, 72, w, 1e-3),
        lambda x, w: F.rms_norm(x, (72,), w, 1e-3),
        (randn(3, 5, 72), randn(72)),
        ALL,
    ),
    "rms_norm_residual": case(
        lambda x, r, w: tk.rms_norm(x, (72,), w, 1e-3, residual=r),
        lambda x, r, w: (F.rms_norm(x + r, (72,), w, 1e-3), x + r),
        (randn(3, 5, 72), randn(3, 5, 72), randn(72)),
        ALL,
        exact=(1,),
    ),
    "layer_norm": case(
        lambda x, w, b: tk.layer_norm(x, (4, 18), w, b),
        lambda x, w, b: F.layer_norm(x, (4, 18), w, b),
        (randn(3, 5, 4, 18), randn(4, 18), randn(4, 18)),
        ALL,
    ),
    "layer_norm_residual": case(
        lambda x, r: tk.layer_norm(x, 72, residual=r),
        lambda x, r: (F.layer_norm(x + r, (72,)), x + r),
        (randn(5, 72), randn(5, 72)),
        ALL,
    ),
    "softmax": case(lambda x: tk.softmax(x, 1), lambda x: x.softmax(1), (randn(3, 5, 72),), ALL),
    "softmax_of_dimension_0": case(
        lambda x, b: tk.softmax(x, 0, bias=b),
        lambda x, b: (x + b).softmax(0),
        (randn(9, 5), randn(9, 1)),
        ALL,
        loose={2: 1.5},  # a bias's gradient: terms that cancel, each of them rounded
    ),
    "softmax_biased": case(
        lambda x, b, m: tk.softmax(x, scale=0.5, bias=b, mask=m),
        lambda x, b, m: (0.5 * x + b).masked_fill(~m, -math.inf).softmax(-1),
        (randn(3, 2, 7, 72), randn(2, 1, 72), randn(3, 1, 7, 1).repeat(72, -1) + randn(72) > -3),
        ALL,
        exact=(1,),
    ),
    "softmax_biased_of_5": case(
        lambda x, b: tk.softmax(x, causal=True, bias=b),
        lambda x, b: (x + b).masked_fill(torch.ones(7, 7).triu(1) > 0, -math.inf).softmax(-1),
        (randn(2, 3, 2, 7, 7), randn(3, 1, 1, 7)),
        ALL,
        loose={2: 1.5},
    ),
    "cross_entropy": case(
        lambda x, t: tk.cross_entropy(x, t, ignore_index=3, label_smoothing=0.1),
        lambda x, t: F.cross_entropy(x, t, ignore_index=3, label_smoothing=0.1),
        (randn(40, 9), ids(9, 40)),
        ALL,
    ),
    "cross_entropy_sum": case(
        lambda x, t: tk.cross_entropy(x, t, reduction="sum"),
        lambda x, t: F.cross_entropy(x, t, reduction="sum"),
        (randn(4, 9, 6), ids(9, 4, 6)),
        ALL,
    ),
    "cross_entropy_none": case(
        lambda x, t: tk.cross_entropy(x, t, reduction="none"),
        lambda x, t: F.cross_entropy(x, t, reduction="none"),
        (randn(4, 9), numpy.array([3, 0, -100, 8])),
        ALL,
    ),
    "linear_cross_entropy": case(
        lambda x, w, t: tk.linear_cross_entropy(x, w, t, ignore_index=3, label_smoothing=0.1),
        lambda x, w, t: F.cross_entropy(F.linear(x, w), t, ignore_index=3, label_smoothing=0.1),
        (randn(40, 24), randn(9, 24) / 5, ids(9, 40)),
        bound=0.6,
    ),
    "linear_cross_entropy_sum": case(
        lambda x, w, t: tk.linear_cross_entropy(x, w, t, reduction="sum"),
        lambda x, w, t: F.cross_entropy(F.linear(x, w).flatten(0, 1), t.flatten(), reduction="sum"),
        (randn(4, 10, 24), randn(9, 24) / 5, ids(9, 4, 10)),
        bound=0.6,
    ),
    "embedding": case(
        lambda w, i: tk.embedding(i, w, -2),
        lambda w, i: F.embedding(i, w, -2),
        (randn(20, 24), ids(20, 3, 8, 2)),
        ALL,
    ),
    "topk": case(
        lambda x: tk.topk(x, 7, 1).values,
        lambda x: torch.topk(x, 7, 1).values,
        (distinct(3, 40, 5),),
        ALL,
    ),
    "topk_smallest": case(
        lambda x: tk.topk(x, 3, largest=False).values,
        lambda x: torch.topk(x, 3, largest=False).values,
        (distinct(2, 20, 3).swapaxes(1, 2),),
        ALL,
    ),
    "transpose": case(
        lambda x: tk.transpose(x, 3, 4),
        lambda x: x.transpose(3, 4),
        (randn(2, 3, 1, 5, 20),),
        ALL,
    ),
    "silu": case(tk.silu, F.silu, (randn(3, 4, 20),), ALL),
    "gelu": case(tk.gelu, F.gelu, (randn(60),), ALL),
    "gelu_tanh": case(
        lambda x: tk.gelu(x, "tanh"),
        lambda x: F.gelu(x, approximate="tanh"),
        (randn(4, 20),),
        ALL,
    ),
    "swiglu_interleaved": case(
        lambda x: tk.swiglu(x, interleaved=True),
        lambda x: F.silu(x[..., ::2]) * x[..., 1::2],
        (randn(12, 42),),  # sliced, rows are an odd number of elements apart
    ),
    "geglu": case(
        tk.geglu, lambda x, y: gated(F.gelu, x, y), (randn(3, 4, 20), randn(3, 4, 20)), ALL
    ),
    "sdpa": case(SDPA, F.scaled_dot_product_attention, heads(33, 50, 2, 2), bound=0.5),
    "sdpa_of_3": case(
        SDPA,
        F.scaled_dot_product_attention,
        (randn(3, 20, 32), randn(3, 9, 32), randn(3, 9, 32)),
        bound=0.5,
    ),
    "sdpa_causal": case(
        grouped(SDPA), grouped(F.scaled_dot_product_attention), heads(40, 40), bound=0.5
    ),
    "sdpa_more_keys": case(
        grouped(SDPA), grouped(F.scaled_dot_product_attention), heads(33, 50), bound=0.5
    ),
    "sdpa_more_queries": case(
        grouped(SDPA), grouped(F.scaled_dot_product_attention), heads(50, 33), bound=0.5
    ),
    "sdpa_bool_mask": case(
        SDPA,
        F.scaled_dot_product_attention,
        (*heads(33, 50, 2, 2), randn(2, 1, 33, 50) > -1),
        bound=0.5,
    ),
    "sdpa_bias": case(
        lambda *x: SDPA(*x, scale=0.2),
        lambda *x: F.scaled_dot_product_attention(*x, scale=0.2),
        (*heads(33, 50, 2, 2), randn(2, 1, 50)),
        bound=0.5,
    ),
    "fft_conv_of_filter": case(
        lambda u, k, *gates: tk.fft_conv(u, k, *gates, filter=tk.fft_filter(k, u)),
        partial(long_conv, torch),
        (randn(2, 4, 501), randn(4, 300) / 17, randn(2, 4, 501), randn(2, 4, 501)),
        bound=0.6,
        exact=(1,),
    ),
    **shared_cases.shared(case, tk, torch),
}
