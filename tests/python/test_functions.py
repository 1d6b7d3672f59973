# SPDX-License-Identifier: MIT
"""The functions of the package tk_ops on NumPy's arrays, against their definitions in fp64, and what they
refuse. Of an op's types and sizes others make sure (tests/ops): here its fields arrive."""
import inspect
import os
import sys
import threading

import numpy
import pytest
import tk_ops
import tvm_ffi
from tk_ops import _binding

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "ops/api"))
from c_headers import c_interface  # noqa: E402

random = numpy.random.default_rng(7)


def half(*shape):
    return random.standard_normal(shape).astype(numpy.float16)


def single(*shape):
    return random.standard_normal(shape).astype(numpy.float32)


def wide(x):
    return x.astype(numpy.float64)


def near(got, exact, error=2e-3):
    """Whether the root mean square of the difference is at most `error` times that of the result."""
    assert numpy.isfinite(got).all()
    return numpy.sqrt(((wide(got) - exact) ** 2).mean()) <= error * numpy.sqrt((exact ** 2).mean())


def softmax_of(x):
    e = numpy.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def silu(x):
    return x / (1 + numpy.exp(-x))


def test_every_op_has_a_function_with_its_fields():
    for name, op in c_interface().ops.items():
        parameters = inspect.signature(getattr(tk_ops, name)).parameters
        for field, kind in op.problem.kinds.items():
            if field != "size" and not field.startswith("reserved") and "_options " not in kind:
                assert field in parameters, f"{name} lacks {field}"
        assert "workspace" in parameters
        assert getattr(tk_ops, name).__doc__


def test_gemm():
    a, b, c, bias, d = half(3, 40, 70), half(50, 70), half(3, 40, 50), single(50), half(3, 40, 50)
    tk_ops.gemm(a=a, b=b, c=c, bias=bias, d=d, transpose_b=1, alpha=0.5, beta=-2, bias_kind=tk_ops.Bias.ROW,
                activation=tk_ops.ActivationKind.RELU)
    exact = 0.5 * wide(a) @ wide(b).T - 2 * wide(c) + bias
    assert near(d, numpy.maximum(exact, 0))


def test_attention_and_its_options():
    q, k, v, o = half(2, 33, 4, 64), half(2, 50, 2, 64), half(2, 50, 2, 32), half(2, 33, 4, 32)
    lse, slopes = single(2, 4, 33), numpy.array([0.5, 0.25, 0.125, 0.0625], numpy.float32)
    tk_ops.attention_forward(q=q, k=k, v=v, o=o, lse=lse, mask=tk_ops.Mask.CAUSAL, scale=0.125,
                             has_window_left=1, window_left=20, softcap=3.0, alibi=slopes)
    keys, values = (numpy.repeat(wide(x), 2, axis=2) for x in (k, v))
    scores = 3 * numpy.tanh(0.125 / 3 * numpy.einsum("bihd,bjhd->bhij", wide(q), keys))
    distance = numpy.arange(33)[:, None] + 17 - numpy.arange(50)
    scores = scores - slopes[:, None, None] * numpy.abs(distance)
    scores[:, :, (distance < 0) | (distance > 20)] = -numpy.inf
    assert near(o, numpy.einsum("bhij,bjhd->bihd", softmax_of(scores), values))
    assert near(lse, numpy.log(numpy.exp(scores).sum(axis=-1)), 1e-4)


def test_norm():
    x, residual, weight, y, r = half(9, 200), single(9, 200), half(200), half(9, 200), single(9, 200)
    tk_ops.norm(x=x, residual=residual, weight=weight, y=y, r=r, kind=tk_ops.NormKind.RMS, eps=1e-3)
    s = wide(x) + residual
    assert near(r, s, 1e-6)
    assert near(y, s / numpy.sqrt((s ** 2).mean(axis=1, keepdims=True) + 1e-3) * weight)
    r, dy, dx, dweight = s.astype(numpy.float16), half(9, 200), half(9, 200), single(200)
    tk_ops.norm_backward(r=r, dy=dy, weight=weight, dx=dx, dweight=dweight, kind=tk_ops.NormKind.RMS, eps=1e-3)
    scale = 1 / numpy.sqrt((wide(r) ** 2).mean(axis=1, keepdims=True) + 1e-3)
    n, g = wide(r) * scale, wide(dy) * weight
    assert near(dx, scale * (g - n * (g * n).mean(axis=1, keepdims=True)))
    assert near(dweight, (wide(dy) * n).sum(axis=0))


def test_rows():
    x, y = half(5, 77), half(5, 77)
    tk_ops.softmax(x=x, y=y, scale=0.7)
    assert near(y, softmax_of(0.7 * wide(x)))
    other, sum_ = half(5, 77), half(5, 77)
    tk_ops.add(a=x, b=other, y=sum_, alpha=2, beta=-1)
    assert near(sum_, 2 * wide(x) - wide(other))
    tk_ops.activation(a=x, b=other, y=y, kind=tk_ops.ActivationKind.SILU)
    assert near(y, silu(wide(x)) * wide(other))
    turned = half(77, 5)
    tk_ops.transpose(x=x, y=turned)
    assert (turned == x.T).all()
    values, columns = half(5, 4), numpy.zeros((5, 4), numpy.int32)
    tk_ops.topk(x=x, values=values, indices=columns)
    assert (values == -numpy.sort(-x, axis=1)[:, :4]).all()
    assert (numpy.take_along_axis(x, columns, axis=1) == values).all()


def test_cross_entropy():
    x, loss, dx = half(6, 100), single(6), half(6, 100)
    labels = random.integers(0, 100, 6).astype(numpy.int64)
    labels[2] = -100
    tk_ops.cross_entropy(x=x, labels=labels, loss=loss, dx=dx, ignore_index=-100,
                         has_ignore_index=True, dloss_scale=1)
    p = softmax_of(wide(x))
    seen = labels != -100
    exact = numpy.where(seen, -numpy.log(p[numpy.arange(6), labels]), 0)
    assert near(loss, exact, 1e-5)
    p[numpy.arange(6), labels] -= 1
    assert near(dx, p * seen[:, None])


def test_linear_attention_and_states():
    q, k, v, o = half(2, 90, 3, 32), half(2, 90, 3, 32), half(2, 90, 3, 48), half(2, 90, 3, 48)
    decay, first, last = -numpy.abs(single(2, 90, 3)), single(2, 3, 32, 48), single(2, 3, 32, 48)
    tk_ops.linear_attention(q=q, k=k, v=v, o=o, log_decay=decay, initial_state=first, final_state=last, scale=0.2)
    state, exact = wide(first), []
    for t in range(90):
        state = numpy.exp(wide(decay)[:, t, :, None, None]) * state + wide(k)[:, t, :, :, None] * wide(v)[:, t, :, None]
        exact.append(0.2 * numpy.einsum("bhd,bhde->bhe", wide(q)[:, t], state))
    assert near(o, numpy.stack(exact, axis=1))
    assert near(last, state)


def test_long_convolution():
    u, k, y, gate = half(2, 3, 500), single(3, 300) * 0.1, half(2, 3, 500), half(2, 3, 500)
    tk_ops.fft_conv(u=u, k=k, y=y, post=gate)
    exact = [[numpy.convolve(wide(u)[b, c], wide(k)[c])[:500] for c in range(3)] for b in range(2)]
    assert near(y, numpy.array(exact) * wide(gate))


def test_strides_and_what_is_written():
    x, all_of_y = half(6, 64)[::2, ::-1][:, ::-1], numpy.full((3, 128), 7, numpy.float16)
    tk_ops.softmax(x=x, y=all_of_y[:, 32:96], scale=1)
    assert near(all_of_y[:, 32:96], softmax_of(wide(x)))
    assert (all_of_y[:, :32] == 7).all() and (all_of_y[:, 96:] == 7).all()


class exporter:
    """What another library's tensor is, CuPy's for instance: it has these two methods."""

    def __init__(self, x):
        self.x = x

    def __dlpack__(self, **options):
        return self.x.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()


@pytest.mark.parametrize("name", ["torch", "jax", "others"])
def test_tensors_of_others(name):
    """They give what NumPy's do, side by side with them, also of a type that NumPy has not."""
    x, exact, y = single(5, 77), single(5, 77), single(5, 77)
    tk_ops.softmax(x=x, y=exact, scale=1)
    if name == "torch":
        torch = pytest.importorskip("torch")
        tk_ops.softmax(x=torch.from_numpy(x), y=torch.from_numpy(y), scale=1)
        z = torch.empty(5, 77, dtype=torch.bfloat16)
        tk_ops.add(a=torch.from_numpy(x).bfloat16(), y=z, alpha=2)
        assert torch.equal(z, 2 * torch.from_numpy(x).bfloat16())
    elif name == "jax":
        jax = pytest.importorskip("jax")
        jax.config.update("jax_platforms", "cpu")
        tk_ops.softmax(x=jax.numpy.asarray(x), y=y, scale=1)
    else:
        tk_ops.softmax(x=exporter(x), y=exporter(y), scale=1)
    assert (y == exact).all()


def test_a_workspace_of_one_s_own():
    k, fields = single(4, 700), {"u": half(1, 4, 700), "y": half(1, 4, 700)}
    size = tk_ops.workspace_bytes("fft_conv", k=k, **fields)
    workspace = numpy.zeros(size, numpy.uint8)
    tk_ops.fft_conv(k=k, workspace=workspace, **fields)
    first = fields["y"].copy()
    tk_ops.fft_conv(k=k, workspace=workspace, filter_is_ready=True, **fields)
    assert (fields["y"] == first).all()
    with pytest.raises(ValueError, match="workspace"):
        tk_ops.fft_conv(k=k, workspace=workspace[:size - 16], **fields)
    with pytest.raises(TypeError, match="workspace must be a tensor of bytes"):
        tk_ops.fft_conv(k=k, workspace=single(2), **fields)


def test_threads():
    x, all_of_y = half(8, 4, 900), [half(4, 900) for _ in range(8)]
    threads = [threading.Thread(target=lambda i=i: [tk_ops.softmax(x=x[i], y=all_of_y[i], scale=1)
                                                    for _ in range(50)]) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i in range(8):
        assert near(all_of_y[i], softmax_of(wide(x[i])))


def test_calls_by_buffers():
    """A plan: its fields are numbers of buffers, or what an option is."""
    x, y = half(3, 20), half(3, 20)
    place, fields = _binding.ops["softmax"]
    values = [{"x": 0, "y": 1, "scale": 0.5}.get(name) for name in fields]
    buffer = tvm_ffi.Shape((3, 20)), tvm_ffi.dtype("float16")
    size = _binding.bytes_of_shapes(place, 1, *values, *buffer, *buffer)
    assert size == tk_ops.workspace_bytes("softmax", x=x, y=y, scale=0.5)
    _binding.plan("half", place, *values, None)
    _binding.run("half", x, y)
    assert near(y, softmax_of(0.5 * wide(x)))


def test_calls_of_some_fields():
    """As PyTorch makes them: tensors of three dimensions are matrices, and results are made."""
    torch = pytest.importorskip("torch")
    x, weight = torch.from_numpy(single(2, 3, 8)), torch.from_numpy(single(8))
    y = torch.empty_like(x)
    call = _binding.some_fields("norm", ["x", "weight", "eps", "y"], True)
    _binding.launch(call, None, x, weight, 1e-5, y)
    assert torch.allclose(y, torch.nn.functional.layer_norm(x, (8,), weight), atol=1e-5)
    made = _binding.result_of(call, None, x, weight, 1e-5)
    assert type(made) is torch.Tensor and torch.equal(made, y)
    assert _binding.result_of(call, None, x.mT, weight, 1e-5) is None
    assert _binding.result_of(call, None, x[0, 0, 0], None, 1e-5) is None
    assert _binding.bytes_of(call, x, weight, 1e-5, y) >= 0
    for error, sentence, run in (
        (ValueError, "norm: x must be contiguous", lambda: _binding.launch(call, None, x.mT, weight, 1e-5, y)),
        (ValueError, "norm: no tensor is given", lambda: _binding.result_of(call, None, None, None, 1e-5)),
        (ValueError, "tk_norm: weight", lambda: _binding.result_of(call, None, x, weight[:3], 1e-5)),
        (TypeError, "a shape must say", lambda: _binding.launch(call, None, x)),
        (TypeError, "a shape must say", lambda: _binding.bytes_of(3, x)),
        (ValueError, "norm: there is no such field", lambda: _binding.bytes_of(
            tvm_ffi.Shape((_binding.ops["norm"][0], 0, 99)), x)),
        (TypeError, "norm has no field z", lambda: _binding.some_fields("norm", ["z"], True)),
    ):
        with pytest.raises(error, match=sentence):
            run()


SOFTMAX, COUNT = _binding.ops["softmax"][0], len(_binding.ops["softmax"][1])


@pytest.mark.parametrize("error, sentence, call", [
    (ValueError, "no such op", lambda: _binding.plan("a", 1 << 20)),
    (TypeError, f"softmax takes {COUNT + 1} arguments, not 1", lambda: _binding.plan("a", SOFTMAX, 0)),
    (TypeError, "a plan is made of numbers", lambda: _binding.plan("a", SOFTMAX, *["x"] * (COUNT + 1))),
    (RuntimeError, "has not traced", lambda: _binding.run("nowhere", half(3))),
    (ValueError, "softmax: there is no buffer for x", lambda: _binding.bytes_of_shapes(SOFTMAX, 1, *[7] * COUNT)),
    (TypeError, "softmax has other fields", lambda: _binding.bytes_of_shapes(SOFTMAX, 1)),
    (TypeError, "by its shape and type", lambda: _binding.bytes_of_shapes(SOFTMAX, 1, *[0] * COUNT, 1, 2)),
    (ValueError, "tk_softmax: ", lambda: _binding.bytes_of_shapes(
        SOFTMAX, 1, *[0] + [None] * (COUNT - 1), tvm_ffi.Shape((2, 3)), tvm_ffi.dtype("float16"))),
])
def test_refusals_of_plans(error, sentence, call):
    with pytest.raises(error, match=sentence):
        call()


@pytest.mark.parametrize("error, sentence, call", [
    (ValueError, "tk_norm: y is NULL", lambda x: tk_ops.norm(x=x, eps=1e-6)),
    (ValueError, "norm: no tensor is given", lambda x: tk_ops.norm()),
    (ValueError, "stride 2", lambda x: tk_ops.norm(x=x[:, ::2], y=x[:, ::2], eps=1e-6)),
    (ValueError, "tk_softmax: ", lambda x: tk_ops.softmax(x=x, y=half(3, 16))),
    (TypeError, "tk_norm: y is fp32 where x is fp16", lambda x: tk_ops.norm(x=x, y=single(4, 16))),
    (TypeError, "norm: y must be a tensor or None", lambda x: tk_ops.norm(x=x, y=3)),
    (TypeError, "norm: eps must be a number", lambda x: tk_ops.norm(x=x, y=x, eps="small")),
    (TypeError, "norm: kind must be a whole number", lambda x: tk_ops.norm(x=x, y=x, kind=0.5)),
    (TypeError, "unexpected keyword", lambda x: tk_ops.norm(x=x, y=x, epsilon=1)),
    (OverflowError, "repeat must be a number of 32 bits", lambda x: tk_ops.norm(x=x, y=x, repeat=1 << 40)),
    (NotImplementedError, "tk_attention_forward: ", lambda x: tk_ops.attention_forward(
        q=half(1, 4, 1, 264), k=half(1, 4, 1, 264), v=half(1, 4, 1, 8), o=half(1, 4, 1, 8), scale=1)),
    (TypeError, "norm has no field z", lambda x: tk_ops.workspace_bytes("norm", x=x, z=1)),
    (ValueError, "no op is called nrom", lambda x: tk_ops.workspace_bytes("nrom", x=x)),
    (OSError, "nowhere", lambda x: tk_ops.load_library("/nowhere/libtk_ops.so")),
])
def test_refusals(error, sentence, call):
    x = half(4, 16)
    before = x.copy()
    with pytest.raises(error, match=sentence):
        call(x)
    assert (x == before).all()
