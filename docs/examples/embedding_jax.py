# SPDX-License-Identifier: MIT
import jax
import jax.numpy as jnp
import tk_ops.jax as tk

table, ids = jnp.arange(40.0).reshape(10, 4), jnp.array([[1, 2, 3], [3, 3, 0]])
rows = tk.embedding(table, ids)
assert (rows == table[ids]).all()
gradient = jax.jit(jax.grad(lambda t: tk.embedding(t, ids, padding_idx=0).sum()))(table)
assert gradient[:, 0].tolist() == [0, 1, 1, 3, 0, 0, 0, 0, 0, 0]
