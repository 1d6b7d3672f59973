# SPDX-License-Identifier: MIT
import jax
import jax.numpy as jnp
import tk_ops.jax as tk

q, k = jax.random.normal(jax.random.key(1), (2, 1, 70, 2, 16), jnp.bfloat16) / 2
v = jax.random.normal(jax.random.key(2), (1, 70, 2, 32), jnp.bfloat16)
whole = tk.based(q, k, v)

# A prompt of 64 tokens, and then one token at a time from its states.
_, states = tk.based(q[:, :64], k[:, :64], v[:, :64], return_final_states=True)
for t in range(64, 70):
    step = [x[:, t : t + 1] for x in (q, k, v)]
    o, states = tk.based(*step, initial_states=states, return_final_states=True)
    assert jnp.allclose(o, whole[:, t : t + 1], atol=0.02, rtol=0.02)
