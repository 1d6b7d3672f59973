# SPDX-License-Identifier: MIT
"""What TK's functions compute, for fp64, in words that PyTorch and jax.numpy share: `np` is either
of them. What only JAX wants is in jax_definitions.py."""

import math


def silu(np, x):
    return x / (1 + np.exp(-x))


def relu(np, x):
    return np.clip(x, 0, None)


def gated(act, x, other=None):
    w = x.shape[-1] // 2
    a, b = (x[..., :w], x[..., w:]) if other is None else (x, other)
    return act(a) * b


def softmax(np, x, seen=True):
    """Along the last dimension, of what is seen."""
    x = np.where(np.asarray(seen), x, -math.inf)
    e = np.exp(x - np.amax(x, -1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def causal_softmax(np, x, scale):
    rows, width = x.shape[-2:]
    return softmax(np, scale * x, np.arange(rows)[:, None] + width - rows >= np.arange(width))


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


def philox(counter, key):
    """Four words of Philox4x32-10 (Salmon et al., 2011), of counters in 64-bit integers, signed as
    those of frameworks are: a product of 32 bits and 32 is taken in two halves."""

    def product(a, c):
        low, high = a * (c & 0xFFFF), a * (c >> 16)
        return (high + (low >> 16)) >> 16 & 0xFFFFFFFF, (low + (high << 16)) & 0xFFFFFFFF

    (c0, c1, c2, c3), (key0, key1) = counter, key
    for _ in range(10):
        high_a, low_a = product(0xD2511F53, c0)
        high_b, low_b = product(0xCD9E8D57, c2)
        c0, c1, c2, c3 = high_b ^ c1 ^ key0, low_b, high_a ^ c3 ^ key1, low_a
        key0, key1 = key0 + 0x9E3779B9 & 0xFFFFFFFF, key1 + 0xBB67AE85 & 0xFFFFFFFF
    return c0, c1, c2, c3


# ---- attention -----------------------------------------------------------------------------------
def repeated(np, x, times):
    """x[..., h, d] with each h as often as this."""
    *others, h, d = x.shape
    return np.stack([x] * times, -2).reshape(*others, h * times, d)


def attention(
    np,
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
    k, v = (repeated(np, x, hq // x.shape[-2]) for x in (k, v))
    s = np.einsum("...ihd,...jhd->...hij", q, k) * (scale or q.shape[-1] ** -0.5)
    s = s if softcap is None else softcap * np.tanh(s / softcap)
    distance = np.arange(nq)[:, None] - np.arange(nk)
    if alibi is not None:
        s = s - alibi[:, None, None] * abs(distance + nk - nq)
    seen = np.asarray(mask)
    seen = seen if left is None else seen & (distance <= left)
    seen = seen if right is None else seen & (distance >= -right)
    if lengths is not None:
        rows, columns = (np.arange(n) < x[:, None] for n, x in zip((nq, nk), lengths))
        seen = seen & (rows[:, None, :, None] & columns[:, None, None, :])
    e = np.where(seen, np.exp(s + bias), 0)
    total = e.sum(-1, keepdims=True)
    total = total if sinks is None else total + np.exp(sinks)[:, None, None]
    return np.einsum("...hij,...jhd->...ihd", e / np.where(total == 0, 1, total), v)


def packed_attention(np, q, k, v, starts):
    """Of sequences beside each other: what is between two of them is masked."""
    row = (np.arange(q.shape[0])[:, None] >= starts[1:]).sum(-1)
    return attention(np, q, k, v, mask=row[:, None] == row)


# ---- kinds of linear attention -------------------------------------------------------------------
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


def scan_of_heads(np, q, k, v, decay):
    """Without a first state."""
    states = np.zeros_like(np.einsum("bnhd,bnhe->bhde", q, v))
    o, _ = scan(np, q, k, v, np.zeros_like(q[..., 0]) - decay, states, q.shape[-1] ** -0.5)
    return o


def taylor(np, q, k, v, state, sums, scale):
    """Based with states, and a normaliser: a scan of 1, the elements, and their products in pairs,
    those of a <= c."""
    pairs = [(a, c) for a in range(16) for c in range(a, 16)]
    a, c = (np.asarray(x) for x in zip(*pairs))
    factors = [1.0] + 16 * [scale] + [scale**2 * (0.5 if a == c else 1.0) for a, c in pairs]

    def moments(x):
        return np.concatenate((np.ones_like(x[..., :1]), x, x[..., a] * x[..., c]), -1)

    q, k = moments(q) * np.asarray(factors), moments(k)
    v = np.concatenate((v, np.ones_like(v[..., :1])), -1)
    state = np.concatenate((state, sums[..., None]), -1)
    o, state = scan(np, q, k, v, np.zeros_like(q[..., 0]), state, 1)
    return o[..., :-1] / (1e-6 + o[..., -1:]), state[..., :-1], state[..., -1]


def hedgehog(np, *inputs):
    return hedgehog_with_normaliser(np, *inputs)[:3]


def hedgehog_with_normaliser(np, q, k, v, map_q, map_k, alpha, beta, kv, sums):
    """With states before the first key."""

    def features(x, of):
        x = np.einsum("bnhd,hdf->bnhf", x, of)
        return np.clip(np.concatenate((softmax(np, x), softmax(np, -x)), -1), 1e-6, None)

    nq, nk = q.shape[1], k.shape[1]
    i, j = np.arange(nk - nq, nk)[:, None], np.arange(nk)
    block = i // 64 * 64
    window, before = (j <= i) & (j >= block - 64), j < block - 64
    s = np.einsum("bihd,bjhd->bhij", q, k) * q.shape[-1] ** -0.5
    s = np.where(window, s, -math.inf)
    q, k = features(q, map_q), features(k, map_k)
    products = alpha[:, None, None] * before * np.einsum("bihf,bjhf->bhij", q, k)
    weights = beta[:, None, None] * np.exp(s - np.amax(s, -1, keepdims=True)) + products
    q = np.moveaxis(q, 1, 2) * alpha[:, None, None]
    o = np.einsum("bhij,bjhd->bhid", weights, v) + q @ kv
    normaliser = weights.sum(-1, keepdims=True) + q @ sums[..., None] + 1e-6
    kept = max(nk - 64 - nk % 64, 0)
    k, v = k[:, :kept], v[:, :kept]
    kv = kv + np.einsum("bjhf,bjhd->bhfd", k, v)
    return np.moveaxis(o / normaliser, 1, 2), kv, sums + k.sum(1), normaliser[..., 0]


def ssd(np, x, dt, A, B, C, D, z, dt_bias, state):
    dt = np.clip(np.log1p(np.exp(dt + dt_bias)), 0.05, 2)
    B, C = (repeated(np, y, x.shape[2] // y.shape[2]) for y in (B, C))
    y, state = scan(np, C, B, x * dt[..., None], dt * A, np.swapaxes(state, -1, -2), 1)
    return (y + D[:, None] * x) * silu(np, z), np.swapaxes(state, -1, -2)


# ---- convolutions --------------------------------------------------------------------------------
def short_conv(np, x, weight, bias, state):
    n, taps = x.shape[1], weight.shape[1]
    x = np.concatenate((state, x), 1)
    y = sum(weight[:, i] * x[:, i : i + n] for i in range(taps)) + bias
    return silu(np, y), x[:, n:]


def long_conv(np, u, k, pre, post):
    n = u.shape[-1]
    size = n + k.shape[-1]
    return np.fft.irfft(np.fft.rfft(u * pre, size) * np.fft.rfft(k, size), size)[..., :n] * post
