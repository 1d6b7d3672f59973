# SPDX-License-Identifier: MIT
import jax
import jax.numpy as jnp
import tk_ops.jax as tk

key = jax.random.key(1)
x, weight = jax.random.normal(key, (1, 30, 24)), jax.random.normal(key, (24, 4))
whole = tk.causal_conv1d(x, weight, activation="silu")
first, state = tk.causal_conv1d(x[:, :20], weight, activation="silu", return_final_states=True)
rest = tk.causal_conv1d(x[:, 20:], weight, activation="silu", initial_states=state)
assert (jnp.concatenate((first, rest), 1) == whole).all()
