# SPDX-License-Identifier: MIT
"""How an op of TK becomes one of PyTorch's: torch.ops.tk_ops.<name>, with a fake kernel and a
gradient.

An op is a class that says
    schema               as torch.library.define takes it, without defaults
    made(*arguments)     its results, not yet written: what the fake kernel returns
    launch(made, *arguments)    what writes them
and where both can be one call of the C interface
    make(*arguments)     its result, written; or None: it is to be made and launched
and, where it has a gradient,
    saved(made, *arguments)                        the tensors that the gradient needs
    backward(wanted, saved, options, *gradients)   those of its tensor arguments, in their order
where `wanted` says for each tensor argument whether its gradient is, `options` are the arguments
that are no tensors, and the gradient of a result that nobody used is None. The last results, as
many as `constants` says, have no gradient. An op without a gradient, as those are that gradients
are made of, refuses a derivative through it.
"""

import functools
import math
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import _C, Tensor
from torch._C import (
    _get_tracing_state,
    _len_torch_dispatch_stack,
    _len_torch_function_stack,
    is_grad_enabled,
)
from torch._C._autograd import _profiler_enabled
from torch._C._functorch import TransformType, peek_interpreter_stack
from torch._C._functorch import is_legacy_batchedtensor as is_batched
from torch.autograd import forward_ad
from torch.compiler import is_compiling
from torch.nn import Parameter

from tk_ops import _binding

Functionalize = TransformType.Functionalize
launch_call, result_of = _binding.launch, _binding.result_of
library = torch.library.Library("tk_ops", "DEF")

workspaces = {}
"""Of each device and stream of it the workspace that its launches share, in their order."""


def bytes_of(call, fields):
    """Those of the workspace that the call needs. Raises what the op refuses."""
    return max(_binding.bytes_of(call, *fields), 4096)


def workspace_of(size, device):
    workspace = torch.empty(size, dtype=torch.uint8, device=device)
    workspace[:4096].zero_()  # its counters, which every launch leaves 0
    return workspace


def lasting_workspace_of(size, device):
    """One that is kept, made on a thread of its own: else it might be of a pool that this thread
    takes memory from for a while, as torch.compile does when it prepares CUDA graphs."""
    stream = torch.cuda.current_stream(device)

    def make():
        with torch.cuda.stream(stream):
            return workspace_of(size, device)

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(make).result()


def launch_on_device(call, fields, device):
    if device.index != _C._cuda_getDevice():
        with torch.cuda.device(device.index):
            return launch_on_device(call, fields, device)
    if _C._cuda_isCurrentStreamCapturing():
        # A graph's memory is its own, and the clearing is part of it.
        return launch_call(call, workspace_of(bytes_of(call, fields), device), *fields)
    stream = device.index, _C._cuda_getCurrentRawStream(device.index)
    try:
        launch_call(call, workspaces.get(stream), *fields)
    except ValueError:  # the workspace is too small; or else bytes_of refuses it again
        workspaces[stream] = lasting_workspace_of(bytes_of(call, fields), device)
        launch_call(call, workspaces[stream], *fields)


@functools.cache
def launcher(name, names, rows=False):
    """What calls an op of the C interface with the fields of these names, of which the first is a
    tensor, on the device of that and on its current stream. With `rows` contiguous tensors of three
    or more dimensions are seen as matrices of their last."""
    call = _binding.some_fields(name, names.split(), rows)

    def launch(*fields):
        if fields[0].is_cpu:
            launch_call(call, None, *fields)  # which has a workspace for each thread
        else:
            launch_on_device(call, fields, fields[0].device)

    return launch


def launch(name, **fields):
    """The same of the names with the fields: longer to run, shorter to read."""
    launcher(name, " ".join(fields))(*fields.values())


def maker(name, names):
    """As launcher with `rows`, but the last field is not given: it is the result, a new tensor like
    the first one. None, and nothing has run, where a tensor is not contiguous or the call is not a
    plain one (another device is current, a graph is captured, the workspace is too small)."""
    call = _binding.some_fields(name, names.split(), rows=True)
    on_cpu = functools.partial(result_of, call, None)

    def make(*fields):
        if fields[0].is_cpu:
            return on_cpu(*fields)
        index = fields[0].device.index
        if index != _C._cuda_getDevice() or _C._cuda_isCurrentStreamCapturing():
            return None
        try:
            stream = index, _C._cuda_getCurrentRawStream(index)
            return result_of(call, workspaces.get(stream), *fields)
        except ValueError:  # it is refused, or wants a larger workspace: `launch` finds out
            return None

    make.on_cpu = on_cpu
    return make


def is_watched():
    """Whether a tracer, a mode, a transform of functions, forward-mode differentiation or a
    profiler is to see what is called."""
    return (
        is_compiling()
        or _len_torch_dispatch_stack() > 0
        or _len_torch_function_stack() > 0
        or peek_interpreter_stack() is not None
        or forward_ad._current_level >= 0
        or _get_tracing_state() is not None
        or _profiler_enabled()
    )


def operator(described):
    """A decorator, which makes of the class the op itself, torch.ops.tk_ops.<name>.default, but
    for calls that nobody watches, of PyTorch's own tensors on a device: these go past its
    dispatcher, which takes longer than a launch."""
    name = described.schema[: described.schema.index("(")]
    library.define(described.schema, tags=torch.Tag.pt2_compliant_tag)
    made, launch = described.made, described.launch
    make = getattr(described, "make", None)
    make_on_cpu = getattr(make, "on_cpu", make)

    def run(*arguments):
        if make is not None:
            result = make(*arguments)
            if result is not None:
                return result
        results = made(*arguments)
        launch(results, *arguments)
        return results

    for key in "CPU", "CUDA":
        library.impl(name, run, key)
    op = getattr(torch.ops.tk_ops, name).default
    is_tensor = ["Tensor" in str(x.type) for x in op._schema.arguments]
    tensors = sum(is_tensor)
    assert all(is_tensor[:tensors]), "tensors come first"

    def fake(*arguments):
        devices = sorted({str(x.device) for x in arguments[:tensors] if x is not None})
        if len(devices) > 1:
            raise RuntimeError(f"{op.name()}: tensors are on {' and '.join(devices)}")
        return made(*arguments)

    torch.library.register_fake(f"tk_ops::{name}", fake, lib=library)
    recorded, transformed = functions_of(op, described, tensors)
    record = recorded.apply

    def below_autograd(*arguments):
        with _C._AutoDispatchBelowAutograd():
            return op(*arguments)

    def run_or_record(*arguments):
        wants = is_grad_enabled() and any(
            x is not None and x.requires_grad for x in arguments[:tensors]
        )
        if not wants and forward_ad._current_level < 0:
            return below_autograd(*arguments)
        if peek_interpreter_stack() is not None:
            raise NotImplementedError(
                f"{op.name()}: torch.func differentiates the functions of tk_ops.torch, not torch.ops"
            )
        return record(below_autograd, *arguments)

    library.impl(name, run_or_record, "Autograd")

    def call(*arguments):
        if is_watched():
            transform = peek_interpreter_stack()
            if transform is None or is_compiling() or transform.key() == Functionalize:
                return op(*arguments)
            return transformed.apply(op, *arguments)  # whose rules torch.func sees
        wants, on_cpu = False, make is not None
        for x in arguments[:tensors]:
            if x is None:
                continue
            kind = type(x)
            # The dispatcher makes plain what is negated lazily or batched by autograd's own vmap.
            if (kind is not Tensor and kind is not Parameter) or x.is_neg() or is_batched(x):
                return op(*arguments)
            if not x.is_cpu:
                if not x.is_cuda:
                    return op(*arguments)
                on_cpu = False
            if x.requires_grad:
                wants = True
        if wants and is_grad_enabled():
            return record(run, *arguments)
        if on_cpu:
            result = make_on_cpu(*arguments)
            if result is not None:
                return result
        return run(*arguments)

    return call


def functions_of(op, described, tensors):
    """The op with its gradient, as autograd takes it and as torch.func's transforms do, which
    costs 14 us more; their first argument is what runs it."""
    constants = getattr(described, "constants", 0)
    has_gradient = hasattr(described, "backward")

    def keep(ctx, arguments, results):
        ctx.set_materialize_grads(False)
        if constants:
            ctx.mark_non_differentiable(*results[-constants:])
        if has_gradient:
            ctx.save_for_backward(*described.saved(results, *arguments))
        ctx.options = arguments[tensors:]

    class recorded(torch.autograd.Function):
        @staticmethod
        def forward(ctx, run, *arguments):
            results = run(*arguments)
            keep(ctx, arguments, results)
            return results

        @staticmethod
        def backward(ctx, *gradients):
            if not has_gradient:
                raise NotImplementedError(
                    f"{op.name()}: there is no derivative of it, nor a second one through it"
                )
            wanted = ctx.needs_input_grad[1 : 1 + tensors]
            if all(x is None for x in gradients):
                return (None,) * len(ctx.needs_input_grad)
            found = described.backward(wanted, ctx.saved_tensors, ctx.options, *gradients)
            found = (x if is_wanted else None for x, is_wanted in zip(found, wanted, strict=True))
            return None, *found, *(None for _ in ctx.options)

        @staticmethod
        def jvp(ctx, *tangents):
            raise NotImplementedError(
                f"{op.name()}: there is no forward-mode derivative of it (torch.func.jvp, linearize,"
                " jacfwd, torch.autograd.forward_ad)"
            )

    class transformed(recorded):
        @staticmethod
        def forward(run, *arguments):
            return run(*arguments)

        @staticmethod
        def setup_context(ctx, inputs, results):
            keep(ctx, inputs[1:], results)

        @staticmethod
        def vmap(info, axes, *arguments):
            """One element after another; where there is none, what one of zeros would give."""
            count = info.batch_size
            pairs = [
                (x if axis is None or count else x.new_zeros(1, *x.movedim(axis, 0).shape[1:]), axis)
                for x, axis in zip(arguments, axes, strict=True)
            ]
            results = [
                transformed.apply(
                    *(
                        x if axis is None else x.select(axis if count else 0, i)
                        for x, axis in pairs
                    )
                )
                for i in range(max(count, 1))
            ]
            if isinstance(results[0], Tensor):
                return torch.stack(results)[:count], 0
            results = tuple(torch.stack(x)[:count] for x in zip(*results, strict=True))
            return results, (0,) * len(results)

    for function in recorded, transformed:
        function.__name__ = function.__qualname__ = op.__name__
    return recorded, transformed


def like(x, dtype=None):
    """A tensor of x's sizes, row-major."""
    if dtype is None and type(x) is Tensor and x.is_contiguous():
        return torch.empty_like(x)  # sooner
    return torch.empty_like(x, dtype=dtype, memory_format=torch.contiguous_format)


def optional(x, wanted, shape=None, dtype=None):
    """A tensor of x's sizes, or of `shape`; where it is not wanted one without elements, which
    stands for none."""
    if not wanted:
        return x.new_empty(0, dtype=dtype)
    return like(x, dtype) if shape is None else x.new_empty(shape, dtype=dtype)


def rows(x):
    """x, or a copy of it, whose last dimension is contiguous."""
    if x is None or x.is_contiguous() or x.size(-1) <= 1 or x.stride(-1) == 1:
        return x
    return x.contiguous()


def flat(x):
    """x[..., width] as [rows, width], a view of x where one can be."""
    return x if x.dim() == 2 else x.reshape(math.prod(x.shape[:-1]), x.size(-1) if x.dim() else 1)


def declared(names, required):
    """Tensors of these names in a schema, of which the first so many must be there."""
    return ", ".join(f"Tensor{'' if i < required else '?'} {x}" for i, x in enumerate(names))


def fields_of(names, tensors):
    """The tensors with contiguous rows, by their names."""
    return dict(zip(names, map(rows, tensors), strict=True))


def lines(x):
    """x[..., width] as a launch of rows takes it: contiguous as it is, else flat."""
    return x if x.dim() > 1 and x.is_contiguous() else flat(x)


def matrix(x):
    """The same with contiguous rows, a view of x where one can be."""
    return x if x.dim() > 1 and x.is_contiguous() else rows(flat(x))


def alike(*tensors):
    """Tensors of the same sizes, or None, as a launch of rows takes them, and before them whether
    they are `apart`: of up to four dimensions, as they lie, while contiguous ones are matrices."""
    given = [x for x in tensors if x is not None]
    if given[0].dim() <= 2 or all(x.is_contiguous() for x in given):
        return False, *(None if x is None else matrix(x) for x in tensors)
    return True, *(None if x is None else rows(last(4, x)) for x in tensors)


def last(dims, x):
    """x, or where it has more dimensions its first ones as one, a view of x where one can be."""
    return x if x.dim() <= dims else x.flatten(0, -dims)


def row(x):
    """x as one row, a view of x where one can be."""
    return x if x.dim() == 1 else x.reshape(-1)


def contiguous(x):
    return None if x is None else x.contiguous()


def autocast(*tensors):
    """The tensors as torch.autocast, where it is on, has them for ops that it runs in 16 bits."""
    device = tensors[0].device.type
    if device == "meta" or not torch.is_autocast_enabled(device):
        return tensors
    dtype = torch.get_autocast_dtype(device)
    return tuple(
        x.to(dtype) if x is not None and x.is_floating_point() and x.dtype != torch.float64 else x
        for x in tensors
    )
