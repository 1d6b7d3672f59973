# SPDX-License-Identifier: MIT
"""How an op of TK becomes one of JAX's: a foreign function of XLA by jax-tvm-ffi, and its gradient.

A differentiable op is a class that says
    run(options, *arrays)    its results, and what the gradient needs of them and of the arguments
    backward(wanted, options, saved, *gradients)   the gradients of its arguments, in their order
or instead of run, where gradients are made with the results,
    run_for(wanted, options, *arrays)
where `options` can be hashed, an argument may be None, `wanted` says for each whether its gradient
is, and the gradient of a result that nobody used is None.

XLA calls with buffers alone. What they are, and the options, is a plan (python/binding.cpp), kept
under a hash of itself, so that a program out of JAX's cache finds its own once it is traced. The
hash is the one attribute of a call, of 7 letters: jax-tvm-ffi 0.1.3 passes no longer text safely,
and keeps the memory of numbers.
"""

import base64
import functools
import hashlib
import math
import numbers

import jax
import jax.numpy as jnp
import jax_tvm_ffi
import tvm_ffi
from jax import lax
from jax.custom_derivatives import SymbolicZero

from tk_ops import _binding

CPU, CUDA = int(tvm_ffi.DLDeviceType.kDLCPU), int(tvm_ffi.DLDeviceType.kDLCUDA)
COUNTER_BYTES = 4096
"""Of a workspace: what must be 0 before a launch, which leaves it 0."""

plans = {}


@functools.cache
def target_of(op):
    """The name of an op among XLA's foreign functions."""
    name, arguments = f"tk_ops.{op}", ["attrs.plan", "args", "rets"]
    jax_tvm_ffi.register_ffi_target(name, _binding.run, arguments, platform="cpu")
    jax_tvm_ffi.register_ffi_target(
        name, _binding.run, arguments, platform="gpu", allow_cuda_graph=True
    )
    return name


def plan_of(op, arguments):
    """The name of the plan with these arguments of the op's function."""
    content = op, arguments
    digest = hashlib.blake2b(repr(content).encode(), digest_size=5).digest()
    name = base64.urlsafe_b64encode(digest).decode().rstrip("=")
    if name not in plans:
        _binding.plan(name, _binding.ops[op][0], *arguments)
    if plans.setdefault(name, content) != content:
        raise RuntimeError(f"tk_ops.jax: two calls have one name, {content} and {plans[name]}")
    return name


def kind_of_device():
    """DLPack's number of what JAX computes on, and whether a call must bring a workspace."""
    on_cpu = jax.default_backend() == "cpu"
    return CPU if on_cpu else CUDA, not on_cpu


def launch(op, inputs, outputs, **options):
    """Calls an op: arrays by their fields, the shapes of results by theirs, and all other fields.
    An array or a result that is None is left out. The results by their fields, in this order.

    Raises what TK refuses, with its sentence, as the call is traced. On a GPU a workspace is one
    more result, which takes the place of an argument whose counters are 0.
    """
    place, names = _binding.ops[op]
    inputs = {name: x for name, x in inputs.items() if x is not None}
    outputs = {name: y for name, y in outputs.items() if y is not None}
    if unknown := {*inputs, *outputs, *options} - {*names}:
        raise TypeError(f"{op} has no field {', '.join(sorted(unknown))}")
    arrays, results = list(inputs.values()), list(outputs.values())
    device, takes_workspace = kind_of_device()
    said = []
    for x in arrays + results:
        said += tvm_ffi.Shape(x.shape), tvm_ffi.dtype(jnp.dtype(x.dtype).name)

    def numbered(first_output):
        at = {name: i for i, name in enumerate(inputs)}
        at |= {name: first_output + i for i, name in enumerate(outputs)}
        return [at[x] if x in at else plain(options.get(x)) for x in names]

    size = _binding.bytes_of_shapes(place, device, *numbered(len(arrays)), *said)
    aliases, arguments, workspace = {}, numbered(len(arrays)), None
    if size and takes_workspace:
        workspace, size = len(arrays), max(size, COUNTER_BYTES)
        arguments = numbered(workspace + 1)
        aliases = {len(arrays): len(results)}
        counters = jnp.zeros(COUNTER_BYTES, jnp.uint8)
        arrays.append(lax.dynamic_update_slice(lax.empty((size,), jnp.uint8), counters, (0,)))
        results.append(jax.ShapeDtypeStruct((size,), jnp.uint8))
    call = jax.ffi.ffi_call(
        target_of(op), results, vmap_method="sequential", input_output_aliases=aliases
    )
    axes = axes_of(*arrays)
    arrays = [vary(x, axes) for x in arrays]
    found = [vary(y, axes) for y in call(*arrays, plan=plan_of(op, (*arguments, workspace)))]
    return dict(zip(outputs, found))


def axes_of(*arrays):
    """The axes of jax.shard_map along which one of the arrays varies: so do an op's results."""
    return frozenset().union(*(jax.typeof(x).manual_axis_type.varying for x in arrays))


def vary(x, axes):
    """x as one that varies along the axes; the gradient of what did not is a sum along them."""
    missing = tuple(sorted(axes - axes_of(x)))
    return lax.pcast(x, missing, to="varying") if missing else x


def plain(x):
    """A number as a plan keeps it: an int or a float."""
    return x if x is None else int(x) if isinstance(x, bool | numbers.Integral) else float(x)


@jax.tree_util.register_static
class flags(tuple):
    """Booleans that are the same for every run of a traced function."""


def operator(described):
    """A decorator, which makes of the class the function of options and arrays."""
    run_for = getattr(described, "run_for", lambda wanted, *arguments: described.run(*arguments))

    @functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
    def function(options, *arrays):
        return run_for([False] * len(arrays), options, *arrays)[0]

    def forward(options, *arrays):
        wanted = flags(x is not None and x.perturbed for x in arrays)
        values = (None if x is None else x.value for x in arrays)
        results, saved = run_for(wanted, options, *values)
        return results, (wanted, saved)

    def backward(options, kept, gradients):
        wanted, saved = kept
        gradients = gradients if isinstance(gradients, tuple) else (gradients,)
        gradients = (None if isinstance(x, SymbolicZero) else x for x in gradients)
        found = described.backward(wanted, options, saved, *gradients)
        return tuple(x if is_wanted else None for x, is_wanted in zip(found, wanted, strict=True))

    function.defvjp(forward, backward, symbolic_zeros=True)
    function.__name__ = described.__name__
    function.__doc__ = described.__doc__

    @functools.wraps(described, updated=())
    def run(options, *arrays):
        arrays = [x if x is None else jnp.asarray(x) for x in arrays]
        axes = axes_of(*(x for x in arrays if x is not None))
        return function(options, *(x if x is None else vary(x, axes) for x in arrays))

    return run


def like(x, dtype=None):
    """What a result of x's sizes is."""
    return None if x is None else jax.ShapeDtypeStruct(x.shape, dtype or x.dtype)


def made(shape, dtype):
    return jax.ShapeDtypeStruct(tuple(shape), dtype)


def if_wanted(x, wanted):
    """A result as `like`, where it is wanted."""
    return like(x) if wanted else None


def or_zeros(gradient, x):
    return jnp.zeros(x.shape, x.dtype) if gradient is None else gradient


def matrix(x):
    """x[..., width] as [rows, width]."""
    if x is None or x.ndim == 2:
        return x
    return x.reshape(math.prod(x.shape[:-1]), x.shape[-1] if x.ndim else 1)
