# SPDX-License-Identifier: MIT
"""Rollout equals training: with repeat("row") a token's log-probability in a small model of the
Llama kind (examples/python/models.py), all of whose sums over rows are TK's, has the same bits in
every forward pass that sees the same tokens before it.

What is outside of the promise: sequences padded at their left, or masked by a bias, whose keys lie
in other places and whose scores are sums (a causal mask and padding at the right are inside it);
scans (linear_attention, mamba2, based, hedgehog) whose state is handed on elsewhere than between
two chunks of 64 tokens; rows of other alignments to 16 bytes; other types, chips and versions; and
gradients that sum over rows, as those of weights.
"""

import os
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
import torch.nn.functional as F  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

sys.path.insert(0, str(Path(__file__).parents[2] / "examples/python"))
import shared_cases  # noqa: E402
import tk_ops.torch as tk  # noqa: E402
from mixers import Based, Hyena, Mamba2  # noqa: E402
from models import Cache, Decoder, llama, side_by_side  # noqa: E402

torch.set_num_threads(1)
DEVICE = os.environ.get("TK_TORCH_DEVICE", "cpu")
torch.set_default_device(DEVICE)
COUNT, LONGEST = 5, 150
LENGTHS = [3, 77, 150, 1, 130]  # a sequence of one token, and ends within tiles and on none


class tk_but_linear:
    """TK's ops but for one, which sums in an order that the number of rows decides."""

    def __getattr__(self, name):
        return getattr(tk, name)

    def linear(self, x, weight):
        cut = 1 + x[..., 0].numel() % (x.shape[-1] - 1)
        parts = (slice(cut), slice(cut, None))
        return sum(F.linear(x[..., p].float(), weight[:, p].float()) for p in parts).to(x.dtype)


def model_of(ops):
    torch.manual_seed(0)
    return llama(ops, width=128, longest=256).bfloat16()


@pytest.fixture(scope="module", autouse=True)
def repeat_row():
    with tk.repeat("row"):
        yield


@pytest.fixture(scope="module")
def ids():
    torch.manual_seed(1)
    return torch.randint(0, 256, (COUNT, LONGEST + 1))


def of(model, ids, *place):
    return model.log_probabilities(ids[..., :-1], ids[..., 1:], *place)


def one_by_one(model, ids):
    """Batches of one."""
    with torch.inference_mode():
        return [of(model, x[None])[0] for x in ids]


@pytest.fixture(scope="module")
def model():
    return model_of(tk)


@pytest.fixture(scope="module")
def alone(model, ids):
    return one_by_one(model, ids)


def test_log_probabilities(model, ids, alone):
    """They are what PyTorch's fp32 makes of the same weights, but for rounding."""
    import eager

    exact = model_of(eager).float()
    with torch.inference_mode():
        for x, y in zip(one_by_one(exact, ids), alone):
            assert y.dtype == torch.float32 and (x - y).abs().mean() < 0.05 * x.std()


def test_any_batch(model, ids, alone):
    """In training's pass, with gradients to come, in any place, in any company."""
    for order in [[0, 1, 2, 3, 4], [3, 1], [2, 2, 2], [4, 0, 3, 1, 2, 0, 4]]:
        for x, i in zip(of(model, ids[order]), order):
            assert torch.equal(x, alone[i])


def test_any_length(model, ids, alone):
    """Cut short, or padded behind, where a causal mask hides what is there."""
    with torch.inference_mode():
        for n in 1, 63, 64, 100:
            for x, y in zip(of(model, ids[:, : n + 1]), alone):
                assert torch.equal(x, y[:n])
        longer = torch.cat((ids, torch.randint(0, 256, (COUNT, 90))), 1)
        for x, y in zip(of(model, longer), alone):
            assert torch.equal(x[:LONGEST], y)


def packed(ids, begins, counts):
    """The tokens begins[i] to begins[i] + counts[i] of sequence i, and what follows each."""
    ids = [x[a : a + n + 1] for x, a, n in zip(ids, begins, counts)]
    return torch.cat([x[:-1] for x in ids]), torch.cat([x[1:] for x in ids])


def test_packed(model, ids, alone):
    got = model.log_probabilities(*packed(ids, [0] * COUNT, LENGTHS), side_by_side(LENGTHS))
    for x, y, n in zip(got.split(LENGTHS), alone, LENGTHS):
        assert torch.equal(x, y[:n])


def decoded(model, ids, steps):
    """Of each sequence the log-probabilities of tokens that come in these steps into a cache."""
    cache, found = Cache(model, COUNT, 192), [[] for _ in range(COUNT)]
    with torch.inference_mode():
        for counts in steps:
            tokens = packed(ids, cache.lengths, counts)
            got = model.log_probabilities(*tokens, cache.next(counts))
            for x, y in zip(found, got.split(counts)):
                x.append(y)
    return [torch.cat(x) for x in found]


STEPS = [[3, 50, 100, 1, 20], *[[1] * COUNT] * 12, [0, 40, 3, 1, 64], *[[1, 0, 1, 0, 1]] * 3]


def test_cached_decoding(model, ids, alone):
    """Prompts of all lengths, tokens one by one, and several at once, as a draft's."""
    for x, y in zip(decoded(model, ids, STEPS), alone):
        assert torch.equal(x, y[: len(x)])


MIXERS = {
    "mamba2": lambda ops, _, width: Mamba2(ops, width),
    "based": lambda ops, _, width: Based(ops, width, 4),
    "hyena": lambda ops, _, width: Hyena(ops, width, 256),
}


@pytest.mark.parametrize("name", MIXERS)
def test_other_mixers(name, ids):
    """In any batch; and scans of whole chunks, whatever comes after them."""
    torch.manual_seed(0)
    model = Decoder(tk, MIXERS[name])
    with torch.autocast(DEVICE, dtype=torch.bfloat16):
        alone = one_by_one(model, ids)
        for order in [[0, 1, 2, 3, 4], [3, 1], [2, 2, 2]]:
            for x, i in zip(of(model, ids[order]), order):
                assert torch.equal(x, alone[i])
        for n in () if name == "hyena" else (64, 128):
            for x, y in zip(of(model, ids[:, : n + 1]), alone):
                assert torch.equal(x, y[:n])


@pytest.mark.parametrize("name", shared_cases.ONE_TOKEN)
def test_one_token_of_packed_sequences(name):
    """A scan of it is no step of decoding, which would have bits of its own."""
    function, *inputs = shared_cases.ONE_TOKEN[name]
    *inputs, starts = (torch.as_tensor(x, device=DEVICE) for x in inputs)
    inputs = [x if x.dtype == torch.float32 else x.bfloat16() for x in inputs]
    packed = function(tk, *(x[:, 0] if x.dim() > 1 else x for x in inputs), cu_seqlens=starts)
    assert torch.equal(function(tk, *inputs)[:, 0], packed)
    with tk.repeat("run"):
        assert not torch.equal(function(tk, *inputs)[:, 0], packed)


def test_compiled(ids, alone):
    torch._dynamo.reset()
    model = model_of(tk)
    model.forward = torch.compile(model.forward, fullgraph=True, backend="aot_eager")
    with torch.no_grad():
        for x, y in zip(of(model, ids[:2]), alone):
            assert torch.equal(x, y)


@pytest.mark.parametrize("name", ("Llama", "Qwen3"))
def test_models_of_transformers(name, ids):
    """With all their layers TK's: logits alone, in a batch, of a part, and decoded with a cache."""
    transformers = pytest.importorskip("transformers")
    import tk_ops.transformers

    tk_ops.transformers.register()
    torch.manual_seed(0)
    config = getattr(transformers, f"{name}Config")(
        vocab_size=256,
        hidden_size=128,
        intermediate_size=160,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=32,
    )
    model = transformers.AutoModelForCausalLM.from_config(
        config, dtype=torch.bfloat16, attn_implementation="tk"
    )
    assert not tk_ops.transformers.replace(model.eval()).kept
    cache, steps = transformers.DynamicCache(config=config), []
    with torch.inference_mode():
        whole = model(ids).logits
        assert torch.equal(torch.cat([model(x[None]).logits for x in ids]), whole)
        assert torch.equal(model(ids[:, :70]).logits, whole[:, :70])
        for a, b in (0, 100), *((i, i + 1) for i in range(100, 130)):
            steps.append(model(ids[:, a:b], None, None, cache).logits)  # whatever its name
        assert torch.equal(torch.cat(steps, 1), whole[:, :130])


def test_gradients(model, ids):
    """Of what a token's row was made from: a linear layer's rows do not know each other."""
    x, w = torch.randn(40, 512).bfloat16(), torch.randn(64, 512).bfloat16()
    dy, found = torch.randn(40, 64).bfloat16(), []
    for rows in slice(0, 40), slice(0, 1), slice(13, 20):
        row = x[rows].clone().requires_grad_()
        tk.linear(row, w).backward(dy[rows])
        found.append(row.grad)
    assert torch.equal(found[1], found[0][:1]) and torch.equal(found[2], found[0][13:20])


def test_another_product_is_found(ids):
    """The same with products in the place of TK's whose sums are cut by the number of rows is not
    equal: these tests can fail."""
    model = model_of(tk_but_linear())
    alone = one_by_one(model, ids)
    got = decoded(model, ids, STEPS)
    assert not all(torch.equal(x, y[: len(x)]) for x, y in zip(got, alone))


class recorder(TorchDispatchMode):
    """Keeps what ops that cut sums are asked to repeat."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        for x, value in zip(op._schema.arguments, args):
            if x.name == "repeat":
                self.calls.append((op._opname, value))
        return op(*args, **(kwargs or {}))


def test_repeat():
    """It reaches every op whose bits it decides, and gradients from the forward; it ends."""
    x, w = torch.randn(2, 16).bfloat16(), torch.randn(8, 16).bfloat16()
    ids, expected = torch.tensor([3, 0]), [("linear", 1), ("linear_cross_entropy", 1)]
    x.requires_grad_(), w.requires_grad_()
    with recorder() as seen:
        y = tk.linear(x, w)
        loss = tk.linear_cross_entropy(x, w, ids)
        with tk.repeat("run"):
            tk.linear(x, w)
            tk.linear_cross_entropy(x, w, ids)
            (y.sum() + loss).backward()
        with pytest.raises(ValueError, match="must be run or row, not batch"):
            tk.repeat("batch")
        tk.linear(x, w)
    plain = [(name, 0) for name, _ in expected]
    assert seen.calls[:4] == expected + plain and seen.calls[-1] == ("linear", 1)
    assert seen.calls[4:-1] == [("gemm", 1), ("gemm", 0)]  # rows of dx, and dweight


def test_repeat_compiled():
    """A graph is made anew for what is asked."""
    x, w, asked = torch.randn(2, 16).bfloat16(), torch.randn(8, 16).bfloat16(), []

    def backend(graph, _):
        asked.extend(x.args[-1] for x in graph.graph.nodes if "tk_ops" in str(x.target))
        return graph.forward

    torch._dynamo.reset()
    compiled = torch.compile(lambda x, w: tk.linear(x, w), fullgraph=True, backend=backend)
    compiled(x, w)
    with tk.repeat("run"):
        compiled(x, w)
    compiled(x, w)
    assert asked == [1, 0]
