# SPDX-License-Identifier: MIT
"""The functions of tk_ops.torch with what PyTorch and others have in their place: CASES, by name.

A case's definition is PyTorch's way to compute it; in fp64 it is what all are compared with. Peers
are functions of the same inputs; what they import, they import when they are first called, and a
peer that cannot be had is left out. Sizes are the words of CARD, or of QUICK for a CPU.
"""

import math
import os
import sys
from functools import partial

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "../../tests/python")]
from definitions import gated, long_conv, rotated  # noqa: E402
from torch_cases import load, package  # noqa: E402

import tk_ops.torch as tk  # noqa: E402

imported = load("attention", "flash").imported
scanned = load("linear_attention", "torch_cases").scanned
scanned_by_moments = load("based", "torch_cases").scanned
hedgehog_of = load("hedgehog", "torch_cases").hedgehog
QUICK = {"b": 2, "n": 40, "rows": 24, "width": 64, "hidden": 48, "classes": 50, "h": 4, "hk": 2,
         "d": 32, "state": 16, "channels": 8, "long": 300}  # fmt: skip
CARD = {"b": 1, "n": 4096, "rows": 8192, "width": 4096, "hidden": 14336, "classes": 32000, "h": 32,
        "hk": 8, "d": 128, "state": 128, "channels": 1024, "long": 8192}  # fmt: skip
# The largest error relative to the result, roots of sums of squares, in units of the type's epsilon:
# one rounding commits 0.2.
BOUND = 0.6


class case:
    """inputs(random, s) makes the inputs from the sizes s; those of `exact` are fp32 in any case,
    those of `constant` have no gradient. `loose` has the bounds of gradients that are differences
    of sums that are rounded, by their place among results and gradients (tests/python/test_torch.py
    says more); that of others is BOUND."""

    def __init__(self, function, definition, inputs, peers={}, exact=(), constant=(), flops=None,
                 loose={}, compiled=True):  # fmt: skip
        self.function, self.definition, self.inputs = function, definition, inputs
        self.peers, self.exact, self.constant, self.flops = peers, exact, constant, flops
        self.loose, self.compiled = loose, compiled

    def make(self, sizes, dtype, device):
        """Inputs: normal numbers, rounded to the type."""
        generator = torch.Generator(device).manual_seed(1)

        def random(*shape, below=None):
            if below is None:
                return torch.randn(shape, generator=generator, device=device)
            return torch.randint(below, shape, generator=generator, device=device)

        made = self.inputs(random, sizes)
        return [
            x if i in self.exact or not x.is_floating_point() else x.to(dtype)
            for i, x in enumerate(made)
        ]


def wide(x):
    """What fp64 leaves as it is, and other types compute in fp32."""
    return x if x.dtype == torch.float64 else x.float()


def first(x):
    return x[0] if isinstance(x, (tuple, list)) else x


def rows(random, s):
    return random(s["rows"], s["width"]), random(s["width"])


def halves(random, s):
    return (random(s["rows"], 2 * s["hidden"]),)


def logits(random, s):
    return random(s["rows"], s["classes"]), random(s["rows"], below=s["classes"])


def batches(random, s):
    return random(s["h"], s["n"], s["d"]), random(s["h"], s["n"], s["d"])


def products(s):
    """Flops of their product."""
    return 2 * s["h"] * s["n"] ** 2 * s["d"]


# ---- linear layers and rows ----------------------------------------------------------------------
def liger(module, function):
    """An autograd function of Liger, as a function."""
    return lambda *x: getattr(package(f"liger_kernel.ops.{module}"), function).apply(*x)


def of_rows(function, definition, inputs=lambda random, s: (random(s["rows"], s["hidden"]),)):
    return case(function, definition, inputs)


ROWS = {
    "linear": case(
        tk.linear,
        F.linear,
        lambda random, s: (
            random(s["rows"], s["width"]),
            random(s["hidden"], s["width"]),
            random(s["hidden"]),
        ),
        {"quack": lambda x, w, b: package("quack.linear").linear_func(x, w, b, tuned=False)},
        flops=lambda s: 2 * s["rows"] * s["width"] * s["hidden"],
    ),
    "matmul": case(
        lambda a, b: tk.matmul(a, b.mT), lambda a, b: a @ b.mT, batches, flops=products
    ),
    "addmm": case(
        tk.addmm,
        torch.addmm,
        lambda random, s: (
            random(s["rows"], s["hidden"]),
            random(s["rows"], s["width"]),
            random(s["width"], s["hidden"]),
        ),
        flops=lambda s: 2 * s["rows"] * s["width"] * s["hidden"],
    ),
    "baddbmm": case(
        lambda a, b, c: tk.baddbmm(c, a, b.mT, alpha=0.5),
        lambda a, b, c: torch.baddbmm(c, a, b.mT, alpha=0.5),
        lambda random, s: (*batches(random, s), random(s["h"], s["n"], s["n"])),
        flops=products,
    ),
    "rms_norm": case(
        lambda x, w: tk.rms_norm(x, x.shape[1:], w, 1e-6),
        lambda x, w: F.rms_norm(x, x.shape[1:], w, 1e-6),
        rows,
        {
            "quack": lambda x, w: package("quack.rmsnorm").rmsnorm(x, w, eps=1e-6),
            "liger": lambda x, w: liger("rms_norm", "LigerRMSNormFunction")(
                x, w, 1e-6, 0.0, "llama", False
            ),
            "fla": lambda x, w: package("fla.modules.norm.layernorm").rms_norm(
                x, w, None, eps=1e-6
            ),
        },
    ),
    "rms_norm_residual": case(
        lambda x, w, r: tk.rms_norm(x, x.shape[1:], w, 1e-6, residual=r),
        lambda x, w, r: (F.rms_norm(x + r, x.shape[1:], w, 1e-6), x + r),
        lambda random, s: (*rows(random, s), random(s["rows"], s["width"])),
        {
            "quack": lambda x, w, r: package("quack.rmsnorm").rmsnorm(
                x, w, residual=r, eps=1e-6, prenorm=True
            ),
            "liger": lambda x, w, r: liger("fused_add_rms_norm", "LigerFusedAddRMSNormFunction")(
                x, r, w, 1e-6, 0.0, "llama", False
            ),
            "fla": lambda x, w, r: package("fla.modules.norm.layernorm").rms_norm(
                x, w, None, residual=r, eps=1e-6, prenorm=True
            ),
        },
    ),
    "layer_norm": case(
        lambda x, w, b: tk.layer_norm(x, x.shape[1:], w, b),
        lambda x, w, b: F.layer_norm(x, x.shape[1:], w, b),
        lambda random, s: (*rows(random, s), random(s["width"])),
        {
            "liger": lambda x, w, b: liger("layer_norm", "LigerLayerNormFunction")(x, w, b, 1e-5),
            "fla": lambda x, w, b: package("fla.modules.norm.layernorm").layer_norm(x, w, b),
        },
    ),
    "softmax": case(
        tk.softmax,
        lambda x: x.softmax(-1),
        lambda random, s: (random(s["rows"], s["width"]),),
        {
            "quack": lambda x: package("quack.softmax").softmax(x),
            "liger": liger("softmax", "LigerSoftmaxFunction"),
        },
    ),
    "cross_entropy": case(
        tk.cross_entropy,
        lambda x, t: F.cross_entropy(wide(x), t),
        logits,
        {
            "quack": lambda x, t: package("quack.cross_entropy").cross_entropy(x, t),
            "liger": lambda x, t: first(
                liger("cross_entropy", "LigerCrossEntropyFunction")(x, t, None)
            ),
            "fla": lambda x, t: first(
                package("fla.modules.fused_cross_entropy").cross_entropy_loss(x, t)
            ).mean(),
        },
    ),
    "linear_cross_entropy": case(
        tk.linear_cross_entropy,
        lambda x, w, t: F.cross_entropy(wide(F.linear(x, w)), t),
        lambda random, s: (
            random(s["rows"], s["width"]),
            random(s["classes"], s["width"]) / s["width"] ** 0.5,
            random(s["rows"], below=s["classes"]),
        ),
        {
            "quack": lambda x, w, t: package(
                "quack.linear_cross_entropy"
            ).chunked_linear_cross_entropy(x, w, t, tuned=False),
            "liger": lambda x, w, t: first(
                liger("fused_linear_cross_entropy", "LigerFusedLinearCrossEntropyFunction")(x, w, t)
            ),
            "fla": lambda x, w, t: package(
                "fla.modules.fused_linear_cross_entropy"
            ).fused_linear_cross_entropy_loss(x, t, w),
        },
        flops=lambda s: 2 * s["rows"] * s["width"] * s["classes"],
    ),
    "embedding": case(
        lambda w, i: tk.embedding(i, w),
        lambda w, i: F.embedding(i, w),
        lambda random, s: (random(s["classes"], s["width"]), random(s["rows"], below=s["classes"])),
    ),
    "add": case(
        tk.add,
        torch.add,
        lambda random, s: (random(s["rows"], s["width"]), random(s["rows"], s["width"])),
    ),
    "transpose": of_rows(
        lambda x: tk.transpose(x, 0, 1), lambda x: x.transpose(0, 1).contiguous()
    ),
    "silu": of_rows(tk.silu, F.silu),
    "gelu": of_rows(tk.gelu, F.gelu),
    "swiglu": case(
        tk.swiglu,
        lambda x: gated(F.silu, x),
        halves,
        {"liger": lambda x: liger("swiglu", "LigerSiLUMulFunction")(*x.chunk(2, -1))},
    ),
    "geglu": case(
        lambda x: tk.geglu(x, approximate="tanh"),
        lambda x: gated(lambda a: F.gelu(a, approximate="tanh"), x),
        halves,
        {"liger": lambda x: liger("geglu", "LigerGELUMulFunction")(*x.chunk(2, -1))},
    ),
    "reglu": of_rows(tk.reglu, lambda x: gated(F.relu, x), halves),
}


# ---- attention -----------------------------------------------------------------------------------
def heads(random, s):
    b, n, d = s["b"], s["n"], s["d"]
    return random(b, n, s["h"], d), random(b, n, s["hk"], d), random(b, n, s["hk"], d)


def pairs(s):
    """Flops of a causal attention."""
    return 2 * s["b"] * s["h"] * s["d"] * s["n"] * (s["n"] + 1)


def of_torch(q, k, v, **options):
    """PyTorch's attention in TK's layout."""
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    return F.scaled_dot_product_attention(q, k, v, enable_gqa=True, **options).transpose(1, 2)


def causal_by(backend):
    def run(q, k, v):
        with sdpa_kernel([backend]):
            return of_torch(q, k, v, is_causal=True)

    return run


def window_of(q):
    """Keys to the left that a query sees beside its own."""
    return q.size(1) // 8 - 1


def in_window(q, k, v):
    distance = torch.arange(q.size(1), device=q.device)
    distance = distance[:, None] - distance
    return of_torch(q, k, v, attn_mask=(distance >= 0) & (distance <= window_of(q)))


FLASH = {
    "flash3": ("flash_attn_interface", "flash_attn_3.flash_attn_interface"),
    "flash4": ("flash_attn.cute",),
}


def flash(q, k, v, modules, **options):
    return first(imported(*modules).flash_attn_func(q, k, v, causal=True, **options))


def rotary_inputs(random, s):
    angles = random(s["n"], s["d"] // 2)
    return *heads(random, s)[:2], angles.cos(), angles.sin()


def liger_rope(q, k, cos, sin):
    q, k = liger("rope", "LigerRopeFunction")(
        q.transpose(1, 2), k.transpose(1, 2), cos, sin, None, 1, q.size(-1)
    )
    return q.transpose(1, 2), k.transpose(1, 2)


def each(module, function):
    """Rotates q, and then k."""
    return lambda q, k, cos, sin: tuple(
        getattr(package(module), function)(x, cos, sin) for x in (q, k)
    )


ATTENTION = {
    "rotary": case(
        tk.rotary,
        partial(rotated, torch),
        rotary_inputs,
        {
            "quack": each("quack.rotary", "apply_rotary_emb"),
            "liger": liger_rope,
            "fla": each("fla.modules.rotary", "rotary_embedding"),
        },
        constant=(2, 3),
    ),
    "scaled_dot_product_attention": case(
        lambda q, k, v: tk.scaled_dot_product_attention(
            q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), is_causal=True, enable_gqa=True
        ).transpose(1, 2),
        lambda q, k, v: of_torch(q, k, v, is_causal=True),
        heads,
        {
            "cudnn": causal_by(SDPBackend.CUDNN_ATTENTION),
            "flash2": causal_by(SDPBackend.FLASH_ATTENTION),
            **{name: partial(flash, modules=x) for name, x in FLASH.items()},
        },
        flops=pairs,
        compiled=False,
    ),
    "attention": case(
        lambda q, k, v: tk.attention(q, k, v, causal=True, window=(window_of(q), None)),
        in_window,
        heads,
        {
            name: lambda q, k, v, x=x: flash(q, k, v, x, window_size=(window_of(q), 0))
            for name, x in FLASH.items()
        },
        compiled=False,
    ),
}


# ---- along sequences -----------------------------------------------------------------------------
def scan(q, k, v, log, scale):
    """Linear attention in chunks, of [b, n, h, d]."""
    flat = [wide(x).transpose(1, 2).flatten(0, 1) for x in (q, k, v, log)]
    state = torch.zeros(1, device=q.device, dtype=flat[0].dtype)
    o, _ = scanned(*flat, state.expand(len(flat[0]), q.size(-1), v.size(-1)), scale)
    return o.unflatten(0, (len(q), -1)).transpose(1, 2)


def based(q, k, v):
    flat = [wide(x).transpose(1, 2).flatten(0, 1) for x in (q, k, v)]
    state = torch.zeros(1, device=q.device, dtype=flat[0].dtype)
    o, _ = scanned_by_moments(*flat, state.expand(len(flat[0]), 153, v.size(-1)), True)
    return o.unflatten(0, (len(q), -1)).transpose(1, 2).to(v.dtype)


def hedgehog(q, k, v, map_q, map_k, alpha, beta):
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    sums = torch.promote_types(q.dtype, torch.float32)
    kv = torch.zeros(1, 1, 128, 128, device=q.device, dtype=sums).expand(*q.shape[:2], -1, -1)
    o, *_ = hedgehog_of(q, k, v, map_q, map_k, alpha, beta, kv, kv[..., 0], 0)
    return o.transpose(1, 2).to(q.dtype)


def mamba2(x, dt, A, B, C, D, bias):
    dt = F.softplus(wide(dt) + bias)
    B, C = (y.repeat_interleave(x.size(2) // y.size(2), 2) for y in (B, C))
    return (scan(C, B, wide(x) * dt[..., None], dt * A, 1) + D[:, None] * x).to(x.dtype)


def scan_inputs(random, s):
    q, k, v = (random(s["b"], s["n"], s["h"], s["d"]) for _ in range(3))
    return q, k, v, -random(s["b"], s["n"], s["h"]).abs() / 32


def hedgehog_inputs(random, s):
    q, k, v = (random(s["b"], max(s["n"], 160), s["h"], 128) for _ in range(3))
    maps, factors = random(2, s["h"], 128, 64) / 11, 0.5 + random(2, s["h"]).abs()
    return q, k, v, *maps, *factors


def mamba2_inputs(random, s):
    b, n, h = s["b"], s["n"], s["h"]
    B, C = (random(b, n, 1, s["state"]) for _ in range(2))
    A = -(2.0 ** -(torch.arange(h, device=B.device) % 6))
    return random(b, n, h, s["d"] // 2), random(b, n, h), A, B, C, random(h), random(h)


def short_conv(x, weight, bias):
    x = F.pad(x.transpose(1, 2), (weight.size(1) - 1, 0))
    return F.silu(F.conv1d(x, weight[:, None], bias, groups=weight.size(0))).transpose(1, 2)


def tokens(function):
    """Of a function that has channels before tokens."""
    return lambda x, *more: function(x.transpose(1, 2), *more).transpose(1, 2)


SEQUENCES = {
    "linear_attention": case(
        lambda q, k, v, g: tk.linear_attention(q, k, v, log_decay=g),
        lambda q, k, v, g: scan(q, k, v, g, q.size(-1) ** -0.5).to(q.dtype),
        scan_inputs,
        {
            "fla": lambda q, k, v, g: first(
                package("fla.ops.simple_gla").chunk_simple_gla(q, k, v, g, scale=q.size(-1) ** -0.5)
            )
        },
        exact=(3,),
        loose={4: 4},
        compiled=False,
    ),
    "based": case(
        tk.based,
        based,
        lambda random, s: [random(s["b"], s["n"], s["h"], d) for d in (16, 16, s["d"])],
        {"fla": lambda *x: package("fla.ops.based").parallel_based(*x, scale=0.25, use_norm=True)},
        loose={1: 0.8, 2: 0.8},
        compiled=False,
    ),
    "hedgehog": case(
        tk.hedgehog, hedgehog, hedgehog_inputs, exact=(5, 6), constant=(5, 6), compiled=False
    ),
    "mamba2": case(
        lambda x, dt, A, B, C, D, bias: tk.mamba2(
            x, dt, A, B, C, D, dt_bias=bias, dt_softplus=True
        ),
        mamba2,
        mamba2_inputs,
        {
            "mamba_ssm": lambda x, dt, A, B, C, D, bias: package(
                "mamba_ssm.ops.triton.ssd_combined"
            ).mamba_chunk_scan_combined(x, dt, A, B, C, 256, D=D, dt_bias=bias, dt_softplus=True)
        },
        exact=(1, 2, 5, 6),
        loose={2: 5, 3: 8, 7: 16},
        compiled=False,
    ),
    "causal_conv1d": case(
        lambda x, w, b: tk.causal_conv1d(x, w, b, "silu"),
        short_conv,
        lambda random, s: (
            random(s["b"], s["n"], s["width"]),
            random(s["width"], 4),
            random(s["width"]),
        ),
        {
            "causal_conv1d": tokens(
                lambda x, w, b: package("causal_conv1d").causal_conv1d_fn(
                    x, w, b, activation="silu"
                )
            ),
            "fla": lambda x, w, b: first(
                package("fla.modules.causal_conv1d").causal_conv1d(x, w, b, activation="silu")
            ),
        },
    ),
    "fft_conv": case(
        tk.fft_conv,
        lambda u, k: long_conv(torch, wide(u), k, 1, 1).to(u.dtype),
        lambda random, s: (
            random(s["b"], s["channels"], s["long"]),
            random(s["channels"], s["long"]) / math.sqrt(s["long"]),
        ),
        exact=(1,),
        compiled=False,
    ),
}

CASES = {**ROWS, **ATTENTION, **SEQUENCES}
