# SPDX-License-Identifier: MIT
import jax
import jax.numpy as jnp
import tk_ops.jax as tk

x = jax.random.normal(jax.random.key(1), (4, 1024), jnp.bfloat16)
weight = jnp.ones(1024)
y = tk.rms_norm(x, weight, eps=1e-6)
assert jnp.allclose(jnp.square(y.astype(jnp.float32)).mean(-1), 1, atol=2e-2)
y, r = tk.layer_norm(x, weight, residual=x)  # the norm of the sum, and the sum
assert jnp.allclose(r, 2 * x) and jnp.allclose(y.astype(jnp.float32).mean(-1), 0, atol=1e-2)
dweight = jax.jit(jax.grad(lambda w: tk.rms_norm(x, w).astype(jnp.float32).sum()))(weight)
assert dweight.shape == (1024,)
