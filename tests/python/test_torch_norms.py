# SPDX-License-Identifier: MIT
"""Dropout and fp8 of tk_ops.torch's norms, against what norm.h says of them in fp64."""

import os

import pytest

torch = pytest.importorskip("torch")
import torch.nn.functional as F  # noqa: E402

import tk_ops.torch as tk  # noqa: E402
from definitions import philox  # noqa: E402

torch.set_num_threads(1)
torch.set_default_device(os.environ.get("TK_TORCH_DEVICE", "cpu"))
BF16, FP16, FP32 = torch.bfloat16, torch.float16, torch.float32
E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2
LARGEST = {E4M3: 448.0, E5M2: 57344.0}
WIDTH = 72


def kept(state, rows, width):
    """The random bytes of rows."""
    seed, offset = (int(x) for x in state)
    key = seed & 0xFFFFFFFF, (seed >> 32) ^ (offset >> 32)
    row, group = torch.meshgrid(torch.arange(rows), torch.arange((width + 15) // 16), indexing="ij")
    words = philox((row, group, 0xFFFFFFFF, offset & 0xFFFFFFFF), key)
    bytes = torch.stack([x >> 8 * i & 255 for x in words for i in range(4)], -1)
    return bytes.flatten(1)[:, :width]


def dropped(x, p, state):
    """The definition of dropout, of x [..., WIDTH]."""
    below = round(256 * p)
    mask = kept(state, x[..., 0].numel(), WIDTH).view(x.shape) >= below
    return x * mask / (1 - below / 256)


NORMS = {
    "rms": (
        lambda x, w, b, **options: tk.rms_norm(x, WIDTH, w, 1e-3, bias=b, **options),
        lambda x, w, b: F.rms_norm(x, (WIDTH,), w, 1e-3) + b,
    ),
    "layer": (
        lambda x, w, b, **options: tk.layer_norm(x, WIDTH, w, b, 1e-3, **options),
        lambda x, w, b: F.layer_norm(x, (WIDTH,), w, b, 1e-3),
    ),
}


def inputs_of(dtype, of_residual):
    torch.manual_seed(3)
    x = torch.randn(3, 5, WIDTH).to(dtype)
    residual = None if of_residual is None else torch.randn(3, 5, WIDTH).to(of_residual)
    return x, residual, *torch.randn(2, WIDTH).to(dtype)


def error_of(got, want, dtype):
    return ((got.double() - want).norm() / want.norm()).item() / torch.finfo(dtype).eps


@pytest.mark.parametrize("name", NORMS)
@pytest.mark.parametrize(
    "dtype, of_residual",
    [(BF16, None), (BF16, BF16), (BF16, FP32), (FP16, FP32), (FP32, None), (FP32, FP32)],
)
def test_dropout(name, dtype, of_residual):
    """Results and gradients under the bytes of the seed that PyTorch's generator gives. r, which
    the gradient is made from, was rounded: twice the error of a result that is rounded once."""
    function, reference = NORMS[name]
    inputs, p = inputs_of(dtype, of_residual), 0.3
    torch.manual_seed(7)
    state = torch.randint(0, 2**62, (2,), dtype=torch.int64)
    torch.manual_seed(7)
    ours = [None if x is None else x.clone().requires_grad_() for x in inputs]
    x, residual, *parameters = ours
    found = function(x, *parameters, residual=residual, dropout_p=p)
    exact = [None if x is None else x.double().requires_grad_() for x in inputs]
    x, residual, *parameters = exact
    r = dropped(x, p, state)
    r = r if residual is None else residual + r
    want = reference(r, *parameters)
    if of_residual is None:
        found, want = (found,), (want,)
    else:
        want = want, r
    gradients = [torch.randn(y.shape).bfloat16().to(y.dtype) for y in found]
    torch.autograd.backward(found, gradients)
    torch.autograd.backward(want, [x.double() for x in gradients])
    assert [y.dtype for y in found] == [dtype, of_residual][: len(found)]
    pairs = [*zip(found, want), *((x.grad, y.grad) for x, y in zip(ours, exact) if x is not None)]
    for got, wanted in pairs:
        assert error_of(got, wanted, dtype) <= (2 if dtype == FP32 else 0.6)
    assert (ours[0].grad == 0).sum() == (kept(state, 15, WIDTH) < round(256 * p)).sum()


def test_the_seed_is_pytorchs():
    """It draws another each time, and the same after the same torch.manual_seed; several dimensions
    are one row; nothing is dropped by a p of less than half a byte's step."""
    x = torch.randn(6, 4, 18)
    torch.manual_seed(1)
    y = tk.rms_norm(x, (4, 18), dropout_p=0.5)
    assert not torch.equal(tk.rms_norm(x, (4, 18), dropout_p=0.5), y)
    torch.manual_seed(1)
    flat = tk.rms_norm(x.flatten(1), 72, dropout_p=0.5)
    assert torch.equal(flat.view(x.shape), y) and abs((y == 0).float().mean() - 0.5) < 0.15
    torch.testing.assert_close(tk.rms_norm(x, 18, dropout_p=1 / 1024), tk.rms_norm(x, 18))


@pytest.mark.parametrize("name", NORMS)
@pytest.mark.parametrize("out_dtype", LARGEST)
@pytest.mark.parametrize("dtype, shape", [(BF16, (3, 5)), (FP16, (4,)), (BF16, ())])
def test_fp8(name, out_dtype, dtype, shape):
    """Scales are those of exact rows but for fp32's rounding, and the norm is within half a step of
    fp8."""
    function, reference = NORMS[name]
    torch.manual_seed(3)
    x, residual = torch.randn(2, *shape, WIDTH).to(dtype)
    parameters = torch.randn(2, WIDTH).to(dtype)
    step = torch.finfo(out_dtype).eps / 2
    for r in None, residual:
        total = x.double() if r is None else x.double() + r.double()
        want = reference(total, *parameters.double())
        rows = want.abs().amax(-1) / LARGEST[out_dtype]
        given = torch.tensor([0.5])
        for options, scale in (
            ({}, rows),
            ({"power_of_two": True}, rows.log2().ceil().exp2()),
            ({"scale": given}, torch.full_like(rows, 0.5)),
        ):
            y, found, *sums = function(x, *parameters, residual=r, out_dtype=out_dtype, **options)
            assert y.dtype == out_dtype and y.shape == x.shape and found.dtype == FP32
            if "scale" in options:
                assert found is given
            else:
                assert found.shape == shape
                torch.testing.assert_close(found.double(), scale, rtol=1e-6, atol=0)
            exact = want / scale[..., None]
            least = torch.finfo(out_dtype).smallest_normal
            error = (y.double() - exact).abs() / exact.abs().clamp(min=least)
            assert error.max() <= step * 1.001
            if r is not None:
                (total,) = sums
                assert total.dtype == dtype and torch.equal(total, x + r)


def test_fp8_of_several_dimensions():
    x = torch.randn(6, 4, 18, dtype=BF16)
    y, scale, r = tk.layer_norm(x, (4, 18), residual=x, out_dtype=E4M3)
    assert y.shape == r.shape == x.shape and scale.shape == (6,)
    flat = tk.layer_norm(x.flatten(1), 72, residual=x.flatten(1), out_dtype=E4M3)
    for got, want in zip((y.view(torch.uint8), scale, r), flat):
        want = want.view(torch.uint8) if want.dtype == E4M3 else want
        assert torch.equal(got, want.view(got.shape))


def copies_in(function):
    """Its results, and how many copies PyTorch made."""
    with torch.profiler.profile() as profile:
        found = function()
    names = [event.name for event in profile.events()]
    return found, sum(x in ("aten::clone", "aten::copy_", "aten::contiguous") for x in names)


PARTS = {
    "of a packed projection": lambda x: x[:, :, 1],  # [b, n, 3, heads, d]
    "heads before tokens": lambda x: x[:, :, 1].transpose(1, 2),
    "three dimensions": lambda x: x[0, :, 1],
    "five dimensions": lambda x: x[:, :, 1, None],
    "one for all": lambda x: x[:1, :, 1].expand(2, -1, -1, -1),
}


@pytest.mark.parametrize("of", PARTS.values(), ids=PARTS)
def test_parts_are_read_where_they_lie(of):
    """Nothing is copied, and the bits are those of copies; so are those of gradients."""
    torch.manual_seed(6)
    x, residual, dy = (of(torch.randn(2, 7, 3, 4, WIDTH, dtype=BF16)) for _ in range(3))
    w, b = torch.randn(2, WIDTH, dtype=BF16)
    state = torch.tensor([5, 6])

    def gradients(x, residual, dy):
        x.requires_grad_(), residual.requires_grad_()
        y = tk.layer_norm(x, WIDTH, w, b)
        z, r = tk.rms_norm(x, WIDTH, w, residual=residual)
        return *torch.autograd.grad(y, x, dy), *torch.autograd.grad((z, r), (x, residual), (dy, dy))

    def results(x, residual, dy):
        dropped = torch.ops.tk_ops.add_norm.default(x, residual, w, b, state, 1, 1e-3, 0.25)
        y, scale, r = tk.rms_norm(x, WIDTH, w, residual=residual, out_dtype=E4M3)
        z, _ = tk.layer_norm(x, WIDTH, w, out_dtype=E4M3, scale=torch.ones(1))
        fp8 = y.view(torch.uint8), scale, r, z.view(torch.uint8)
        return tk.rms_norm(x, WIDTH), *tk.layer_norm(x, WIDTH, residual=residual), *dropped, *fp8

    for function in results, gradients:
        found, copies = copies_in(lambda: function(x, residual, dy))
        copied = (t.detach().clone(memory_format=torch.contiguous_format) for t in (x, residual, dy))
        for got, want in zip(found, function(*copied), strict=True):
            assert got.is_contiguous() and torch.equal(got, want)
        assert copies == 0
    assert copies_in(lambda: tk.rms_norm(x.detach().mT, x.size(-2)))[1] > 0


def test_compiles_into_one_graph():
    """Scales, and what is dropped by a seed, are the same in it."""
    x, w = torch.randn(3, 5, WIDTH, dtype=BF16), torch.randn(WIDTH, dtype=BF16)

    def quantised(x, w):
        y, scale, r = tk.rms_norm(x, WIDTH, w, residual=x, out_dtype=E4M3)
        return y.view(torch.uint8), scale, r

    def dropout(x, w):
        return tk.layer_norm(x, WIDTH, w, residual=x, dropout_p=0.5)

    for function in quantised, dropout:
        torch._dynamo.reset()
        compiled = torch.compile(function, fullgraph=True, backend="aot_eager")
        found = []
        for this in function, compiled:
            torch.manual_seed(2)
            found.append(this(x, w))
        for got, want in zip(*found, strict=True):
            assert torch.equal(got, want)


@pytest.mark.parametrize("of_residual", [None, FP32])
def test_opcheck_of_dropout(of_residual):
    x, residual, w, b = inputs_of(BF16, of_residual)
    state = torch.tensor([5, 6])
    tensors = [None if y is None else y.requires_grad_() for y in (x, residual, w, b)]
    torch.library.opcheck(torch.ops.tk_ops.add_norm.default, (*tensors, state, 1, 1e-3, 0.25))
    r, dy = torch.randn(2, 3, 5, WIDTH)
    r = r if of_residual else r.to(BF16)
    arguments = r, dy.to(BF16), None, w.detach(), b.detach(), state, 1, 1e-3, 0.25, True, True, True
    torch.library.opcheck(torch.ops.tk_ops.norm_backward.default, arguments)


@pytest.mark.parametrize(
    "error, sentence, options",
    [
        (ValueError, "tk_norm: dropout", {"dropout_p": 1.5}),
        (ValueError, "tk_norm: dropout", {"dropout_p": -0.5}),
        (ValueError, "need out_dtype", {"scale": torch.ones(1)}),
        (ValueError, "need out_dtype", {"power_of_two": True}),
        (NotImplementedError, "does not go with", {"dropout_p": 0.5, "out_dtype": E4M3}),
        (TypeError, "tk_norm: ", {"out_dtype": FP32}),
        (ValueError, "tk_norm: y_scale", {"out_dtype": E4M3, "scale": torch.ones(2)}),
        (TypeError, "tk_norm: ", {"out_dtype": E4M3, "residual": torch.zeros(2, WIDTH)}),
        (ValueError, "residual must", {"residual": torch.zeros(WIDTH), "dropout_p": 0.5}),
    ],
)
def test_refusals(error, sentence, options):
    x = torch.zeros(2, WIDTH, dtype=BF16)
    with pytest.raises(error, match=sentence):
        tk.rms_norm(x, WIDTH, **options)


def test_fp8_has_no_gradient():
    x = torch.zeros(2, WIDTH, dtype=BF16, requires_grad=True)
    _, scale = tk.rms_norm(x, WIDTH, out_dtype=E4M3)
    with pytest.raises(NotImplementedError, match="no derivative of it"):
        scale.sum().backward()
