# SPDX-License-Identifier: MIT
"""How an op of TK becomes one of PyTorch's: torch.ops.tk_ops.<name>, with a fake kernel and a
gradient.

An op is a class that says
    schema               as torch.library.define takes it, without defaults
    made(*arguments)     its results, not yet written: what the fake kernel returns
    launch(made, *arguments)    what writes them
and, where it has a gradient,
    saved(made, *arguments)                        the tensors that the gradient needs
    backward(wanted, saved, options, *gradients)   those of its tensor arguments, in their order
where `wanted` says for each tensor argument whether its gradient is, `options` are the arguments
that are no tensors, and the gradient of a result that nobody used is None. The last results, as
many as `constants` says, have no gradient. An op without a gradient, as those are that gradients
are made of, refuses a derivative through it.
"""

import math

import torch
from torch import _C

import tk_ops

library = torch.library.Library("tk_ops", "DEF")

workspaces = {}
"""Of each device and stream of it the workspace that its launches share, in their order."""


def workspace_of(function, fields, device):
    """A new workspace of what the call needs. Raises what the op refuses."""
    size = max(tk_ops.workspace_bytes(function.__name__, **fields), 4096)
    workspace = torch.empty(size, dtype=torch.uint8, device=device)
    workspace[:4096].zero_()  # its counters, which every launch leaves 0
    return workspace


def launch_on_device(function, fields, device):
    if device.index != _C._cuda_getDevice():
        with torch.cuda.device(device.index):
            return launch_on_device(function, fields, device)
    if _C._cuda_isCurrentStreamCapturing():
        # A graph's memory is its own, and the clearing is part of it.
        return function(**fields, workspace=workspace_of(function, fields, device))
    stream = device.index, _C._cuda_getCurrentRawStream(device.index)
    workspace = workspaces.get(stream)
    try:
        function(**fields, workspace=workspace)
    except ValueError:  # the workspace is too small; or else workspace_of refuses it again
        workspaces[stream] = workspace = workspace_of(function, fields, device)
        function(**fields, workspace=workspace)


def launch(function, **fields):
    """Calls a function of tk_ops, whose first field here is a tensor, on its device and current
    stream."""
    first = next(iter(fields.values()))
    if first.is_cpu:
        function(**fields)  # which has a workspace for each thread
    else:
        launch_on_device(function, fields, first.device)


PLAIN = torch.Tensor, torch.nn.Parameter


def is_watched():
    """Whether a tracer, a mode, a transform of functions or a profiler is to see what is called."""
    return (
        torch.compiler.is_compiling()
        or _C._len_torch_dispatch_stack() > 0
        or _C._len_torch_function_stack() > 0
        or _C._functorch.peek_interpreter_stack() is not None
        or _C._get_tracing_state() is not None
        or torch.autograd._profiler_enabled()
    )


def operator(described):
    """A decorator, which makes of the class the op itself, torch.ops.tk_ops.<name>.default, but
    for calls that nobody watches, of PyTorch's own tensors on a device: these go past its
    dispatcher, which takes longer than a launch."""
    name = described.schema[: described.schema.index("(")]
    library.define(described.schema, tags=torch.Tag.pt2_compliant_tag)

    def run(*arguments):
        results = described.made(*arguments)
        described.launch(results, *arguments)
        return results

    for key in "CPU", "CUDA":
        library.impl(name, run, key)
    torch.library.register_fake(f"tk_ops::{name}", described.made, lib=library)
    op = getattr(torch.ops.tk_ops, name).default
    tensors = [i for i, x in enumerate(op._schema.arguments) if "Tensor" in str(x.type)]
    differentiable = function_of(op, described, tensors)

    def run_or_record(run, arguments):
        if _C.is_grad_enabled():
            for i in tensors:
                if arguments[i] is not None and arguments[i].requires_grad:
                    return differentiable.apply(run, *arguments)
        return run(*arguments)

    def below_autograd(*arguments):
        with _C._AutoDispatchBelowAutograd():
            return op(*arguments)

    library.impl(name, lambda *arguments: run_or_record(below_autograd, arguments), "Autograd")

    def call(*arguments):
        if is_watched():
            return op(*arguments)
        for i in tensors:
            x = arguments[i]
            if x is None or (type(x) in PLAIN and (x.is_cpu or x.is_cuda) and not x.is_neg()):
                continue
            return op(*arguments)  # the dispatcher makes plain what is negated lazily
        return run_or_record(run, arguments)

    return call


def function_of(op, described, tensors):
    """The op with its gradient, whose first argument is what runs it."""
    options = [i for i in range(len(op._schema.arguments)) if i not in tensors]
    constants = getattr(described, "constants", 0)
    has_gradient = hasattr(described, "backward")

    class function(torch.autograd.Function):
        @staticmethod
        def forward(ctx, run, *arguments):
            results = run(*arguments)
            ctx.set_materialize_grads(False)
            if constants:
                ctx.mark_non_differentiable(*results[-constants:])
            if has_gradient:
                ctx.save_for_backward(*described.saved(results, *arguments))
                ctx.options = [arguments[i] for i in options]
            return results

        @staticmethod
        def backward(ctx, *gradients):
            if not has_gradient:
                raise NotImplementedError(
                    f"{op.name()}: there is no derivative of it, nor a second one through it"
                )
            wanted = [ctx.needs_input_grad[1 + i] for i in tensors]
            found = described.backward(wanted, ctx.saved_tensors, ctx.options, *gradients)
            result = [None] * (len(tensors) + len(options))
            for i, is_wanted, gradient in zip(tensors, wanted, found, strict=True):
                if is_wanted:
                    result[i] = gradient
            return None, *result

    function.__name__ = function.__qualname__ = op.__name__
    return function


def like(x, dtype=None):
    """A tensor of x's sizes, row-major."""
    return torch.empty_like(x, dtype=dtype, memory_format=torch.contiguous_format)


def optional(x, wanted, shape=None, dtype=None):
    """A tensor of x's sizes, or of `shape`; where it is not wanted one without elements, which
    stands for none."""
    shape = (0,) if not wanted else x.shape if shape is None else shape
    return torch.empty(shape, dtype=dtype or x.dtype, device=x.device)


def rows(x):
    """x, or a copy of it, whose last dimension is contiguous."""
    return x if x is None or x.size(-1) <= 1 or x.stride(-1) == 1 else x.contiguous()


def flat(x):
    """x[..., width] as [rows, width], a view of x where one can be."""
    return x if x.dim() == 2 else x.reshape(math.prod(x.shape[:-1]), x.size(-1) if x.dim() else 1)


def matrix(x):
    """x[..., width] as [rows, width] with contiguous rows, a view of x where one can be."""
    return rows(flat(x))


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
