# SPDX-License-Identifier: MIT
"""tk_ops.jax under jax.jit against definitions in fp64 on the same rounded inputs: results and
gradients of each type. With TK_JAX_DEVICE=cuda they are on a GPU, and want a library that is built
for it: TK_JAX_DEVICE=cuda python -m pytest tests/python/test_jax.py

`bound` of a case is its largest root mean square error relative to the result's, in units of the
type's epsilon, as in test_torch.py, whose reasons hold here; in fp32 it is 2 throughout.
"""

import os
from functools import partial

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
import shared_cases  # noqa: E402
from definitions import attention, gated  # noqa: E402
from jax_definitions import losses, normed  # noqa: E402
from shared_cases import ALL, FP32, ids, randn  # noqa: E402


class case(shared_cases.case):
    def make(self, dtype):
        """The inputs where dtype, by its name, is the case's."""
        kinds = [self.type_of(i, dtype) for i in range(len(self.inputs))]
        return [x if kind is None else x.astype(kind) for x, kind in zip(self.inputs, kinds)]


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
attention_of = partial(attention, jnp)
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
    "geglu": case(
        tk.geglu, lambda x, y: gated(jax.nn.gelu, x, y), (randn(3, 4, 21), randn(3, 4, 21)), ALL
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
    "matrix_transpose": case(
        tk.matrix_transpose, jnp.matrix_transpose, (randn(2, 3, 1, 5, 20),), ALL
    ),
    "top_k": case(
        lambda x: tk.top_k(x, 7, axis=1)[0],
        lambda x: jnp.moveaxis(jax.lax.top_k(jnp.moveaxis(x, 1, -1), 7)[0], -1, 1),
        (randn(3, 40, 5).argsort(1).astype(float),),
        ALL,
    ),
    **shared_cases.shared(case, tk, jnp),
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
            assert error <= bound, f"{dtype}, {i}: {error} of the type's epsilon"
