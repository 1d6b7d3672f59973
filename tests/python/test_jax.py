# SPDX-License-Identifier: MIT
"""tk_ops.jax under jax.jit against definitions in fp64 on the same rounded inputs: results and
gradients of each type. With TK_JAX_DEVICE=cuda they are on a GPU, and want a library that is built
for it: TK_JAX_DEVICE=cuda python -m pytest tests/python/test_jax.py

`bound` of a case is its largest root mean square error relative to the result's, in units of the
type's epsilon, as in test_torch.py, whose reasons hold here; in fp32 it is 2 throughout. `loose`
are bounds by the places of results and gradients: of a decay of each head, whose gradient is a sum
over all tokens that cancels in part.
"""

import os

import numpy
import pytest

jax = pytest.importorskip("jax")
pytest.importorskip("jax_tvm_ffi")
jax.config.update("jax_platforms", os.environ.get("TK_JAX_DEVICE", "cpu"))
jax.config.update("jax_num_cpu_devices", 2)
jax.config.update("jax_enable_x64", True)
jax.config.update("jax_disable_most_optimizations", True)  # of definitions: half the time
import jax.numpy as jnp  # noqa: E402

import tk_ops.jax as tk  # noqa: E402
from jax_definitions import (  # noqa: E402
    attention_of,
    gated,
    long_conv,
    losses,
    normed,
    packed,
    rotated,
    scan,
    short_conv,
    ssd,
)

BF16, FP16, FP32 = jnp.bfloat16, jnp.float16, jnp.float32
HALVES, ALL = (BF16, FP16), (BF16, FP16, FP32)
random = numpy.random.default_rng(3)


def randn(*shape):
    return random.standard_normal(shape)


def ids(most, *shape):
    return random.integers(0, most, shape)


class case:
    """A function, its definition, and inputs; those of `exact` are fp32 in any case, those of
    `constant` have no gradient."""

    def __init__(
        self, function, reference, inputs, types=HALVES, bound=0.4, exact=(), constant=(), loose={}
    ):
        self.function, self.reference, self.inputs = function, reference, inputs
        self.types, self.bound, self.exact, self.loose = types, bound, exact, loose
        self.wanted = [
            i for i, x in enumerate(inputs) if x.dtype == numpy.float64 and i not in constant
        ]

    def bounds(self, dtype, count):
        return [2 if dtype == FP32 else self.loose.get(i, self.bound) for i in range(count)]

    def make(self, dtype):
        return [
            x if x.dtype != numpy.float64 else x.astype(FP32 if i in self.exact else dtype)
            for i, x in enumerate(self.inputs)
        ]


def cotangent(y):
    made = numpy.random.default_rng(y.size).standard_normal(y.shape)
    return made.astype(jnp.bfloat16).astype(y.dtype)


def with_gradients(this, function):
    """Of inputs the results of the function of a case, and the gradients."""

    def run(inputs):
        def of(*wanted):
            arguments = list(inputs)
            for i, x in zip(this.wanted, wanted, strict=True):
                arguments[i] = x
            found = function(*arguments)
            return found if isinstance(found, tuple) else (found,)

        results, pull_back = jax.vjp(of, *(inputs[i] for i in this.wanted))
        return *results, *pull_back(tuple(map(cotangent, results)))

    return jax.jit(run)


def heads(nq, nk, hq=4, hk=2, dv=32):
    return randn(2, nq, hq, 64), randn(2, nk, hk, 64), randn(2, nk, hk, dv)


SDPA = tk.dot_product_attention
CAUSAL = {"is_causal": True}
ALIBI = numpy.array([0.5, 0.25], numpy.float32)
PACKED = numpy.array([0, 20, 20, 50], numpy.int32)
LENGTHS = numpy.array([30, 17], numpy.int32), numpy.array([50, 1], numpy.int32)

CASES = {
    "linear": case(
        tk.linear, lambda x, w, b: x @ w + b, (randn(3, 5, 48), randn(48, 40), randn(40))
    ),
    "linear_of_a_vector": case(tk.linear, lambda x, w: x @ w, (randn(48), randn(48, 40))),
    "matmul": case(tk.matmul, jnp.matmul, (randn(2, 3, 33, 48), randn(2, 3, 48, 24))),
    "matmul_shared": case(tk.matmul, jnp.matmul, (randn(2, 33, 48), randn(48, 24))),
    "rms_norm": case(
        lambda x, w: tk.rms_norm(x, w, eps=1e-3),
        lambda x, w: normed(x, w, 0, 1e-3, True),
        (randn(3, 5, 73), randn(73)),
        ALL,
    ),
    "rms_norm_residual": case(
        lambda x, r, w: tk.rms_norm(x, w, eps=1e-3, residual=r),
        lambda x, r, w: (normed(x + r, w, 0, 1e-3, True), x + r),
        (randn(3, 5, 72), randn(3, 5, 72), randn(72)),
        ALL,
        exact=(1,),
    ),
    "layer_norm": case(
        tk.layer_norm,
        lambda x, w, b: normed(x, w, b, 1e-6, False),
        (randn(3, 5, 73), randn(73), randn(73)),
        ALL,
    ),
    "layer_norm_residual": case(
        lambda x, r: tk.layer_norm(x, residual=r),
        lambda x, r: (normed(x + r, 1, 0, 1e-6, False), x + r),
        (randn(5, 72), randn(5, 72)),
        ALL,
    ),
    "softmax": case(
        lambda x: tk.softmax(x, 1), lambda x: jax.nn.softmax(x, 1), (randn(3, 5, 7),), ALL
    ),
    "softmax_causal": case(
        lambda x: tk.softmax(x, scale=0.5, causal=True),
        lambda x: jax.nn.softmax(jnp.where(numpy.tri(7, 9, 2, bool), 0.5 * x, -jnp.inf)),
        (randn(2, 3, 2, 7, 9),),
        ALL,
    ),
    "cross_entropy": case(
        lambda x, t: tk.cross_entropy(x, t, ignore_index=3, label_smoothing=0.1),
        lambda x, t: losses(x, t, 3, 0.1),
        (randn(5, 8, 9), ids(9, 5, 8)),
        ALL,
    ),
    "cross_entropy_of_int32": case(
        tk.cross_entropy,
        lambda x, t: losses(x, t, -100, 0),
        (randn(4, 9), numpy.array([3, 0, -100, 8], numpy.int32)),
        ALL,
    ),
    "linear_cross_entropy": case(
        lambda x, w, t: tk.linear_cross_entropy(x, w, t, ignore_index=3, label_smoothing=0.1),
        lambda x, w, t: losses(x @ w.T, t, 3, 0.1).sum(),
        (randn(4, 10, 24), randn(9, 24) / 5, ids(9, 4, 10)),
        bound=0.5,
    ),
    "embedding": case(
        lambda w, i: tk.embedding(w, i, padding_idx=-2),
        lambda w, i: w.at[18].set(jax.lax.stop_gradient(w[18]))[i],
        (randn(20, 24), ids(20, 3, 8, 2)),
        ALL,
    ),
    "silu": case(tk.silu, jax.nn.silu, (randn(3, 4, 21),), ALL),
    "gelu": case(lambda x: tk.gelu(x, False), lambda x: jax.nn.gelu(x, False), (randn(61),), ALL),
    "gelu_tanh": case(tk.gelu, jax.nn.gelu, (randn(4, 20),), ALL),
    "swiglu": case(tk.swiglu, lambda x: gated(jax.nn.silu, x), (randn(3, 4, 42),), ALL),
    "geglu": case(
        tk.geglu, lambda x, y: gated(jax.nn.gelu, x, y), (randn(3, 4, 21), randn(3, 4, 21)), ALL
    ),
    "reglu": case(tk.reglu, lambda x: gated(jax.nn.relu, x), (randn(7, 40),), ALL),
    "rotary": case(
        tk.rotary,
        rotated,
        (randn(2, 9, 4, 32), randn(2, 9, 2, 32), randn(12, 12), randn(12, 12)),
        ALL,
        exact=(2, 3),
        constant=(2, 3),
    ),
    "rotary_positions": case(
        lambda q, k, c, s, p: tk.rotary(q, k, c, s, positions=p, interleaved=True),
        lambda q, k, c, s, p: rotated(q, k, c, s, p, True),
        (
            randn(2, 9, 4, 32),
            randn(2, 9, 2, 32),
            randn(12, 12),
            randn(12, 12),
            ids(12, 2, 9),
        ),
        ALL,
        exact=(2, 3),
        constant=(2, 3),
    ),
    "sdpa": case(SDPA, jax.nn.dot_product_attention, heads(33, 50, dv=64), bound=0.5),
    "sdpa_of_3": case(
        SDPA, attention_of, (randn(20, 2, 32), randn(9, 2, 32), randn(9, 2, 16)), bound=0.5
    ),
    "sdpa_causal": case(
        lambda *x: SDPA(*x, **CAUSAL),
        lambda *x: attention_of(*x, right=0),
        heads(40, 40),
        bound=0.5,
    ),
    "sdpa_more_keys": case(
        lambda *x: SDPA(*x, **CAUSAL),
        lambda *x: attention_of(*x, right=0),
        heads(33, 50),
        bound=0.5,
    ),
    "sdpa_more_queries": case(
        lambda *x: SDPA(*x, **CAUSAL),
        lambda *x: attention_of(*x, right=0),
        heads(50, 33),
        bound=0.5,
    ),
    "sdpa_window": case(
        lambda *x: SDPA(*x, local_window_size=(9, 4)),
        lambda *x: attention_of(*x, left=9, right=4),
        heads(33, 50),
        bound=0.5,
    ),
    "sdpa_mask_and_bias": case(
        lambda *x: SDPA(*x, scale=0.2),
        lambda *x: attention_of(*x, scale=0.2),
        (*heads(33, 50), randn(1, 4, 33, 50), randn(2, 1, 33, 50) > -1),
        bound=0.5,
        exact=(3,),
    ),
    "sdpa_lengths": case(
        lambda *x: SDPA(
            *x, None, None, query_seq_lengths=LENGTHS[0], key_value_seq_lengths=LENGTHS[1]
        ),
        lambda *x: attention_of(*x, lengths=LENGTHS),
        heads(33, 50),
        bound=0.5,
    ),
    "attention": case(
        lambda q, k, v, b, s: tk.attention(
            q, k, v, causal=True, window=(20, None), softcap=2.0, alibi=ALIBI, bias=b, sinks=s
        ),
        lambda q, k, v, b, s: attention_of(
            q, k, v, b, left=3, right=17, softcap=2.0, alibi=ALIBI, sinks=s
        ),
        (
            randn(2, 33, 2, 64),
            randn(2, 50, 2, 64),
            randn(2, 50, 2, 32),
            randn(1, 2, 33, 50),
            randn(2),
        ),
        bound=0.6,
        exact=(3, 4),
    ),
    "packed_attention": case(
        lambda *x: tk.attention(*x, cu_seqlens_q=PACKED, cu_seqlens_k=PACKED),
        lambda *x: packed(*x, PACKED),
        (randn(50, 2, 32), randn(50, 2, 32), randn(50, 2, 16)),
        bound=0.5,
    ),
    "linear_attention": case(
        lambda q, k, v, g, s: tk.linear_attention(
            q, k, v, log_decay=g, scale=0.2, initial_state=s, return_final_state=True
        ),
        lambda q, k, v, g, s: scan(q, k, v, g, s, 0.2),
        (
            randn(2, 70, 2, 32),
            randn(2, 70, 2, 32),
            randn(2, 70, 2, 48),
            -abs(randn(2, 70, 2)),
            randn(2, 2, 32, 48),
        ),
        bound=0.5,
        exact=(3, 4),
    ),
    "linear_attention_of_heads": case(
        lambda q, k, v, d: tk.linear_attention(q, k, v, decay=d),
        lambda q, k, v, d: scan(
            q, k, v, -jnp.broadcast_to(d, q.shape[:3]), jnp.zeros((1, 2, 32, 16)), 32**-0.5
        )[0],
        (randn(1, 37, 2, 32), randn(1, 37, 2, 32), randn(1, 37, 2, 16), abs(randn(2))),
        bound=0.5,
        exact=(3,),
        loose={4: 1},
    ),
    "mamba2": case(
        lambda *x: tk.mamba2(
            *x[:8],
            initial_states=x[8],
            dt_softplus=True,
            dt_limit=(0.05, 2),
            return_final_states=True,
        ),
        ssd,
        (
            randn(2, 70, 4, 32),
            randn(2, 70, 4),
            -abs(randn(4)),
            randn(2, 70, 2, 16),
            randn(2, 70, 2, 16),
            randn(4),
            randn(2, 70, 4, 32),
            randn(4),
            randn(2, 4, 32, 16),
        ),
        bound=0.5,
        exact=(1, 2, 5, 7, 8),
        loose={4: 1},
    ),
    "causal_conv1d": case(
        lambda x, w, b, s: tk.causal_conv1d(
            x, w, b, activation="silu", initial_states=s, return_final_states=True
        ),
        short_conv,
        (randn(2, 31, 23), randn(23, 4), randn(23), randn(2, 3, 23)),
        ALL,
    ),
    "fft_conv": case(
        tk.fft_conv,
        long_conv,
        (randn(2, 4, 501), randn(4, 300) / 17, randn(2, 4, 501), randn(2, 4, 501)),
        bound=0.6,
        exact=(1,),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_results_and_gradients(name):
    this = CASES[name]
    function, reference = (with_gradients(this, x) for x in (this.function, this.reference))
    for dtype in this.types:
        inputs = this.make(dtype)
        wide = [
            x.astype(numpy.float64) if jnp.issubdtype(x.dtype, jnp.floating) else x for x in inputs
        ]
        got, exact = function(inputs), reference(wide)
        assert len(got) == len(exact)
        for i, (x, y, bound) in enumerate(zip(got, exact, this.bounds(dtype, len(got)))):
            x, y = numpy.asarray(x, numpy.float64), numpy.asarray(y)
            assert x.shape == y.shape
            error = numpy.linalg.norm(x - y) / numpy.linalg.norm(y) / float(jnp.finfo(dtype).eps)
            assert error <= bound, f"{dtype.__name__}, {i}: {error} of the type's epsilon"
