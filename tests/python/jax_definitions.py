# SPDX-License-Identifier: MIT
"""What TK's functions compute, in JAX's own words, for fp64: see test_jax.py."""

from functools import partial

import definitions
import jax
import jax.numpy as jnp
import numpy
from definitions import gated  # noqa: F401

rotated, scan, ssd, short_conv, long_conv = (
    partial(getattr(definitions, x), jnp)
    for x in ("rotated", "scan", "ssd", "short_conv", "long_conv")
)


def normed(x, weight, bias, eps, rms):
    x = x if rms else x - x.mean(-1, keepdims=True)
    return x / jnp.sqrt((x * x).mean(-1, keepdims=True) + eps) * weight + bias


def losses(x, labels, ignored, smoothing):
    logs = jax.nn.log_softmax(x)
    at = jnp.take_along_axis(logs, jnp.maximum(labels, 0)[..., None], -1)[..., 0]
    found = -(1 - smoothing) * at - smoothing * logs.mean(-1)
    return jnp.where(labels == ignored, 0, found)


def attention_of(
    q,
    k,
    v,
    bias=0,
    mask=True,
    *,
    scale=None,
    left=None,
    right=None,
    lengths=None,
    softcap=None,
    alibi=None,
    sinks=None,
):
    """Of q [..., nq, hq, d] and k, v [..., nk, hk, d]: query i sees keys from i - left to i +
    right; one that sees none gives 0."""
    nq, hq, nk = q.shape[-3], q.shape[-2], k.shape[-3]
    k, v = (jnp.repeat(x, hq // x.shape[-2], -2) for x in (k, v))
    s = jnp.einsum("...ihd,...jhd->...hij", q, k) * (scale or q.shape[-1] ** -0.5)
    s = s if softcap is None else softcap * jnp.tanh(s / softcap)
    distance = numpy.arange(nq)[:, None] - numpy.arange(nk)
    if alibi is not None:
        s = s - numpy.asarray(alibi)[:, None, None] * abs(distance + nk - nq)
    seen = jnp.asarray(mask)
    seen = seen if left is None else seen & (distance <= left)
    seen = seen if right is None else seen & (distance >= -right)
    if lengths is not None:
        rows, columns = (numpy.arange(n) < x[:, None] for n, x in zip((nq, nk), lengths))
        seen = seen & (rows[:, None, :, None] & columns[:, None, None, :])
    e = jnp.where(seen, jnp.exp(s + bias), 0)
    total = e.sum(-1, keepdims=True)
    total = total if sinks is None else total + jnp.exp(sinks)[:, None, None]
    return jnp.einsum("...hij,...jhd->...ihd", e / jnp.where(total == 0, 1, total), v)


def packed(q, k, v, starts):
    """Attention of sequences beside each other: what is between two of them is masked."""
    row = numpy.repeat(numpy.arange(len(starts) - 1), numpy.diff(starts))
    return attention_of(q, k, v, mask=row[:, None] == row)
