# SPDX-License-Identifier: MIT
import jax
import jax.numpy as jnp
import tk_ops.jax as tk

x = jax.random.normal(jax.random.key(1), (40, 24), jnp.bfloat16)
weight = jax.random.normal(jax.random.key(2), (100, 24), jnp.bfloat16) / 5  # [classes, width]
labels = jnp.arange(40)
of = jax.value_and_grad(lambda w: tk.linear_cross_entropy(x, w, labels))
loss, dweight = jax.jit(of)(weight)  # the logits [40, 100] are never whole in memory
logs = jax.nn.log_softmax(x.astype(jnp.float32) @ weight.astype(jnp.float32).T)
assert jnp.allclose(loss, -logs[labels, labels].sum(), rtol=1e-3)
assert dweight.shape == weight.shape
