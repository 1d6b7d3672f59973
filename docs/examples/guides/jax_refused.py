# SPDX-License-Identifier: MIT
import jax
import jax.numpy as jnp
import tk_ops.jax as tk

x, said = jnp.ones((8, 8)), {}
for name, call in {
    "types": lambda: jax.jit(tk.linear)(x, x),
    "sizes": lambda: tk.rms_norm(x, jnp.ones(4)),
    "forward mode": lambda: jax.jvp(tk.silu, (x,), (x,)),
    "second derivatives": lambda: jax.hessian(lambda x: tk.silu(x).sum())(x),
}.items():
    try:
        call()
    except (TypeError, ValueError, NotImplementedError) as refusal:
        said[name] = type(refusal), str(refusal)

assert said["types"][0] is TypeError and "tk_gemm: a is fp32" in said["types"][1]
assert said["sizes"][0] is ValueError and "the last size of x" in said["sizes"][1]
assert said["forward mode"][0] is TypeError
assert len(said) == 4
