# SPDX-License-Identifier: MIT
"""TK's ops as JAX's: functions, jax.jit, gradients.

    import jax, jax.numpy as jnp, tk_ops.jax as tk
    x, weight = jnp.ones((4, 1024), jnp.bfloat16), jnp.ones(1024)
    dweight = jax.jit(jax.grad(lambda w: tk.rms_norm(x, w).astype(jnp.float32).sum()))(weight)

It needs jax and jax-tvm-ffi. What TK refuses is a ValueError, a TypeError for an element type, and
a NotImplementedError for what the library cannot do, as a function is traced. Options are Python's
numbers, known then. Gradients (reverse mode) are TK's kernels and repeat bit for bit; second
derivatives and jax.jvp are refused. With `repeat("row")` a row's result does not depend on the rows
beside it either, as servers want it (batch invariance). jax.vmap calls an op for one element after
another. XLA knows nothing of an op's inside: sharded arrays go through jax.shard_map. Of more than
one library, that of JAX's default backend says what is refused; on a GPU XLA gives the stream and
the workspace.
"""

from ._repeat import repeat
from .features import *  # noqa: F403
from .features import __all__ as _features
from .products import *  # noqa: F403
from .products import __all__ as _products
from .rows import *  # noqa: F403
from .rows import __all__ as _rows
from .sequences import *  # noqa: F403
from .sequences import __all__ as _sequences
from .values import *  # noqa: F403
from .values import __all__ as _values

__all__ = [*_features, *_products, *_rows, *_sequences, *_values, "repeat"]
