# SPDX-License-Identifier: MIT
"""tk_ops.torch under torch.compile as its users call it: by inductor, whose code lies around TK's
ops and chooses the memory of what goes into them; sizes that change; models of transformers."""

import copy
import os
import shutil

import pytest

torch = pytest.importorskip("torch")
import torch.nn.functional as F  # noqa: E402

import tk_ops.torch as tk  # noqa: E402
import torch._dynamo.testing  # noqa: E402
from test_torch import LAYOUTS, many  # noqa: E402
from torch_functions import CASES, laid  # noqa: E402

DEVICE = os.environ.get("TK_TORCH_DEVICE", "cpu")
BF16, FP32 = torch.bfloat16, torch.float32
pytestmark = pytest.mark.skipif(
    DEVICE == "cpu" and not shutil.which("g++"), reason="inductor wants a C++ compiler"
)
OPS = (
    "linear matmul_broadcast addmm rms_norm_residual layer_norm softmax cross_entropy embedding topk"
    " transpose geglu sdpa_bias linear_cross_entropy"
).split()


@pytest.fixture(autouse=True)
def fresh():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    torch._dynamo.reset()


@pytest.mark.parametrize("layout", LAYOUTS[:2])
def test_ops_in_one_graph(layout):
    """Forward and backward have the bits that they have without a compiler; but on a GPU losses,
    whose mean over rows is then inductor's."""
    cases = [CASES[name] for name in OPS]

    def function(inputs):
        return [list(many(this.function(*x))) for this, x in zip(cases, inputs, strict=True)]

    def step(function):
        """Of each op the results, and the gradients of what wants one."""
        inputs = [
            [x if x is None else x.detach() for x in this.make("bfloat16", layout)]
            for this in cases
        ]
        leaves = [
            [x[i].requires_grad_() for i in this.wanted]
            for this, x in zip(cases, inputs, strict=True)
        ]
        results = function(inputs)
        torch.manual_seed(5)
        gradients = [laid(torch.randn_like(y), layout) for of_op in results for y in of_op]
        found = iter(torch.autograd.grad(sum(results, []), sum(leaves, []), gradients))
        return [[*y, *(next(found) for _ in x)] for y, x in zip(results, leaves, strict=True)]

    plain = step(function)
    compiled = step(torch.compile(function, fullgraph=True))
    for name, of_op, expected in zip(OPS, compiled, plain, strict=True):
        for x, y in zip(of_op, expected, strict=True):
            if DEVICE != "cpu" and "cross_entropy" in name:
                torch.testing.assert_close(x, y)
            else:
                assert torch.equal(x, y), name


class Block(torch.nn.Module):
    """Attention and a gated unit, with PyTorch's own arithmetic between TK's ops."""

    def __init__(self, nn, width=64, heads=2):
        super().__init__()
        self.nn, self.heads = nn, heads
        self.before, self.after = nn.RMSNorm(width), nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(width, width)

    def forward(self, x):
        attention = SDPA if self.nn is tk else F.scaled_dot_product_attention
        b, n, _ = x.shape
        q, k, v = self.qkv(self.before(x)).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        x = x + attention(q * 0.5, k, v.sin(), is_causal=True).transpose(1, 2).flatten(2)
        gate, up = self.up(self.after(x) + 1).chunk(2, -1)
        gated = tk.swiglu(gate, up) if self.nn is tk else F.silu(gate) * up
        return x + self.down(gated.transpose(1, 2).contiguous().transpose(1, 2))


SDPA = tk.scaled_dot_product_attention


def models(**options):
    """TK's block, and PyTorch's in fp64 with the same weights."""
    ours, exact = Block(tk, **options).to(DEVICE, BF16), Block(torch.nn, **options).to(DEVICE)
    exact.load_state_dict(ours.state_dict())
    return ours, exact.double()


def distance(x, exact):
    return ((x.double() - exact).norm() / exact.norm()).item()


def step(function, model, x):
    """The result, and the gradients of its squares."""
    model.zero_grad()
    x = x.detach().requires_grad_()
    y = function(x)
    y.double().square().sum().backward()
    return [y.detach(), x.grad, *(p.grad for p in model.parameters())]


def test_training():
    """A compiled step is as near fp64 as one that is not."""
    ours, exact = models()
    x = torch.randn(2, 33, 64, device=DEVICE).to(BF16)
    want = step(exact, exact, x.double())
    plain = [distance(*pair) for pair in zip(step(ours, ours, x), want, strict=True)]
    compiled = torch.compile(ours, fullgraph=True)
    found = [distance(*pair) for pair in zip(step(compiled, ours, x), want, strict=True)]
    for x, y in zip(found, plain, strict=True):
        assert x <= 1.3 * y + 1e-3 and y < 0.03


def test_dynamic():
    """Sizes that change are the same graph."""
    ours, exact = models()
    count = torch._dynamo.testing.CompileCounterWithBackend("inductor")
    compiled = torch.compile(ours, fullgraph=True, dynamic=True, backend=count)
    counted = []
    for b, n in (2, 33), (3, 70), (2, 129):
        x = torch.randn(b, n, 64, device=DEVICE).to(BF16)
        want = step(exact, exact, x.double())
        for y, z in zip(step(compiled, ours, x), want, strict=True):
            assert distance(y, z) < 0.03
        counted.append(count.frame_count)
    assert counted[0] == counted[-1] > 0


@pytest.mark.parametrize("kind", ("Llama", "Mamba2"))
def test_transformers(kind):
    """A model whose layers are TK's is one graph."""
    transformers = pytest.importorskip("transformers")
    import tk_ops.transformers

    tk_ops.transformers.register()
    torch.manual_seed(0)
    if kind == "Llama":
        config = transformers.LlamaConfig(
            vocab_size=97,
            hidden_size=64,
            intermediate_size=96,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
        )
    else:
        config = transformers.Mamba2Config(
            vocab_size=97, hidden_size=64, num_hidden_layers=2, num_heads=4, head_dim=32,
            state_size=16, n_groups=1,
        )
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=BF16).to(DEVICE).eval()
    ours, exact = copy.deepcopy(model), copy.deepcopy(model).double()
    tk_ops.transformers.replace(ours)
    if kind == "Llama":
        ours.set_attn_implementation("tk")
    ids = torch.randint(1, 97, (2, 21), device=DEVICE)
    compiled = torch.compile(ours, fullgraph=True)
    want = exact(ids, use_cache=False).logits
    found = compiled(ids, use_cache=False).logits
    assert distance(found, want) <= 1.5 * distance(model(ids, use_cache=False).logits, want) < 0.05
