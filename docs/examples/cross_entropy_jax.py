# SPDX-License-Identifier: MIT
import jax
import jax.numpy as jnp
import tk_ops.jax as tk

logits = jax.random.normal(jax.random.key(1), (6, 100))
labels = jnp.array([3, 14, 15, 92, 65, -100])
losses = tk.cross_entropy(logits, labels, ignore_index=-100)
logs = jax.nn.log_softmax(logits)
assert jnp.allclose(losses[:5], -logs[jnp.arange(5), labels[:5]], atol=1e-5) and losses[5] == 0
gradient = jax.jit(jax.grad(lambda x: tk.cross_entropy(x, labels).sum()))(logits)
assert jnp.allclose(gradient.sum(-1), 0, atol=1e-5) and not gradient[5].any()
