# SPDX-License-Identifier: MIT
import jax
import jax.numpy as jnp
import tk_ops.jax as tk

x = jax.random.normal(jax.random.key(1), (3, 5, 16), jnp.bfloat16)
assert (tk.matrix_transpose(x) == jnp.matrix_transpose(x)).all()
