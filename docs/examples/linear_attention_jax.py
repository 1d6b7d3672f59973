# SPDX-License-Identifier: MIT
import jax
import jax.numpy as jnp
import tk_ops.jax as tk

q, k, v = jax.random.normal(jax.random.key(1), (3, 1, 70, 2, 32), jnp.bfloat16)
log_decay = -jax.random.uniform(jax.random.key(2), (1, 70, 2))
whole, last = tk.linear_attention(q, k, v, log_decay=log_decay, return_final_state=True)


def step(state, now):  # one token at a time, under jax.lax.scan
    q, k, v, g = (x[:, None] for x in now)
    o, state = tk.linear_attention(
        q, k, v, log_decay=g, initial_state=state, return_final_state=True
    )
    return state, o[:, 0]


tokens = [jnp.moveaxis(x, 1, 0) for x in (q, k, v, log_decay)]
state, o = jax.lax.scan(step, jnp.zeros((1, 2, 32, 32)), tokens)
assert jnp.allclose(jnp.moveaxis(o, 0, 1), whole, atol=0.05, rtol=0.05)
assert jnp.allclose(state, last, atol=0.05)
