# SPDX-License-Identifier: MIT
"""The cases of test_torch.py: functions of tk_ops.torch, their definitions, inputs, bounds."""

import math
import os

import torch
import torch.nn.functional as F

import tk_ops.torch as tk
from torch_definitions import (
    gated,
    hedgehog,
    long_conv,
    packed,
    rotated,
    scan,
    short_conv,
    ssd,
    taylor,
    weights_of,
)

torch.set_default_device(os.environ.get("TK_TORCH_DEVICE", "cpu"))
BF16, FP16, FP32 = torch.bfloat16, torch.float16, torch.float32
HALVES, ALL = (BF16, FP16), (BF16, FP16, FP32)


def randn(*shape):
    return torch.randn(shape, dtype=torch.float64)


def distinct(*shape):
    """Whole numbers that differ along dimension 1."""
    return randn(*shape).argsort(1).double()


class case:
    """A function, its definition, and inputs that are made anew; those of `exact` are fp32 in any
    case, and those of `constant` have no gradient. `loose` are bounds by the places of results and
    gradients: of a head's parameter, whose gradient is a sum over all tokens that cancels in part.
    """

    def __init__(
        self, function, reference, inputs, types=HALVES, bound=0.4, exact=(), constant=(), loose={}
    ):
        self.function, self.reference, self.inputs = function, reference, inputs
        self.types, self.bound, self.exact, self.constant = types, bound, exact, constant
        self.loose = loose

    def wants(self, inputs):
        """The inputs that have gradients."""
        return [
            x
            for i, x in enumerate(inputs)
            if x is not None and x.is_floating_point() and i not in self.constant
        ]

    def bounds(self, dtype, count):
        return [2 if dtype == FP32 else self.loose.get(i, self.bound) for i in range(count)]

    def make(self, dtype, layout="plain"):
        torch.manual_seed(3)
        made = []
        for i, x in enumerate(self.inputs()):
            if x is not None and x.is_floating_point():
                x = x.to(FP32 if i in self.exact else dtype)
            made.append(laid(x, layout))
        return made


def laid(x, layout):
    """x with strides of a view: of a permuted tensor, or of a slice of a larger one."""
    if x is None or layout == "plain" or not x.dim():
        return x
    if layout == "permuted":
        return x.transpose(0, -1).contiguous().transpose(0, -1)
    larger = torch.zeros([n + 3 for n in x.shape], dtype=x.dtype)
    part = larger[tuple(slice(1, n + 1) for n in x.shape)]
    return part.copy_(x)


def with_states(function, *inputs, **options):
    """The results of a function that takes and gives states, in one row."""
    *inputs, state, sums = inputs
    o, states = function(*inputs, initial_states=(state, sums), return_final_states=True, **options)
    return o, *states


SDPA, GQA = tk.scaled_dot_product_attention, {"is_causal": True, "enable_gqa": True}
ALIBI = torch.tensor([0.5, 0.25])


def grouped(function):
    return lambda q, k, v: function(q, k, v, **GQA)


def heads(nq, nk, hq=4, hk=2, dv=32):
    return lambda: (randn(2, hq, nq, 64), randn(2, hk, nk, 64), randn(2, hk, nk, dv))


CASES = {
    "linear": case(tk.linear, F.linear, lambda: (randn(3, 5, 48), randn(40, 48), randn(40))),
    "linear_without_bias": case(tk.linear, F.linear, lambda: (randn(48), randn(40, 48), None)),
    "rms_norm": case(
        lambda x, w: tk.rms_norm(x, 72, w, 1e-3),
        lambda x, w: F.rms_norm(x, (72,), w, 1e-3),
        lambda: (randn(3, 5, 72), randn(72)),
        ALL,
    ),
    "rms_norm_residual": case(
        lambda x, r, w: tk.rms_norm(x, (72,), w, 1e-3, residual=r),
        lambda x, r, w: (F.rms_norm(x + r, (72,), w, 1e-3), x + r),
        lambda: (randn(3, 5, 72), randn(3, 5, 72), randn(72)),
        ALL,
        exact=(1,),
    ),
    "layer_norm": case(
        lambda x, w, b: tk.layer_norm(x, (4, 18), w, b),
        lambda x, w, b: F.layer_norm(x, (4, 18), w, b),
        lambda: (randn(3, 5, 4, 18), randn(4, 18), randn(4, 18)),
        ALL,
    ),
    "layer_norm_residual": case(
        lambda x, r: tk.layer_norm(x, 72, residual=r),
        lambda x, r: (F.layer_norm(x + r, (72,)), x + r),
        lambda: (randn(5, 72), randn(5, 72)),
        ALL,
    ),
    "softmax": case(
        lambda x: tk.softmax(x, 1), lambda x: x.softmax(1), lambda: (randn(3, 5, 72),), ALL
    ),
    "softmax_causal": case(
        lambda x: tk.softmax(x, scale=0.5, causal=True),
        lambda x: (
            (0.5 * x).masked_fill(~torch.ones(7, 9, dtype=bool).tril(2), -math.inf).softmax(-1)
        ),
        lambda: (randn(2, 3, 2, 7, 9),),
        ALL,
    ),
    "cross_entropy": case(
        lambda x, t: tk.cross_entropy(x, t, ignore_index=3, label_smoothing=0.1),
        lambda x, t: F.cross_entropy(x, t, ignore_index=3, label_smoothing=0.1),
        lambda: (randn(40, 9), torch.randint(0, 9, (40,))),
        ALL,
    ),
    "cross_entropy_sum": case(
        lambda x, t: tk.cross_entropy(x, t, reduction="sum"),
        lambda x, t: F.cross_entropy(x, t, reduction="sum"),
        lambda: (randn(4, 9, 6), torch.randint(0, 9, (4, 6))),
        ALL,
    ),
    "cross_entropy_none": case(
        lambda x, t: tk.cross_entropy(x, t, reduction="none"),
        lambda x, t: F.cross_entropy(x, t, reduction="none"),
        lambda: (randn(4, 9), torch.tensor([3, 0, -100, 8])),
        ALL,
    ),
    "linear_cross_entropy": case(
        lambda x, w, t: tk.linear_cross_entropy(x, w, t, ignore_index=3, label_smoothing=0.1),
        lambda x, w, t: F.cross_entropy(F.linear(x, w), t, ignore_index=3, label_smoothing=0.1),
        lambda: (randn(40, 24), randn(9, 24) / 5, torch.randint(0, 9, (40,))),
        bound=0.5,
    ),
    "linear_cross_entropy_sum": case(
        lambda x, w, t: tk.linear_cross_entropy(x, w, t, reduction="sum"),
        lambda x, w, t: F.cross_entropy(F.linear(x, w).flatten(0, 1), t.flatten(), reduction="sum"),
        lambda: (randn(4, 10, 24), randn(9, 24) / 5, torch.randint(0, 9, (4, 10))),
        bound=0.5,
    ),
    "embedding": case(
        lambda w, i: tk.embedding(i, w, -2),
        lambda w, i: F.embedding(i, w, -2),
        lambda: (randn(20, 24), torch.randint(0, 20, (3, 8, 2))),
        ALL,
    ),
    "topk": case(
        lambda x: tk.topk(x, 7, 1).values,
        lambda x: torch.topk(x, 7, 1).values,
        lambda: (distinct(3, 40, 5),),
        ALL,
    ),
    "topk_smallest": case(
        lambda x: tk.topk(x, 3, largest=False).values,
        lambda x: torch.topk(x, 3, largest=False).values,
        lambda: (distinct(2, 20, 3).mT,),
        ALL,
    ),
    "silu": case(tk.silu, F.silu, lambda: (randn(3, 4, 20),), ALL),
    "gelu": case(tk.gelu, F.gelu, lambda: (randn(60),), ALL),
    "gelu_tanh": case(
        lambda x: tk.gelu(x, "tanh"),
        lambda x: F.gelu(x, approximate="tanh"),
        lambda: (randn(4, 20),),
        ALL,
    ),
    "swiglu": case(tk.swiglu, lambda x: gated(F.silu, x), lambda: (randn(3, 4, 40),), ALL),
    "geglu": case(
        tk.geglu, lambda x, y: gated(F.gelu, x, y), lambda: (randn(3, 4, 20), randn(3, 4, 20)), ALL
    ),
    "reglu": case(tk.reglu, lambda x: gated(F.relu, x), lambda: (randn(7, 40),), ALL),
    "rotary": case(
        tk.rotary,
        rotated,
        lambda: (randn(2, 9, 4, 32), randn(2, 9, 2, 32), randn(12, 12), randn(12, 12)),
        ALL,
        exact=(2, 3),
        constant=(2, 3),
    ),
    "rotary_positions": case(
        lambda q, k, c, s, p: tk.rotary(q, k, c, s, positions=p, interleaved=True),
        lambda q, k, c, s, p: rotated(q, k, c, s, p, True),
        lambda: (
            randn(2, 9, 4, 32),
            randn(2, 9, 2, 32),
            randn(12, 12),
            randn(12, 12),
            torch.randint(0, 12, (2, 9)),
        ),
        ALL,
        exact=(2, 3),
        constant=(2, 3),
    ),
    "sdpa": case(SDPA, F.scaled_dot_product_attention, heads(33, 50, 2, 2), bound=0.5),
    "sdpa_of_3": case(
        SDPA,
        F.scaled_dot_product_attention,
        lambda: (randn(3, 20, 32), randn(3, 9, 32), randn(3, 9, 32)),
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
        lambda: (*heads(33, 50, 2, 2)(), randn(2, 1, 33, 50) > -1),
        bound=0.5,
    ),
    "sdpa_bias": case(
        lambda *x: SDPA(*x, scale=0.2),
        lambda *x: F.scaled_dot_product_attention(*x, scale=0.2),
        lambda: (*heads(33, 50, 2, 2)(), randn(2, 1, 50)),
        bound=0.5,
    ),
    "attention": case(
        lambda q, k, v, b, s: tk.attention(
            q, k, v, causal=True, window=(20, None), softcap=2.0, alibi=ALIBI, bias=b, sinks=s
        ),
        lambda q, k, v, b, s: torch.einsum(
            "bhij,bjhd->bihd", weights_of(q, k, 2.0, 20, ALIBI, b, s), v
        ),
        lambda: (
            randn(2, 33, 2, 64),
            randn(2, 50, 2, 64),
            randn(2, 50, 2, 32),
            randn(1, 2, 33, 50),
            randn(2),
        ),
        bound=0.6,
        exact=(3, 4),
    ),
    "linear_attention": case(
        lambda q, k, v, g, s: tk.linear_attention(
            q, k, v, log_decay=g, scale=0.2, initial_state=s, return_final_state=True
        ),
        lambda q, k, v, g, s: scan(q, k, v, g, s, 0.2),
        lambda: (
            randn(2, 70, 2, 32),
            randn(2, 70, 2, 32),
            randn(2, 70, 2, 48),
            -randn(2, 70, 2).abs(),
            randn(2, 2, 32, 48),
        ),
        bound=0.5,
        exact=(3, 4),
    ),
    "based": case(
        lambda *x: with_states(tk.based, *x, scale=0.3),
        lambda *x: taylor(*x, 0.3),
        lambda: (
            randn(2, 70, 2, 16),
            randn(2, 70, 2, 16),
            randn(2, 70, 2, 48),
            randn(2, 2, 153, 48),
            100 + randn(2, 2, 153).abs(),
        ),
        bound=0.8,
        exact=(3, 4),
    ),
    "hedgehog": case(
        lambda *x: with_states(tk.hedgehog, *x),
        hedgehog,
        lambda: (
            randn(2, 200, 2, 128),
            randn(2, 230, 2, 128),
            randn(2, 230, 2, 128),
            randn(2, 128, 64) / 11,
            randn(2, 128, 64) / 11,
            1 + randn(2).abs(),
            1 + randn(2).abs(),
            randn(2, 2, 128, 128).abs(),
            randn(2, 2, 128).abs(),
        ),
        bound=0.7,
        exact=(5, 6, 7, 8),
    ),
    "mamba2": case(
        lambda *x: tk.mamba2(*x, dt_softplus=True, dt_limit=(0.05, 2), return_final_states=True),
        ssd,
        lambda: (
            randn(2, 70, 4, 32),
            randn(2, 70, 4),
            -randn(4).abs(),
            randn(2, 70, 2, 16),
            randn(2, 70, 2, 16),
            randn(4),
            randn(2, 70, 4, 32),
            randn(4),
            randn(2, 4, 32, 16),
        ),
        bound=0.6,
        exact=(1, 2, 5, 7, 8),
        loose={4: 2, 9: 2},
    ),
    "causal_conv1d": case(
        lambda *x: tk.causal_conv1d(*x[:3], "silu", x[3], return_final_states=True),
        short_conv,
        lambda: (randn(2, 30, 24), randn(24, 4), randn(24), randn(2, 3, 24)),
        ALL,
    ),
    "fft_conv": case(
        tk.fft_conv,
        long_conv,
        lambda: (randn(2, 4, 500), randn(4, 300) / 17, randn(2, 4, 500), randn(2, 4, 500)),
        bound=0.6,
        exact=(1,),
    ),
}
PACKED = torch.tensor([0, 20, 20, 50], dtype=torch.int32)


CASES["packed_attention"] = case(
    lambda *x: tk.attention(*x, cu_seqlens_q=PACKED, cu_seqlens_k=PACKED),
    lambda *x: packed(*x, PACKED),
    lambda: (randn(50, 2, 32), randn(50, 2, 32), randn(50, 2, 16)),
    bound=0.5,
)
