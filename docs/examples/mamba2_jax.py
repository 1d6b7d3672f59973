# SPDX-License-Identifier: MIT
import jax
import jax.numpy as jnp
import tk_ops.jax as tk

key = jax.random.key(1)
x, z = jax.random.normal(key, (2, 1, 20, 2, 32), jnp.bfloat16)
B, C = jax.random.normal(key, (2, 1, 20, 1, 16), jnp.bfloat16)
dt, A, D = jax.random.normal(key, (1, 20, 2)), -jnp.arange(1.0, 3.0), jnp.ones(2)
y, state = tk.mamba2(x, dt, A, B, C, D, z=z, dt_softplus=True, return_final_states=True)
plain = tk.mamba2(x, jax.nn.softplus(dt), A, B, C, D)
assert state.shape == (1, 2, 32, 16)
assert jnp.allclose(y, plain * jax.nn.silu(z), atol=0.1, rtol=0.05)
