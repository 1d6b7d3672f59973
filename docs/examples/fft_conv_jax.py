# SPDX-License-Identifier: MIT
import jax
import jax.numpy as jnp
import tk_ops.jax as tk

u = jax.random.normal(jax.random.key(1), (1, 4, 500), jnp.bfloat16)
k = jax.random.normal(jax.random.key(2), (4, 300)) / 17
y = jax.jit(tk.fft_conv)(u, k)  # causal: padded to 800
exact = jnp.fft.irfft(jnp.fft.rfft(u.astype(jnp.float32), 800) * jnp.fft.rfft(k, 800), 800)
assert jnp.allclose(y, exact[..., :500], atol=0.05)
dk = jax.grad(lambda k: tk.fft_conv(u, k).astype(jnp.float32).sum())(k)
assert dk.shape == k.shape
