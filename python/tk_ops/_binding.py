# SPDX-License-Identifier: MIT
"""The library beside this file (python/binding.cpp), and what the functions of ops are made of."""
import builtins
import typing
from pathlib import Path

import tvm_ffi

Tensor = typing.Any
"""What has __dlpack__: a tensor of PyTorch, NumPy, CuPy, JAX; or None."""

FOLDER = Path(__file__).resolve().parent / "lib"
for _error in "MemoryError", "NotImplementedError", "OSError", "OverflowError":
    tvm_ffi.register_error(_error, getattr(builtins, _error))
_module = tvm_ffi.load_module(str(FOLDER / "libtk_python.so"))
load = _module.get_function("load")
workspace_bytes = _module.get_function("workspace_bytes")
plan, run, bytes_of_shapes = map(_module.get_function, ("plan", "run", "bytes_of_shapes"))

ops = {}
"""Of each op's name, its place in a library and the fields of its problem."""


def function(place, name, fields):
    """The function that takes these fields and a workspace, all by their place."""
    ops[name] = place, fields
    return _module.get_function(name)
