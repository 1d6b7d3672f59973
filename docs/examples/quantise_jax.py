# SPDX-License-Identifier: MIT
import jax
import jax.numpy as jnp
import tk_ops.jax as tk

x = jax.random.normal(jax.random.key(1), (4, 256))
y, scale = jax.jit(lambda x: tk.quantise(x, block="1x128"))(x)
assert y.dtype == jnp.float8_e4m3fn and scale.shape == (4, 2)
back = y.astype(jnp.float32).reshape(4, 2, 128) * scale[..., None]
assert jnp.allclose(back.reshape(4, 256), x, rtol=2**-4, atol=1e-2)
