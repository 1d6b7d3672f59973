# SPDX-License-Identifier: MIT
import jax
import jax.numpy as jnp
import tk_ops.jax as tk


def layer(x, w):
    return x + tk.linear(tk.silu(tk.rms_norm(x)), w)


def loss(x, ws):
    x, _ = jax.lax.scan(lambda x, w: (jax.checkpoint(layer)(x, w), None), x, ws)
    return jnp.square(x.astype(jnp.float32)).mean()


x = jax.random.normal(jax.random.key(1), (32, 64), jnp.bfloat16)
ws = jax.random.normal(jax.random.key(2), (3, 64, 64), jnp.bfloat16) / 8
both = jax.value_and_grad(loss, 1)
value, gradient = jax.jit(both)(x, ws)
again, same = both(x, ws)
assert gradient.shape == ws.shape and jnp.isfinite(value)
assert (gradient == same).all()  # traced or not: the same bits
