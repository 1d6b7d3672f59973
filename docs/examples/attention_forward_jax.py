# SPDX-License-Identifier: MIT
import jax
import jax.numpy as jnp
import tk_ops.jax as tk

q, k, v = jax.random.normal(jax.random.key(1), (3, 1, 33, 4, 64), jnp.bfloat16)
y = tk.dot_product_attention(q, k, v, is_causal=True)
assert jnp.allclose(y, jax.nn.dot_product_attention(q, k, v, is_causal=True), atol=0.05)

# Two sequences of 10 and 23 tokens, packed; each query sees the last 8 keys.
starts = jnp.array([0, 10, 33], jnp.int32)
near = {"causal": True, "window": (7, None)}
both = tk.attention(q[0], k[0], v[0], cu_seqlens_q=starts, cu_seqlens_k=starts, **near)
alone = tk.attention(q[:, :10], k[:, :10], v[:, :10], **near)
assert (both[:10] == alone[0]).all()
