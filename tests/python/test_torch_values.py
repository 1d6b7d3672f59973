# SPDX-License-Identifier: MIT
"""topk, argmax and quantise of tk_ops.torch: what test_torch.py does not see of them."""

import os

import pytest

torch = pytest.importorskip("torch")

import tk_ops.torch as tk  # noqa: E402

torch.set_num_threads(1)
DEVICE = os.environ.get("TK_TORCH_DEVICE", "cpu")
torch.set_default_device(DEVICE)
BF16, FP16, FP32 = torch.bfloat16, torch.float16, torch.float32
E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2
LARGEST = {E4M3: 448.0, E5M2: 57344.0}


@pytest.mark.parametrize("dtype", [BF16, FP16, FP32])
@pytest.mark.parametrize("shape", [(9,), (5, 9), (3, 5, 9), (2, 3, 2, 2, 9)])
def test_argmax(shape, dtype):
    torch.manual_seed(1)
    x = torch.randint(-3, 4, shape).to(dtype)  # many are equal: the first one counts
    x.view(-1, 9)[-1, 4:6] = torch.nan
    for dim in (*range(-x.dim(), x.dim()), None):
        for keepdim in False, True:
            assert torch.equal(tk.argmax(x, dim, keepdim), torch.argmax(x, dim, keepdim))


def test_topk():
    x = torch.tensor([3, 1, 4, 1, 5, torch.nan, 5, -torch.inf], dtype=BF16)
    best = tk.topk(x, 4)
    assert isinstance(best, torch.return_types.topk)
    assert best.indices.tolist() == [5, 4, 6, 2] and best.values[1:].tolist() == [5, 5, 4]
    assert tk.topk(x, 3, largest=False).indices.tolist() == [7, 1, 3]
    assert tk.topk(x, 0).values.shape == (0,)
    many = torch.randn(40, 3000)
    assert torch.equal(tk.topk(many, 1024).values, torch.topk(many, 1024).values)
    x = torch.randn(2, 6, requires_grad=True)
    g = torch.randn(2, 2, requires_grad=True)  # the gradient is linear in g: it has one, too
    (first,) = torch.autograd.grad(tk.topk(x, 2)[0], x, g, create_graph=True)
    (second,) = torch.autograd.grad(first, g, torch.ones_like(first))
    assert torch.equal(second, torch.ones_like(g))


def scales(x, block, largest, power_of_two):
    """What the header of quantise says, of x [..., m, n]; and x in blocks that a scale fits."""
    *_, m, n = x.shape
    rows, columns = {
        "row": (1, n),
        "1x128": (1, 128),
        "128x128": (128, 128),
        "tensor": (m, n),
    }[block]
    padded = torch.nn.functional.pad(x.float(), (0, -n % columns, 0, -m % rows))
    blocks = padded.unflatten(-1, (-1, columns)).unflatten(-3, (-1, rows)).transpose(-3, -2)
    scale = blocks.abs().amax((-2, -1)).clamp(min=2.0**-80) / largest
    if block == "tensor":
        scale = scale.amax()
    scale = scale.log2().ceil().exp2() if power_of_two else scale
    return scale.squeeze(-1) if block == "row" else scale


@pytest.mark.parametrize("dtype", [E4M3, E5M2])
@pytest.mark.parametrize("block", ["row", "1x128", "128x128", "tensor"])
@pytest.mark.parametrize("shape", [(150, 200), (2, 3, 20, 200), (2, 1, 2, 2, 5, 7)])
def test_quantise(shape, block, dtype):
    torch.manual_seed(1)
    x = torch.randn(shape, dtype=BF16) * 5
    for power_of_two in False, True:
        y, scale = tk.quantise(x, dtype, block=block, power_of_two=power_of_two)
        assert y.dtype == dtype and y.shape == x.shape
        want = scales(x, block, LARGEST[dtype], power_of_two)
        assert scale.shape == want.shape and torch.allclose(scale, want)
        if block in ("128x128", "1x128"):
            want = want.repeat_interleave(128, -1)[..., : shape[-1]]
        if block == "128x128":
            want = want.repeat_interleave(128, -2)[..., : shape[-2], :]
        want = want[..., None] if block == "row" else want
        error = (y.float() * want - x.float()).abs()
        step = torch.finfo(dtype).eps
        assert (error <= step / 2 * x.float().abs() + 2**-9 * want).all()
    given = torch.tensor([0.25])
    y, back = tk.quantise(x.mT, dtype, scale=given)
    assert back is given and torch.equal(y.float(), (x.mT.float() * 4).to(dtype).float())


def test_quantise_compiles():
    x = torch.randn(4, 256)
    function = torch.compile(
        lambda x: tk.quantise(x, block="1x128"), fullgraph=True, backend="aot_eager"
    )
    for a, b in zip(function(x), tk.quantise(x, block="1x128")):
        assert torch.equal(a.float(), b.float())


def test_replacing():
    x, whole = torch.randn(4, 9), torch.arange(6)
    with tk.replacing() as calls:
        assert torch.equal(x.topk(3).indices, tk.topk(x, 3).indices)
        torch.topk(x, 3, dim=0), x.argmax(-1), torch.argmax(x), torch.argmax(whole), whole.topk(2)
    assert dict(calls.replaced) == {
        "torch.Tensor.topk": 1,
        "torch.topk": 1,
        "torch.Tensor.argmax": 1,
        "torch.argmax": 1,
    }
    assert [name for name, _ in calls.kept] == ["torch.argmax", "torch.Tensor.topk"]


@pytest.mark.parametrize(
    "error, sentence, call",
    [
        (ValueError, "must have a dimension", lambda: tk.topk(torch.zeros(()), 1)),
        (ValueError, "tk_topk: ", lambda: tk.topk(torch.zeros(3, 4), 5)),
        (NotImplementedError, "1024", lambda: tk.topk(torch.zeros(3, 3000), 1025)),
        (TypeError, "tk_topk: ", lambda: tk.topk(torch.zeros(3, 4, dtype=torch.int32), 1)),
        (ValueError, "tk_topk: ", lambda: tk.argmax(torch.zeros(3, 0), 1)),
        (ValueError, "do not fit", lambda: tk.add(torch.zeros(3, 4), torch.zeros(5, 4))),
        (
            TypeError,
            "none is fp32",
            lambda: tk.add(torch.zeros(3, dtype=BF16), torch.zeros(3, dtype=FP16)),
        ),
        (ValueError, "two dimensions", lambda: tk.transpose(torch.zeros(4))),
        (NotImplementedError, "not the last two", lambda: tk.transpose(torch.zeros(2, 3, 4), 0, 1)),
        (ValueError, "block must be one of", lambda: tk.quantise(torch.zeros(3, 4), block="2x2")),
        (TypeError, "tk_quantise: ", lambda: tk.quantise(torch.zeros(3, 4), BF16)),
        (
            NotImplementedError,
            "tk_ops::quantise: there is no derivative",
            lambda: tk.quantise(torch.zeros(3, 4, requires_grad=True))[1].sum().backward(),
        ),
    ],
)
def test_refusals(error, sentence, call):
    with pytest.raises(error, match=sentence):
        call()
