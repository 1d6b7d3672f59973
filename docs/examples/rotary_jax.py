# SPDX-License-Identifier: MIT
import jax
import jax.numpy as jnp
import tk_ops.jax as tk

query, key = jax.random.normal(jax.random.key(1), (2, 1, 9, 4, 32))
angles = jnp.arange(12)[:, None] / 10000 ** (jnp.arange(16) / 16)
cos, sin = jnp.cos(angles), jnp.sin(angles)
q, k = tk.rotary(query, key, cos, sin)
later, _ = tk.rotary(query[:, 5:6], None, cos, sin, offsets=jnp.array([5]))  # a step of decoding
assert jnp.allclose(later, q[:, 5:6], atol=1e-6)
back, _ = tk.rotary(q, None, cos, sin, inverse=True)
assert jnp.allclose(back, query, atol=1e-5)
