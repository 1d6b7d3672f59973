# SPDX-License-Identifier: MIT
"""TK in a model that knows nothing of it."""

import collections
import inspect

import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode, resolve_name

from . import functional, values

__all__ = ["replacing"]


HALVES = torch.bfloat16, torch.float16


def is_half(x):
    """Whether x is of 16 bits, or cast to them."""
    return x.dtype in HALVES or torch.is_autocast_enabled(x.device.type)


def need_half(name, x):
    if not is_half(x):
        raise TypeError(f"{name}: {x.dtype} is not of 16 bits")


def linear(input, weight, bias=None):
    need_half("linear", input)
    return functional.linear(input, weight, bias)


def matmul(input, other):
    need_half("matmul", input)
    return functional.matmul(input, other)


def product_of(name, dims):
    def product(input, mat2):
        if input.dim() != dims or mat2.dim() != dims:
            raise ValueError(f"{name}: input and mat2 must have {dims} dimensions")
        return matmul(input, mat2)

    return product


mm, bmm = product_of("mm", 2), product_of("bmm", 3)


def addmm(input, mat1, mat2, *, beta=1, alpha=1):
    need_half("addmm", mat1)
    return functional.addmm(input, mat1, mat2, beta=beta, alpha=alpha)


def baddbmm(input, batch1, batch2, *, beta=1, alpha=1):
    need_half("baddbmm", batch1)
    return functional.baddbmm(input, batch1, batch2, beta=beta, alpha=alpha)


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    if dim is None:
        raise NotImplementedError("softmax: no dim is given")
    return softmax_along(input, dim, dtype)


def softmax_along(input, dim, dtype=None):
    return functional.softmax(input, dim, dtype).contiguous()  # as PyTorch's is


def topk(input, k, dim=-1, largest=True, sorted=True):
    found = values.topk(input, k, dim, largest, sorted)
    return torch.return_types.topk(x.contiguous() for x in found)


def cross_entropy(
    input,
    target,
    weight=None,
    size_average=None,
    ignore_index=-100,
    reduce=None,
    reduction="mean",
    label_smoothing=0.0,
):
    if size_average is not None or reduce is not None:
        raise NotImplementedError("cross_entropy: size_average and reduce are not supported")
    loss = functional.cross_entropy(
        input,
        target,
        weight,
        ignore_index=ignore_index,
        reduction=reduction,
        label_smoothing=label_smoothing,
    )
    return loss if torch.is_autocast_enabled(input.device.type) else loss.to(input.dtype)


def silu(input, inplace=False):
    if inplace:
        raise NotImplementedError("silu: not in place")
    return functional.silu(input)


def rms_norm(input, normalized_shape, weight=None, eps=None):
    return functional.rms_norm(input, normalized_shape, weight, eps)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    return functional.layer_norm(input, normalized_shape, weight, bias, eps)


def scaled_dot_product_attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False
):
    if dropout_p > 0:
        raise NotImplementedError("attention: PyTorch's dropout has random numbers of its own")
    need_half("attention", query)
    return functional.scaled_dot_product_attention(
        query, key, value, attn_mask, 0.0, is_causal, scale, enable_gqa
    )


REPLACED = {
    F.linear: linear,
    torch.matmul: matmul,
    torch.Tensor.matmul: matmul,
    torch.Tensor.__matmul__: matmul,
    torch.mm: mm,
    torch.Tensor.mm: mm,
    torch.bmm: bmm,
    torch.Tensor.bmm: bmm,
    torch.addmm: addmm,
    torch.Tensor.addmm: addmm,
    torch.baddbmm: baddbmm,
    torch.Tensor.baddbmm: baddbmm,
    F.embedding: functional.embedding,
    F.rms_norm: rms_norm,
    F.layer_norm: layer_norm,
    F.silu: silu,
    F.gelu: functional.gelu,
    F.softmax: softmax,
    torch.softmax: softmax_along,
    torch.Tensor.softmax: softmax_along,
    F.cross_entropy: cross_entropy,
    F.scaled_dot_product_attention: scaled_dot_product_attention,
    torch.topk: topk,
    torch.Tensor.topk: topk,
    torch.argmax: values.argmax,
    torch.Tensor.argmax: values.argmax,
}
NAMES = {
    x: resolve_name(x) or str(x)
    for x in (
        *REPLACED,
        *(x for x in vars(F).values() if callable(x) and not inspect.isclass(x)),
        torch.einsum,
        torch.Tensor.__rmatmul__,
    )
}
NAMES[torch.mm] = "torch.mm"  # which has another name, too


class Report:
    """What runs as TK's and what does not; as a string a table."""

    def __init__(self):
        super().__init__()
        self.replaced = collections.Counter()
        """How often, by name."""
        self.kept = collections.Counter()
        """How often not, by (name, reason)."""

    def __str__(self):
        return "\n".join(
            ["by TK:"]
            + [f"{n:6}  {name}" for name, n in sorted(self.replaced.items())]
            + ["by PyTorch:"]
            + [f"{n:6}  {name}: {why}" for (name, why), n in sorted(self.kept.items())]
        )


class replacing(Report, TorchFunctionMode):
    """A context in which PyTorch's functions run as TK's where TK does them, gradients too:

        with tk_ops.torch.replacing() as calls:
            loss = model(x)
        loss.backward()
        print(calls)

    Replaced are linear, embedding, rms_norm, layer_norm, silu, gelu, softmax, cross_entropy and
    scaled_dot_product_attention, of torch.nn.functional and so of torch.nn's modules, matmul (and
    @), mm, bmm, addmm, baddbmm, topk and argmax. Arguments that TK refuses (types, weights of
    classes, dropout of attention, whose random numbers would be others) go to PyTorch, and so does
    whatever is called inside of a function of PyTorch's own, as multi_head_attention_forward.
    torch.compile takes the mode into its graphs, and counts as it traces. backward() is in no mode:
    a checkpoint (torch.utils.checkpoint, use_reentrant=False) that is to compute again what TK
    computed takes context_fn=lambda: (contextlib.nullcontext(), replacing()). The printed table has
    each function of torch.nn.functional and each product that was called: how often TK ran it, how
    often PyTorch did and why.
    """

    def __torch_function__(self, function, types, arguments=(), keywords=None):
        keywords = keywords or {}
        ours = REPLACED.get(function)
        if ours is None:
            if function in NAMES:
                self.kept[NAMES[function], "TK has no such function"] += 1
            return function(*arguments, **keywords)
        name = NAMES[function]
        try:
            result = ours(*arguments, **keywords)
        except (NotImplementedError, TypeError, ValueError) as refusal:
            self.kept[name, str(refusal).split("\n")[0]] += 1
            return function(*arguments, **keywords)
        self.replaced[name] += 1
        return result
