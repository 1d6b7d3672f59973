# SPDX-License-Identifier: MIT
import jax
import jax.numpy as jnp
import tk_ops.jax as tk

x = jax.random.normal(jax.random.key(1), (40, 4096), jnp.bfloat16)
w = jax.random.normal(jax.random.key(2), (4096, 64), jnp.bfloat16)
linear = jax.jit(tk.linear)
with tk.repeat("row"):  # a program of its own
    assert (linear(x[13:20], w) == linear(x, w)[13:20]).all()
