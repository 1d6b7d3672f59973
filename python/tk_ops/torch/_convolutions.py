# SPDX-License-Identifier: MIT
"""The ops of long convolutions: by filters, or by filters and their transforms.

The transforms of filters lie at the beginning of a workspace, at the same place in all that are for
these filters, this n and type. A `filter` is such a workspace. Where nothing lies behind them, any
call only reads it. Else it has a byte more than any workspace, and a call has one of its own, with
a copy of it.
"""

import torch
import tvm_ffi
from tvm_ffi import DLDeviceType

from tk_ops import _binding
from tk_ops._options import FFT_CONV

from ._library import declared, fields_of, launch, like, operator, optional, rows
from ._sequences import wanted_of

TENSORS = declared(FFT_CONV, 2) + ", Tensor? filter"


def bytes_of_workspace(b, h, n, dtype, h_k, nk, device, circular):
    place, names = _binding.ops["fft_conv"]
    fields = {"u": 0, "k": 1, "y": 2, "circular": int(circular)}
    kind = DLDeviceType.kDLCUDA if device.type == "cuda" else DLDeviceType.kDLCPU
    u = tvm_ffi.Shape((b, h, n)), tvm_ffi.dtype(str(dtype).removeprefix("torch."))
    k = tvm_ffi.Shape((h_k, nk)), tvm_ffi.dtype("float32")
    return _binding.bytes_of_shapes(place, int(kind), *map(fields.get, names), *u, *k, *u)


def bytes_of_filter(k, u, circular):
    """Those of a filter, of tensors that may be fake."""
    (h, n), (h_k, nk) = (map(int, x.shape[-2:]) for x in (u, k))
    others = u.device, circular
    alone, both = (bytes_of_workspace(b, 1, n, u.dtype, 1, nk, *others) for b in (1, 2))
    return bytes_of_workspace(1, h, n, u.dtype, h_k, nk, *others) + (alone != both)


def launch_with(filter, name, **fields):
    """Launches on a workspace that holds the filters' transforms, where there is one."""
    if filter is None:
        return launch(name, **fields)
    u, k, circular = (fields[x] for x in ("u", "k", "circular"))
    call, values = _binding.some_fields(name, tuple(fields), False), tuple(fields.values())
    size, wanted = _binding.bytes_of(call, *values), bytes_of_filter(k, u, circular)
    if filter.numel() != wanted:
        raise ValueError(
            f"fft_conv: filter has {filter.numel()} bytes; for these sizes and types it must have"
            f" {wanted}"
        )
    if size != wanted:
        workspace, shared = filter.new_empty(size), min(size, wanted)
        workspace[:4096].zero_()
        workspace[:shared].copy_(filter[:shared])
        filter = workspace
    with torch.cuda.device_of(u):
        _binding.launch(call, filter, *values)


@operator
class fft_filter:
    schema = "fft_filter(Tensor k, Tensor u, bool circular) -> Tensor"

    def made(k, u, circular):
        return u.new_empty(bytes_of_filter(k, u, circular), dtype=torch.uint8)

    def launch(filter, k, u, circular):
        filter[:4096].zero_()
        x = u.new_zeros(1, *u.shape[-2:])
        call = _binding.some_fields("fft_conv", ("u", "k", "y", "circular"), False)
        with torch.cuda.device_of(u):
            _binding.launch(call, filter, x, rows(k), like(x), circular)


@operator
class fft_conv_backward:
    schema = (
        f"fft_conv_backward({TENSORS}, Tensor dy, bool circular, bool du, bool dk, bool dpre,"
        " bool dpost) -> (Tensor, Tensor, Tensor, Tensor)"
    )

    def made(u, k, pre, post, filter, dy, circular, *wanted):
        return tuple(optional(k if i == 1 else u, is_wanted) for i, is_wanted in enumerate(wanted))

    def launch(made, u, k, pre, post, filter, dy, circular, *wanted):
        launch_with(
            filter,
            "fft_conv_backward",
            **fields_of(FFT_CONV, (u, k, pre, post)),
            dy=rows(dy),
            **{f"d{name}": x for name, x in zip(FFT_CONV, wanted_of(made, wanted))},
            circular=circular,
            filter_is_ready=filter is not None,
        )


@operator
class fft_conv:
    schema = f"fft_conv({TENSORS}, bool circular) -> Tensor"

    def made(u, k, pre, post, filter, circular):
        return like(u)

    def launch(y, u, k, pre, post, filter, circular):
        launch_with(
            filter,
            "fft_conv",
            **fields_of(FFT_CONV, (u, k, pre, post)),
            y=y,
            circular=circular,
            filter_is_ready=filter is not None,
        )

    def saved(y, *arguments):
        return arguments[:5]

    def backward(wanted, saved, options, dy):
        return *fft_conv_backward(*saved, dy, *options, *wanted[:4]), None
