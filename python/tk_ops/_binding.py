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
none_because = _module.get_function("none_because")
workspace_bytes = _module.get_function("workspace_bytes")
launch, result_of, bytes_of = map(_module.get_function, ("launch", "result_of", "bytes_of"))
plan, run, bytes_of_shapes = map(_module.get_function, ("plan", "run", "bytes_of_shapes"))

ops = {}
"""Of each op's name, its place in a library and the fields of its problem."""


def function(place, name, fields):
    """The function that takes these fields and a workspace, all by their place."""
    ops[name] = place, fields
    return _module.get_function(name)


def some_fields(name, fields, rows):
    """What `launch` and `bytes_of` are told of a call that gives these fields. With `rows` contiguous tensors
    of three or more dimensions are seen as matrices of their last."""
    place, names = ops[name]
    if unknown := set(fields) - set(names):
        raise TypeError(f"{name} has no field {', '.join(sorted(unknown))}")
    return tvm_ffi.Shape((place, int(rows), *map(names.index, fields)))
