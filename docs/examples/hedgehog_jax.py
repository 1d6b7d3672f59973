# SPDX-License-Identifier: MIT
import jax
import jax.numpy as jnp
import tk_ops.jax as tk

q, k, v = jax.random.normal(jax.random.key(1), (3, 1, 200, 2, 128), jnp.bfloat16)
maps = jax.random.normal(jax.random.key(2), (2, 2, 128, 64), jnp.bfloat16) / 11


def loss(maps, alpha, beta):  # of feature maps and factors that are to be learned
    return tk.hedgehog(q, k, v, *maps, alpha, beta).astype(jnp.float32).std()


gradients = jax.jit(jax.grad(loss, (0, 1, 2)))(maps, jnp.ones(2), jnp.ones(2))
assert all(jnp.isfinite(x).all() and x.any() for x in gradients)
