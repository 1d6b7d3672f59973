# SPDX-License-Identifier: MIT
import jax
import jax.numpy as jnp
import tk_ops.jax as tk

x = jax.random.normal(jax.random.key(1), (4, 16), jnp.bfloat16)
bias = jax.random.normal(jax.random.key(2), (16,))
y = tk.add(x, bias, alpha=0.5)  # in fp32, which is rounded once
assert (y == x.astype(jnp.float32) + 0.5 * bias).all()
