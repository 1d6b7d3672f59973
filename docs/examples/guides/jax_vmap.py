# SPDX-License-Identifier: MIT
import jax
import jax.numpy as jnp
import tk_ops.jax as tk


def loss(w, x):
    return jnp.square(tk.rms_norm(x, w)).sum()


x, w = jax.random.normal(jax.random.key(1), (5, 64)), jnp.ones(64)
each = jax.vmap(jax.grad(loss), (None, 0))(w, x)  # a gradient for each sample
assert each.shape == (5, 64) and (each[2] == jax.grad(loss)(w, x[2])).all()
