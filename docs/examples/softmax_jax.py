# SPDX-License-Identifier: MIT
import jax
import jax.numpy as jnp
import tk_ops.jax as tk

x = jax.random.normal(jax.random.key(1), (2, 5, 72), jnp.bfloat16)
y = jax.jit(lambda x: tk.softmax(x, axis=1))(x)
assert jnp.allclose(y, jax.nn.softmax(x, axis=1), atol=5e-3)
causal = tk.softmax(x[:, :, :5], scale=0.5, causal=True)
assert not jnp.triu(causal, 1).any()  # no row sees later columns
