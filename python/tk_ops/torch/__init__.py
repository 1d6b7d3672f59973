# SPDX-License-Identifier: MIT
"""TK's ops as PyTorch's: functions, modules, gradients, torch.compile.

    import torch, tk_ops.torch as tk
    x = torch.randn(4, 1024, dtype=torch.bfloat16, requires_grad=True)
    y = tk.rms_norm(x, 1024, eps=1e-6)
    y.sum().backward()

Functions take PyTorch's names for their arguments; what TK refuses is a ValueError, a TypeError for
an element type, and a NotImplementedError for what the library cannot do. Results are new tensors
on the device of the first, launched on the current stream. Workspaces are PyTorch's memory, one for
each device and stream. The ops themselves are torch.ops.tk_ops, with fake kernels, so that
torch.compile takes them into its graphs as they are. Gradients are TK's kernels and repeat bit for
bit, also under torch.func.grad and vjp, and torch.func.vmap takes one element after another; second
derivatives, but of linear, matmul, addmm, baddbmm, rotary, topk, add and transpose, and
forward-mode ones (torch.func.jvp, linearize, torch.autograd.forward_ad) are refused. With
`repeat("row")` a row's result does not depend on the rows beside it either, as servers want it
(batch invariance).

torch.autocast is followed where PyTorch's own runs in 16 bits, and where TK takes nothing else:
linear, matmul, addmm, baddbmm, linear_cross_entropy, both kinds of attention, linear_attention,
based, hedgehog, mamba2, fft_conv and interleaved gates cast to its type. All others take their
inputs as they are: their sums are fp32 in any case.
"""

from ._repeat import repeat
from .functional import *  # noqa: F403
from .functional import __all__ as _functions
from .mixers import *  # noqa: F403
from .mixers import __all__ as _mixers
from .modules import *  # noqa: F403
from .modules import __all__ as _modules
from .replace import replacing
from .sequences import *  # noqa: F403
from .sequences import __all__ as _sequences
from .values import *  # noqa: F403
from .values import __all__ as _values

__all__ = [*_functions, *_mixers, *_modules, *_sequences, *_values, "repeat", "replacing"]
