# SPDX-License-Identifier: MIT
"""What TK's functions compute, for fp64, in words that PyTorch and jax.numpy share: `np` is either
of them. What only one has a function for is in torch_definitions.py and jax_definitions.py."""

import math


def silu(np, x):
    return x / (1 + np.exp(-x))


def gated(act, x, other=None):
    w = x.shape[-1] // 2
    a, b = (x[..., :w], x[..., w:]) if other is None else (x, other)
    return act(a) * b


def rotated(np, q, k, cos, sin, positions=None, interleaved=False):
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
        both = np.stack(pair, -1).reshape(*x.shape[:-1], 2 * w)
        return np.concatenate(((both,) if interleaved else pair) + (x[..., 2 * w :],), -1)

    return turn(q), turn(k)


def scan(np, q, k, v, log_decay, state, scale):
    """Of all pairs of tokens: what is left of the earlier one, and of the first state."""
    n = q.shape[1]
    total = np.cumsum(log_decay, 1)
    g = np.moveaxis(total, 1, 2)  # [b, h, n]
    seen = np.tril(np.ones((n, n), dtype=bool))
    left = np.exp(np.where(seen, g[..., :, None] - g[..., None, :], -math.inf))
    o = np.einsum("bihd,bjhd,bhij,bjhe->bihe", q, k, left, v)
    o = o + np.einsum("bihd,bih,bhde->bihe", q, np.exp(total), state)
    last = np.exp(total[:, -1:] - total)
    state = np.exp(g[..., -1])[..., None, None] * state
    return scale * o, state + np.einsum("bjhd,bjh,bjhe->bhde", k, last, v)


def ssd(np, x, dt, A, B, C, D, z, dt_bias, state):
    dt = np.clip(np.log1p(np.exp(dt + dt_bias)), 0.05, 2)
    b, n, h, _ = x.shape
    B, C = (np.stack([y] * (h // y.shape[2]), 3).reshape(b, n, h, -1) for y in (B, C))
    y, state = scan(np, C, B, x * dt[..., None], dt * A, np.swapaxes(state, -1, -2), 1)
    return (y + D[:, None] * x) * silu(np, z), np.swapaxes(state, -1, -2)


def short_conv(np, x, weight, bias, state):
    n, taps = x.shape[1], weight.shape[1]
    x = np.concatenate((state, x), 1)
    y = sum(weight[:, i] * x[:, i : i + n] for i in range(taps)) + bias
    return silu(np, y), x[:, n:]


def long_conv(np, u, k, pre, post):
    n = u.shape[-1]
    size = n + k.shape[-1]
    return np.fft.irfft(np.fft.rfft(u * pre, size) * np.fft.rfft(k, size), size)[..., :n] * post
