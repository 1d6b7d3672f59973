# SPDX-License-Identifier: MIT
"""No option of the C interface is forgotten: of each op and each field of its problem, a function of
tk_ops.torch gives it something else than 0 or NULL in one of these calls, or it stands in MISSING
with a reason."""

import pytest

torch = pytest.importorskip("torch")

import tk_ops.torch as tk  # noqa: E402
from test_torch import WITHOUT_GRADIENT, run  # noqa: E402
from tk_ops import _binding  # noqa: E402
from tk_ops.torch import _library  # noqa: E402
from torch_functions import CASES, laid  # noqa: E402

BF16, E4M3 = torch.bfloat16, torch.float8_e4m3fn

SAME_BITS = "the op's results are the same for both kinds"
RUN = "the bits of gradients are the same for both kinds"
STATE = "random_state, which PyTorch's generator draws, is read in its place"
APART = "autograd takes the gradient from cross_entropy_backward"
MISSING = {
    **{
        (op, "repeat"): SAME_BITS
        for op in (
            "attention_forward norm softmax activation cross_entropy rotary embedding add transpose"
            " quantise topk conv1d fft_conv"
        ).split()
    },
    **{
        (f"{op}_backward", "repeat"): RUN
        for op in (
            "attention norm softmax activation cross_entropy embedding linear_attention conv1d"
            " mamba2 fft_conv hedgehog based"
        ).split()
    },
    **{
        (op, field): STATE
        for op in ("attention_forward", "attention_backward", "norm", "norm_backward")
        for field in ("seed", "offset")
    },
    ("cross_entropy", "dx"): APART,
    ("cross_entropy", "dloss_scale"): APART,
    ("linear_cross_entropy", "lse"): "the sum of all losses is what comes back, not what rows have",
    ("linear_cross_entropy", "chunk_rows"): "0 chooses it; another changes the speed alone",
    ("gemm", "activation"): "its gradient needs what it is of, which then is not written",
}


def heads(n, h, d):
    return torch.randn(n, h, d, dtype=BF16, requires_grad=True)


def total(results):
    """The sum of all floating-point results that have a gradient."""
    for x in results if isinstance(results, tuple) else (results,):
        if isinstance(x, tuple):
            yield from total(x)
        elif x is not None and x.requires_grad:
            yield x.float().sum()


def packed_and_dropped():
    """Options of attention that no case has."""
    q, starts = heads(20, 2, 16), torch.tensor([0, 8, 20], dtype=torch.int32)
    bounds = {"max_seqlen_q": 12, "max_seqlen_k": 12}
    options = {"window": (4, 3), "dropout_p": 0.5, **bounds}
    return tk.attention(q, q, q, cu_seqlens_q=starts, cu_seqlens_k=starts, **options)


def normed():
    x = torch.randn(3, 20, dtype=BF16, requires_grad=True)
    return tk.rms_norm(x, 20, bias=torch.zeros(20), dropout_p=0.5)


def quantised_norm():
    tk.rms_norm(torch.randn(3, 20, dtype=BF16), 20, out_dtype=E4M3, power_of_two=True)
    tk.rms_norm(torch.randn(3, 20, dtype=BF16), 20, out_dtype=E4M3, scale=torch.ones(1))
    tk.quantise(torch.randn(3, 20), power_of_two=True)
    return ()


def losses():
    x, w = torch.randn(6, 16, dtype=BF16, requires_grad=True), torch.randn(9, 16, dtype=BF16)
    options = {"label_smoothing": 0.1, "z_loss": 0.1, "softcap": 3.0}
    target = torch.arange(6)
    with tk.repeat("row"):
        product = tk.linear_cross_entropy(x, w, target, **options)
        return product, tk.cross_entropy(tk.linear(x, w), target, **options)


def turned():
    x, table = heads(9, 2, 16), torch.randn(12, 8)
    return tk.rotary(x, None, table, table, offsets=torch.ones(1, dtype=torch.int64), inverse=True)


def scans():
    """Packed sequences, and states of each."""
    starts = torch.tensor([0, 8, 20], dtype=torch.int32)
    x, g = heads(20, 2, 16), torch.rand(20, 2)
    maps = (torch.randn(2, 128, 64) / 11).to(BF16), torch.ones(2)
    wide, packed = heads(20, 2, 128), {"cu_seqlens": starts}
    lengths = {"lengths": torch.tensor([12], dtype=torch.int32)}
    with tk.repeat("row"):
        results = (
            tk.linear_attention(x, x, x, return_final_state=True, **packed),
            tk.mamba2(x, g, -g[0], x, x, return_final_states=True, **packed),
            tk.based(x, x, x, return_final_states=True, **packed),
            tk.causal_conv1d(x.flatten(1), torch.ones(32, 4), **packed),
            tk.hedgehog(
                *[wide] * 3,
                *[maps[0]] * 2,
                *[maps[1]] * 2,
                cu_seqlens_q=starts,
                cu_seqlens_k=starts,
                return_final_states=True,
            ),
            tk.hedgehog(*[wide[None]] * 3, *[maps[0]] * 2, *[maps[1]] * 2, **lengths),
        )
    return results


def circular():
    u = torch.randn(4, 600, dtype=BF16, requires_grad=True)
    k = torch.randn(4, 300)
    return tk.fft_conv(u, k, circular=True, filter=tk.fft_filter(k, u, True))


CALLS = packed_and_dropped, normed, quantised_norm, losses, turned, scans, circular


@pytest.fixture(scope="module")
def given():
    """Of each op the fields that were given something."""
    found, launch = {name: set() for name in _binding.ops}, _binding.launch
    by_place = {place: (name, fields) for name, (place, fields) in _binding.ops.items()}

    def noted(call, workspace, *values):
        place, _, *fields = call
        name, names = by_place[place]
        found[name] |= {
            names[i]
            for i, x in zip(fields, values, strict=True)
            if isinstance(x, torch.Tensor) or (x is not None and x != 0)
        }
        return launch(call, workspace, *values)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(_library, "launch_call", noted)
        patched.setattr(_binding, "launch", noted)
        for this in CASES.values():
            for layout in "plain", "permuted":
                run(this, this.function, this.make("bfloat16", layout), layout)
        for call in WITHOUT_GRADIENT.values():
            call(laid(torch.randn(3, 20).bfloat16(), "permuted"))
        for call in CALLS:
            for x in total(call()):
                x.backward(retain_graph=True)
    return found


@pytest.mark.parametrize("op", _binding.ops)
def test_every_field(op, given):
    _, fields = _binding.ops[op]
    missing = {field for of, field in MISSING if of == op}
    assert missing <= {*fields}, "the interface has no such field"
    assert not given[op] & missing, "it is given: its reason is none"
    assert {*fields} - given[op] == missing, "no function of tk_ops.torch gives it"


def test_reasons_are_of_ops():
    assert {op for op, _ in MISSING} <= {*_binding.ops}
