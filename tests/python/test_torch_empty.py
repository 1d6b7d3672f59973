# SPDX-License-Identifier: MIT
"""tk_ops.torch beside tensors without elements, whose strides may be anything."""

import os

import pytest

torch = pytest.importorskip("torch")

import tk_ops.torch as tk  # noqa: E402

torch.set_default_device(os.environ.get("TK_TORCH_DEVICE", "cpu"))
BF16, FP32, SDPA = torch.bfloat16, torch.float32, tk.scaled_dot_product_attention


EMPTY = {
    "attention": lambda x: tk.attention(x(1, 0, 2, 64), x(1, 5, 2, 64), x(1, 5, 2, 64)),
    "scaled_dot_product_attention": lambda x: SDPA(*(x(0, 2, 5, 64) for _ in range(3))),
    "linear_attention": lambda x: tk.linear_attention(*(x(1, 0, 2, 64) for _ in range(3))),
    "based": lambda x: tk.based(x(1, 0, 2, 16), x(1, 0, 2, 16), x(1, 0, 2, 64)),
    "mamba2": lambda x: tk.mamba2(
        x(1, 0, 2, 64), x(1, 0, 2), -torch.ones(2), x(1, 0, 1, 64), x(1, 0, 1, 64)
    ),
    "causal_conv1d": lambda x: tk.causal_conv1d(x(2, 0, 8), x(8, 3)),
    "fft_conv": lambda x: tk.fft_conv(x(0, 4, 16), x(4, 16, dtype=FP32)),
    "rotary": lambda x: tk.rotary(x(1, 0, 2, 64), None, *[torch.zeros(4, 32)] * 2)[0],
    "softmax": lambda x: tk.softmax(x(2, 0, 8), causal=True),
    "softmax by columns": lambda x: tk.softmax(
        x(23, 0, 33), 0, mask=torch.ones(33, dtype=torch.bool)
    ),
    "addmm": lambda x: tk.addmm(x(1, 1), x(0, 17), x(17, 32)),
    "transpose": lambda x: tk.transpose(x(0, 33, 384).mT),
    "layer_norm": lambda x: tk.layer_norm(x(0, 32), 32),
}


@pytest.mark.parametrize("name", EMPTY)
def test_strides_of_empty_tensors_do_not_matter(name):
    """Results without elements have gradients, which autograd expands from a number."""

    def zeros(*shape, dtype=BF16):
        return torch.zeros(*shape, dtype=dtype, requires_grad=True)

    EMPTY[name](zeros).sum().backward()
