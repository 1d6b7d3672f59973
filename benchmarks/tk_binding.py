# SPDX-License-Identifier: MIT
"""libtk_ops through ctypes: the structs of tk_ops.h and DLPack, filled from PyTorch tensors.

The structs must equal those of ops/tk_ops.h field by field; the library compares their sizes.
"""
import ctypes
import os

import torch

DL_TYPES = {torch.bfloat16: (4, 16), torch.float16: (2, 16), torch.float32: (2, 32)}
DL_CPU = 1
OP_GEMM, OP_ATTENTION_FORWARD, OP_NORM = 0, 1, 2
BIASES = {"none": 0, "row": 1, "column": 2}
ACTIVATIONS = {"none": 0, "relu": 1, "silu": 2, "gelu_tanh": 3, "gelu_erf": 4}
MASKS = {"none": 0, "causal": 1}
NORMS = {"layer": 0, "rms": 1}


class DLDevice(ctypes.Structure):
    _fields_ = [("device_type", ctypes.c_int), ("device_id", ctypes.c_int)]


class DLDataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", DLDevice), ("ndim", ctypes.c_int),
                ("dtype", DLDataType), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


DLTensorPointer = ctypes.POINTER(DLTensor)


class tk_gemm_problem(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("a", DLTensorPointer), ("b", DLTensorPointer),
                ("c", DLTensorPointer), ("bias", DLTensorPointer), ("d", DLTensorPointer),
                ("transpose_a", ctypes.c_int), ("transpose_b", ctypes.c_int),
                ("alpha", ctypes.c_float), ("beta", ctypes.c_float), ("bias_kind", ctypes.c_int),
                ("activation", ctypes.c_int)]


class tk_attention_forward_problem(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("q", DLTensorPointer), ("k", DLTensorPointer),
                ("v", DLTensorPointer), ("o", DLTensorPointer), ("lse", DLTensorPointer),
                ("mask", ctypes.c_int), ("scale", ctypes.c_float)]


class tk_norm_problem(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("x", DLTensorPointer), ("residual", DLTensorPointer),
                ("weight", DLTensorPointer), ("bias", DLTensorPointer), ("y", DLTensorPointer),
                ("r", DLTensorPointer), ("kind", ctypes.c_int), ("eps", ctypes.c_float)]


class tk_library:
    """libtk_ops behind ctypes; each problem becomes a call without arguments."""

    def __init__(self, path):
        self.lib = ctypes.CDLL(os.path.abspath(path))
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
        for name in "tk_gemm", "tk_attention_forward", "tk_norm":
            getattr(self.lib, name).restype = ctypes.c_int
            getattr(self.lib, name).argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t,
                                                ctypes.c_void_p]
        self.version = self.lib.tk_version().decode()
        self.device_type = self.lib.tk_device_type()

    def tensor(self, x):
        shape = (ctypes.c_int64 * x.dim())(*x.shape)
        strides = (ctypes.c_int64 * x.dim())(*x.stride())
        code, bits = DL_TYPES[x.dtype]
        t = DLTensor(x.data_ptr(), DLDevice(self.device_type, x.device.index or 0), x.dim(),
                     DLDataType(code, bits, 1), shape, strides, 0)
        t.alive = (x, shape, strides)
        return t

    def bind(self, op, problem, operands, device):
        """Sets `problem`'s tensors and returns a function that launches it on torch's stream."""
        tensors = {name: self.tensor(x) for name, x in operands.items() if x is not None}
        for name, t in tensors.items():
            setattr(problem, name, ctypes.pointer(t))
        problem.size = ctypes.sizeof(problem)
        address = ctypes.addressof(problem)
        bytes_needed = ctypes.c_size_t(0)
        self.check(self.lib.tk_workspace(op, address, ctypes.byref(bytes_needed)))
        size = bytes_needed.value
        workspace = torch.zeros(max(size, 16), dtype=torch.uint8, device=device)
        launch = (self.lib.tk_gemm, self.lib.tk_attention_forward, self.lib.tk_norm)[op]
        stream = torch.cuda.current_stream().cuda_stream if device != "cpu" else None
        keep = (problem, tensors, workspace)

        def call(keep=keep, data=workspace.data_ptr()):
            status = launch(address, data, size, stream)
            if status:
                self.check(status)

        return call

    def check(self, status):
        if status:
            name = self.lib.tk_status_name(status).decode()
            raise RuntimeError(f"{name}: {self.lib.tk_last_error().decode()}")
