# SPDX-License-Identifier: MIT
"""The structs and enums of the C interface as ctypes, read from the headers themselves, for what calls it
from Python.

ops/ops.cmake lists the ops: tk_op(<number> <name> <folder>). The problem of each is a struct
tk_<name>_problem in ops/<folder>/<name>.h, whose fields are numbers, enums and pointers; anything
else is an error that names it. A header of the op's folder that this one includes may hold structs, to which
fields then point. tests/benchmarks/structs.py compares the result with a compiler's.
"""
import ctypes
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class DLDevice(ctypes.Structure):
    _fields_ = [("device_type", ctypes.c_int), ("device_id", ctypes.c_int)]


class DLDataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", DLDevice), ("ndim", ctypes.c_int),
                ("dtype", DLDataType), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


FIELD_TYPES = {
    "size_t": ctypes.c_size_t, "int": ctypes.c_int, "unsigned": ctypes.c_uint,
    "int32_t": ctypes.c_int32, "uint32_t": ctypes.c_uint32, "int64_t": ctypes.c_int64,
    "uint64_t": ctypes.c_uint64, "float": ctypes.c_float, "double": ctypes.c_double,
    "void*": ctypes.c_void_p, "void const*": ctypes.c_void_p,
    "DLTensor*": ctypes.POINTER(DLTensor), "DLTensor const*": ctypes.POINTER(DLTensor),
}
DEFINITION = r"typedef\s+{}\s+(tk_\w+)\s*\{{([^{{}}]*)\}}\s*\1\s*;"


class listed_op:
    """A line of ops/ops.cmake, and the op's problem."""

    def __init__(self, number, name, folder):
        self.number, self.name, self.folder = int(number), name, folder
        self.problem = None

    def header(self):
        return f"ops/{self.folder}/{self.name}.h"


def listed_ops(root=ROOT):
    with open(os.path.join(root, "ops/ops.cmake"), encoding="utf-8") as file:
        lines = re.findall(r"^tk_op\((\d+) (\w+) (\w+)\)", file.read(), re.MULTILINE)
    if not lines:
        raise ValueError("ops/ops.cmake lists no op")
    return [listed_op(*line) for line in lines]


def folders(root=ROOT):
    """The folders of all ops, each once, in the list's order."""
    return list(dict.fromkeys(op.folder for op in listed_ops(root)))


class c_interface:
    """`ops` by name, each with its problem; `parts`, the structs that problems point to; `values` of the
    enumerators by name, and the `enums` by theirs, each a dict of its own. A struct's `kinds` are the C types
    of its fields."""

    def __init__(self, root=ROOT):
        self.types, self.values, self.parts, self.enums = dict(FIELD_TYPES), {}, {}, {}
        self.ops = {op.name: op for op in listed_ops(root)}
        self.read(root, "ops/tk_base.h")
        for op in self.ops.values():
            structs, name = self.read(root, op.header()), f"tk_{op.name}_problem"
            if name not in structs:
                raise ValueError(f"{op.header()}: no typedef struct {name}")
            op.problem = structs[name]

    def read(self, root, header):
        with open(os.path.join(root, header), encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", file.read(), flags=re.DOTALL)
        for part in re.findall(r'#include "(ops/\w+/\w+\.h)"', text):
            for name, struct in self.read(root, part).items():
                self.parts[name] = struct
                self.types[f"{name} const*"] = self.types[f"{name}*"] = ctypes.POINTER(struct)
        for name, body in re.findall(DEFINITION.format("enum"), text):
            self.add_enum(header, name, body)
        return {name: self.struct(header, name, body)
                for name, body in re.findall(DEFINITION.format("struct"), text)}

    def add_enum(self, header, name, body):
        self.types[name] = ctypes.c_int
        self.enums[name] = {}
        for item in filter(None, (x.strip() for x in body.split(","))):
            found = re.fullmatch(r"(\w+)\s*=\s*(-?\d+|0x[0-9a-fA-F]+)", item)
            if not found:
                raise ValueError(f"{header}: '{item}' of {name} is not of the form NAME = number")
            self.values[found[1]] = self.enums[name][found[1]] = int(found[2], 0)

    def struct(self, header, name, body):
        fields, kinds = [], {}
        for item in filter(None, (" ".join(x.split()) for x in body.split(";"))):
            found = re.fullmatch(r"(.*[ *])(\w+)", item)
            kind = re.sub(r" ?\* ?", "*", found[1]).strip() if found else ""
            if kind not in self.types:
                raise ValueError(f"{header}: {name} has a field '{item}', whose type is none of "
                                 f"{', '.join(self.types)}")
            fields.append((found[2], self.types[kind]))
            kinds[found[2]] = kind
        return type(name, (ctypes.Structure,), {"_fields_": fields, "kinds": kinds})
