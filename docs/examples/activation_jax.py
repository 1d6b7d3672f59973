# SPDX-License-Identifier: MIT
import jax
import jax.numpy as jnp
import tk_ops.jax as tk

x = jax.random.normal(jax.random.key(1), (3, 64))
assert jnp.allclose(tk.silu(x), jax.nn.silu(x), atol=1e-5)
assert jnp.allclose(tk.gelu(x), jax.nn.gelu(x), atol=1e-5)
gate, up = jnp.split(x, 2, -1)
assert jnp.allclose(tk.swiglu(x), jax.nn.silu(gate) * up, atol=1e-5)  # of halves, or of two
assert (tk.geglu(gate, up) == tk.geglu(x)).all() and (tk.reglu(x) == tk.reglu(gate, up)).all()
