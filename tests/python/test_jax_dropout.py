# SPDX-License-Identifier: MIT
"""Dropout of tk_ops.jax's attention: what a key drops, results and gradients under it, programs.
TK_JAX_DEVICE=cuda as in test_jax.py."""

import os

import numpy
import pytest

jax = pytest.importorskip("jax")
pytest.importorskip("jax_tvm_ffi")
jax.config.update("jax_platforms", os.environ.get("TK_JAX_DEVICE", "cpu"))
jax.config.update("jax_num_cpu_devices", 2)
jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp  # noqa: E402

import tk_ops.jax as tk  # noqa: E402

BF16 = jnp.bfloat16
B, N, HQ, HK, D, RATE = 2, 48, 4, 2, 32, 0.25
KEY = jax.random.key(7)


def inputs():
    random = numpy.random.default_rng(1)
    q, k, v, dy = (random.standard_normal((B, N, h, D)) for h in (HQ, HK, HK, HQ))
    return (q.astype(BF16), k.astype(BF16), v.astype(BF16)), dy.astype(BF16)


def attend(q, k, v, key=KEY):
    return tk.attention(q, k, v, causal=True, dropout_rate=RATE, dropout_rng=key)


def kept(q, k, key=KEY):
    """Which weights of [b, h, i, j] are kept: those that the values of an identity show."""
    eye = jnp.broadcast_to(jnp.eye(N, dtype=BF16)[:, None], (B, N, HK, N))
    return jnp.moveaxis(attend(q, k, eye, key), 1, 2) != 0


def exact(q, k, v, mask):
    """The definition in fp64."""
    k, v = (jnp.repeat(x, HQ // HK, 2) for x in (k, v))
    s = jnp.einsum("bihd,bjhd->bhij", q, k) * D**-0.5
    p = jax.nn.softmax(jnp.where(numpy.tril(numpy.ones((N, N), bool)), s, -jnp.inf), -1)
    return jnp.einsum("bhij,bjhd->bihd", p * mask / (1 - RATE), v)


@pytest.mark.parametrize("x64", [True, False])
def test_results_and_gradients(x64):
    tensors, dy = inputs()
    with jax.enable_x64(x64):
        mask = kept(*tensors[:2])
        y, pull_back = jax.vjp(jax.jit(attend), *tensors)
        found = y, *pull_back(dy)
    wide = [x.astype(numpy.float64) for x in tensors]
    y, pull_back = jax.vjp(lambda *x: exact(*x, numpy.asarray(mask)), *wide)
    for got, want in zip(found, (y, *pull_back(dy.astype(numpy.float64)))):
        error = numpy.linalg.norm(numpy.asarray(got, numpy.float64) - want)
        assert got.dtype == BF16 and error <= 0.6 * 2**-7 * numpy.linalg.norm(want)


def test_what_a_key_drops():
    """A share of dropout_rate, by the key alone, traced or not, old keys and new."""
    tensors, _ = inputs()
    mask, seen = numpy.asarray(kept(*tensors[:2])), numpy.tril(numpy.ones((N, N), bool))
    dropped = 1 - mask[..., seen].mean()
    assert abs(dropped - RATE) < 5 * (RATE * (1 - RATE) / mask[..., seen].size) ** 0.5
    traced, y = jax.jit(attend), attend(*tensors)
    for key in KEY, jax.random.PRNGKey(7):
        assert (traced(*tensors, key) == y).all()
    assert (kept(*tensors[:2], jax.random.key(8)) != mask).any()
    plain = tk.attention(*tensors, causal=True)
    same = tk.attention(*tensors, causal=True, dropout_rng=KEY)
    assert (same == plain).all() and (plain != y).any()


def test_a_loop_draws_anew():
    """A key of each step, in one program; jax.vmap takes keys, too."""
    tensors, _ = inputs()
    keys = jax.random.split(KEY, 3)
    each = jnp.stack([attend(*tensors, key) for key in keys])
    loop = jax.jit(lambda keys: jax.lax.map(lambda key: attend(*tensors, key), keys))
    assert (loop(keys) == each).all() and (each[0] != each[1]).any()
    assert (jax.vmap(lambda key: attend(*tensors, key))(keys) == each).all()


@pytest.mark.parametrize(
    "sentence, options",
    [
        ("needs dropout_rng, a key", {"dropout_rate": 0.5}),
        ("tk_attention_forward: dropout", {"dropout_rate": 1.5, "dropout_rng": KEY}),
        ("tk_attention_forward: dropout", {"dropout_rate": -0.5, "dropout_rng": KEY}),
    ],
)
def test_refusals(sentence, options):
    with pytest.raises(ValueError, match=sentence):
        tk.attention(*inputs()[0], **options)
