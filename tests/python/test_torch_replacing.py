# SPDX-License-Identifier: MIT
"""tk_ops.torch.replacing: a model's own calls run as TK's, and what TK does not do stays."""

import os

import pytest

torch = pytest.importorskip("torch")
import torch.nn.functional as F  # noqa: E402

import tk_ops.torch as tk  # noqa: E402

torch.set_num_threads(1)
DEVICE, BF16 = os.environ.get("TK_TORCH_DEVICE", "cpu"), torch.bfloat16


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.before = torch.nn.Embedding(50, 64), torch.nn.RMSNorm(64)
        self.heads, self.after = torch.nn.Linear(64, 192), torch.nn.LayerNorm(64)
        self.act, self.out = torch.nn.GELU(), torch.nn.Linear(64, 50)

    def forward(self, ids):
        x = self.embedding(ids)
        q, k, v = self.heads(self.before(x)).view(2, -1, 3, 2, 32).permute(2, 0, 3, 1, 4)
        x = x + F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
        x = x + (x @ x.transpose(1, 2)).softmax(-1) @ self.act(self.after(x))
        return F.cross_entropy(self.out(F.silu(x)).flatten(0, 1).float(), ids.flatten())


def test_replacing():
    """A model's own calls run as TK's; what TK does not do stays, with a reason."""
    torch.manual_seed(0)
    model, ids = Model().to(DEVICE, BF16), torch.randint(0, 50, (2, 17), device=DEVICE)
    model(ids).backward()
    gradients = [x.grad for x in model.parameters()]
    model.zero_grad()
    with tk.replacing() as calls:
        model(ids).backward()
        F.linear(torch.zeros(2, 8, device=DEVICE), torch.zeros(3, 8, device=DEVICE))
        torch.einsum("ij,kj->ik", *[torch.zeros(2, 8, device=DEVICE)] * 2)
    assert dict(calls.replaced) == {
        "torch.Tensor.softmax": 1,
        "torch.Tensor.matmul": 2,
        **{
            f"torch.nn.functional.{name}": 2 if name == "linear" else 1
            for name in (
                "cross_entropy embedding gelu layer_norm linear rms_norm silu"
                " scaled_dot_product_attention"
            ).split()
        },
    }
    assert dict(calls.kept) == {
        ("torch.functional.einsum", "TK has no such function"): 1,
        ("torch.nn.functional.linear", "linear: torch.float32 is not of 16 bits"): 1,
    }
    assert "by PyTorch:\n     1  torch.functional.einsum: TK has no such function" in str(calls)
    for x, y in zip(model.parameters(), gradients, strict=True):
        assert (x.grad - y).norm() <= 0.05 * y.norm()
    want = model(ids)
    with tk.replacing() as calls:
        torch.testing.assert_close(
            torch.compile(model, fullgraph=True, backend="aot_eager")(ids), want, rtol=0.02, atol=0
        )
    assert calls.replaced["torch.nn.functional.linear"] == 2


def test_replacing_products():
    """Each name of a product of matrices, with PyTorch's own broadcasting, beside fp64."""
    torch.manual_seed(1)
    a, b, c, v = (torch.randn(n, device=DEVICE).to(BF16) for n in ((8, 24), (24, 16), (16,), (24,)))
    batch = a.expand(3, 8, 24) * torch.arange(1, 4, device=DEVICE)[:, None, None]
    products = {
        "torch.Tensor.matmul": lambda a, b, c, v, x: a @ b + v @ b,
        "torch.matmul": lambda a, b, c, v, x: torch.matmul(x[:, None], b),
        "torch.mm": lambda a, b, c, v, x: torch.mm(a, mat2=b),
        "torch.bmm": lambda a, b, c, v, x: torch.bmm(x, b.expand(3, 24, 16)),
        "torch.addmm": lambda a, b, c, v, x: torch.addmm(c, a, b, beta=0.5, alpha=2),
        "torch.Tensor.baddbmm": lambda a, b, c, v, x: c.expand(3, 8, 16).baddbmm(x, x.mT @ (a @ b)),
    }
    for name, function in products.items():
        inputs = a, b, c, v, batch
        with tk.replacing() as calls:
            found = function(*inputs).double()
        assert calls.replaced[name] and not calls.kept
        exact = function(*[x.double() for x in inputs])
        assert (found - exact).norm() <= 2**-7 * exact.norm()
