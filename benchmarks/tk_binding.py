# SPDX-License-Identifier: MIT
"""libtk_ops through ctypes, with problems filled from PyTorch tensors.

The problems are those of the headers (ops/api/c_headers.py); the library compares their
sizes with its own.
"""
import ctypes
import os
import sys

import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../ops/api"))
from c_headers import DLDataType, DLDevice, DLTensor, c_interface  # noqa: E402

DL_TYPES = {torch.bfloat16: (4, 16), torch.float16: (2, 16), torch.float32: (2, 32),
            torch.int32: (0, 32), torch.int64: (0, 64), torch.float8_e4m3fn: (10, 8),
            torch.float8_e5m2: (12, 8), torch.bool: (6, 8), torch.uint8: (1, 8)}
DL_CPU = 1


class tk_library:
    """libtk_ops behind ctypes; each problem becomes a call without arguments. `repeat`, run or
    row, is that of every problem."""

    def __init__(self, path, repeat="run"):
        self.lib = ctypes.CDLL(os.path.abspath(path))
        self.interface = c_interface()
        self.repeat = repeat
        for name in "tk_version", "tk_last_error":
            getattr(self.lib, name).restype = ctypes.c_char_p
            getattr(self.lib, name).argtypes = []
        self.lib.tk_status_name.restype = ctypes.c_char_p
        self.lib.tk_status_name.argtypes = [ctypes.c_int]
        self.lib.tk_device_type.restype = ctypes.c_int
        self.lib.tk_device_type.argtypes = []
        self.lib.tk_workspace.restype = ctypes.c_int
        self.lib.tk_workspace.argtypes = [ctypes.c_int, ctypes.c_void_p,
                                          ctypes.POINTER(ctypes.c_size_t)]
        self.version = self.lib.tk_version().decode()
        self.device_type = self.lib.tk_device_type()

    def launcher(self, op):
        """The C function of an op; an error where the library was built without it."""
        try:
            function = getattr(self.lib, f"tk_{op}")
        except AttributeError:
            raise RuntimeError(f"the library holds no tk_{op}") from None
        function.restype = ctypes.c_int
        function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
        return function

    def tensor(self, x):
        shape = (ctypes.c_int64 * x.dim())(*x.shape)
        strides = (ctypes.c_int64 * x.dim())(*x.stride())
        code, bits = DL_TYPES[x.dtype]
        t = DLTensor(x.data_ptr(), DLDevice(self.device_type, x.device.index or 0), x.dim(),
                     DLDataType(code, bits, 1), shape, strides, 0)
        t.alive = (x, shape, strides)
        return t

    def fill(self, struct, values, alive):
        """Sets a struct's size and fields. A value is a number, an enumerator's name, a tensor, None
        for NULL, or, for a struct that the field points to, its own values as a dict. `alive` takes
        what is pointed to."""
        kinds = dict(struct._fields_)
        struct.size = ctypes.sizeof(struct)
        for name, x in values.items():
            if name not in kinds:
                raise ValueError(f"{type(struct).__name__} has no field {name}")
            if isinstance(x, str):
                x = self.interface.values[x]
            elif isinstance(x, dict):
                x = ctypes.pointer(self.fill(kinds[name]._type_(), x, alive))
            elif isinstance(x, torch.Tensor):
                x = ctypes.pointer(self.tensor(x))
            alive.append(x)
            setattr(struct, name, x)
        return struct

    def bind(self, op, operands, device, **fields):
        """A function that launches the op on torch's stream. Operands and fields are values of its
        problem, as fill() takes them; options={...} fills the struct that `options` points to."""
        launch = self.launcher(op)
        alive = []
        values = {"repeat": f"TK_REPEAT_{self.repeat.upper()}", **operands, **fields}
        problem = self.fill(self.interface.ops[op].problem(), values, alive)
        address = ctypes.addressof(problem)
        bytes_needed = ctypes.c_size_t(0)
        number = self.interface.ops[op].number
        self.check(self.lib.tk_workspace(number, address, ctypes.byref(bytes_needed)))
        size = bytes_needed.value
        workspace = torch.zeros(max(size, 16), dtype=torch.uint8, device=device)
        stream = torch.cuda.current_stream().cuda_stream if device != "cpu" else None
        keep = (problem, alive, workspace)

        def call(keep=keep, data=workspace.data_ptr()):
            status = launch(address, data, size, stream)
            if status:
                self.check(status)

        return call

    def check(self, status):
        if status:
            name = self.lib.tk_status_name(status).decode()
            raise RuntimeError(f"{name}: {self.lib.tk_last_error().decode()}")
