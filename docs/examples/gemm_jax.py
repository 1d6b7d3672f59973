# SPDX-License-Identifier: MIT
import jax
import jax.numpy as jnp
import tk_ops.jax as tk

x, kernel = jax.random.normal(jax.random.key(1), (2, 64, 64), jnp.bfloat16)
y = tk.linear(x, kernel)
assert jnp.allclose(y, x @ kernel, atol=0.1)
batch = tk.matmul(jnp.stack((x, x)), kernel, preferred_element_type=jnp.float32)
assert batch.dtype == jnp.float32 and batch.shape == (2, 64, 64)
dkernel = jax.jit(jax.grad(lambda w: tk.linear(x, w).astype(jnp.float32).sum()))(kernel)
assert dkernel.shape == kernel.shape
