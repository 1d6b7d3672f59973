# SPDX-License-Identifier: MIT
import jax
import jax.numpy as jnp
import tk_ops.jax as tk

logits = jax.random.normal(jax.random.key(1), (4, 1000))
values, places = tk.top_k(logits, 8)
assert (values == jax.lax.top_k(logits, 8)[0]).all()
assert (tk.argmax(logits, -1) == places[:, 0]).all()

gradient = jax.grad(lambda x: (jax.nn.softmax(tk.top_k(x, 8)[0]) ** 2).sum())(logits)
assert (jnp.count_nonzero(gradient, -1) <= 8).all()  # it reaches the eight of each row
