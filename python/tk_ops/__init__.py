# SPDX-License-Identifier: MIT
"""TK's ops on tensors that speak DLPack: PyTorch's, NumPy's, CuPy's, JAX's.

    import numpy, tk_ops
    x = numpy.random.randn(4, 1024).astype(numpy.float16)
    y = numpy.empty_like(x)
    tk_ops.norm(x=x, y=y, kind=tk_ops.NormKind.RMS, eps=1e-6)

Each function is one of the C interface, with the fields of its problem as keywords: inputs, outputs, which
are written in place, and options; what is left out is absent, or 0. Shapes, strides, limits and errors are in the
functions' own words, those of the C headers. Tensors lie where their library works: on the CPU, or on a GPU,
where the call launches on the stream that the tensors' framework has made its current one, and does not wait for it.

A package with libraries of several chips loads that of the machine's first card, and the CPU's; the environment's
TK_OPS_ARCH names others ("host,sm_80").

What TK refuses is a ValueError, a TypeError for an element type, and a NotImplementedError for a right problem that
the library cannot do, each with TK's sentence; nothing has been written then.
"""

import os as _os

from . import _binding, _choice
from ._functions import *  # noqa: F403
from ._functions import __all__ as _functions

__all__ = [*_functions, "libraries", "load_library", "workspace_bytes"]

libraries = {}
"""The versions of the libraries that are loaded, by their paths."""


def load_library(path):
    """Loads a libtk_ops.so; from then on it is that of its kind of device. OSError if it is none."""
    libraries[str(path)] = str(_binding.load(str(path)))


def workspace_bytes(op, **fields):
    """The bytes of `workspace` that a call of the op (its name) with these fields needs: device memory, whose first
    4096 bytes have been set to 0 once. Calls that may overlap must not share it. On the CPU a call has its own."""
    if op not in _binding.ops:
        raise ValueError(f"no op is called {op}; there are {', '.join(_binding.ops)}")
    place, names = _binding.ops[op]
    if unknown := set(fields) - set(names):
        raise TypeError(
            f"{op} has no field {', '.join(sorted(unknown))}; it has {', '.join(names)}"
        )
    return _binding.workspace_bytes(place, *(fields.get(name) for name in names))


_paths = {x.parent.name: x for x in _binding.FOLDER.glob("*/libtk_ops.so")}
_chosen, _reasons = _choice.choose(_paths, _os.environ.get("TK_OPS_ARCH", ""))
for _arch in _chosen:
    load_library(_paths[_arch])
for _kind, _reason in _reasons.items():
    _binding.none_because(_kind, _reason)
