# SPDX-License-Identifier: MIT
"""What TK's functions compute, in JAX's own words, for fp64: see test_jax.py."""

import jax
import jax.numpy as jnp
import numpy


def normed(x, weight, bias, eps, rms):
    x = x if rms else x - x.mean(-1, keepdims=True)
    return x / jnp.sqrt((x * x).mean(-1, keepdims=True) + eps) * weight + bias


def losses(x, labels, ignored, smoothing):
    logs = jax.nn.log_softmax(x)
    at = jnp.take_along_axis(logs, jnp.maximum(labels, 0)[..., None], -1)[..., 0]
    found = -(1 - smoothing) * at - smoothing * logs.mean(-1)
    return jnp.where(labels == ignored, 0, found)


def gated(act, x, other=None):
    a, b = jnp.split(x, 2, -1) if other is None else (x, other)
    return act(a) * b


def rotated(q, k, cos, sin, positions=None, interleaved=False):
    w = cos.shape[-1]
    cos, sin = (x[: q.shape[1]] if positions is None else x[positions] for x in (cos, sin))
    cos, sin = cos[..., None, :], sin[..., None, :]

    def turn(x):
        a, b = (
            (x[..., 0 : 2 * w : 2], x[..., 1 : 2 * w : 2])
            if interleaved
            else (x[..., :w], x[..., w : 2 * w])
        )
        pair = a * cos - b * sin, b * cos + a * sin
        both = jnp.stack(pair, -1).reshape(*x.shape[:-1], 2 * w)
        return jnp.concatenate(((both,) if interleaved else pair) + (x[..., 2 * w :],), -1)

    return turn(q), turn(k)


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


def scan(q, k, v, log_decay, state, scale):
    def step(state, now):
        q, k, v, g = now
        state = state * jnp.exp(g)[..., None, None] + k[..., :, None] * v[..., None, :]
        return state, scale * jnp.einsum("bhd,bhde->bhe", q, state)

    state, o = jax.lax.scan(step, state, [jnp.moveaxis(x, 1, 0) for x in (q, k, v, log_decay)])
    return jnp.moveaxis(o, 0, 1), state


def ssd(x, dt, A, B, C, D, z, dt_bias, state):
    dt = jnp.clip(jax.nn.softplus(dt + dt_bias), 0.05, 2)
    B, C = (jnp.repeat(y, x.shape[2] // y.shape[2], 2) for y in (B, C))
    y, state = scan(C, B, x * dt[..., None], dt * A, jnp.swapaxes(state, -1, -2), 1)
    return (y + D[:, None] * x) * jax.nn.silu(z), jnp.swapaxes(state, -1, -2)


def short_conv(x, weight, bias, state):
    n, taps = x.shape[1], weight.shape[1]
    x = jnp.concatenate((state, x), 1)
    y = sum(weight[:, i] * x[:, i : i + n] for i in range(taps)) + bias
    return jax.nn.silu(y), x[:, n:]


def long_conv(u, k, pre, post):
    n = u.shape[-1]
    size = n + k.shape[-1]
    return jnp.fft.irfft(jnp.fft.rfft(u * pre, size) * jnp.fft.rfft(k, size), size)[..., :n] * post
