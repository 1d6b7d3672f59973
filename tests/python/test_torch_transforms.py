# SPDX-License-Identifier: MIT
"""tk_ops.torch under torch.func's transforms and forward-mode differentiation, beside PyTorch's own
functions; and that calls past PyTorch's dispatcher see tensors of any shape as those through it."""

import os

import pytest

torch = pytest.importorskip("torch")
import torch.autograd.forward_ad as forward_ad  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch.func import grad, jacfwd, jacrev, jvp, linearize, vjp, vmap  # noqa: E402

import tk_ops.torch as tk  # noqa: E402

torch.set_num_threads(1)
DEVICE = os.environ.get("TK_TORCH_DEVICE", "cpu")
torch.set_default_device(DEVICE)


def score(norm):
    return lambda x, w: norm(x, (16,), w, 1e-5).sin().sum()


def two_results(x, w):
    return sum(y.square().sin().sum() for y in tk.rms_norm(x, 16, w, residual=x, eps=1e-5))


def their_two_results(x, w):
    return sum(y.square().sin().sum() for y in (F.rms_norm(2 * x, (16,), w, 1e-5), 2 * x))


OURS, THEIRS = score(tk.rms_norm), score(F.rms_norm)
TRANSFORMS = {
    "grad": lambda f, x, w: grad(f, (0, 1))(x, w),
    "vjp": lambda f, x, w: vjp(f, x, w)[1](torch.ones(())),
    "vmap": lambda f, x, w: vmap(f, (0, None))(x, w),
    "vmap_of_grad": lambda f, x, w: vmap(grad(f, (0, 1)), (1, None))(x, w),
    "grad_of_vmap": lambda f, x, w: grad(lambda w: vmap(f, (0, None))(x, w).sum())(w),
    "jacrev": lambda f, x, w: jacrev(lambda w: torch.stack([f(y, w) for y in x]))(w),
    "compiled": lambda f, x, w: torch.compile(grad(f), backend="aot_eager")(x, w),
}


@pytest.mark.parametrize("ours, theirs", [(OURS, THEIRS), (two_results, their_two_results)])
@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms(name, ours, theirs):
    torch.manual_seed(1)
    x, w = torch.randn(3, 4, 16), torch.randn(16)
    torch._dynamo.reset()
    torch.testing.assert_close(
        TRANSFORMS[name](ours, x, w), TRANSFORMS[name](theirs, x, w), rtol=1e-4, atol=1e-5
    )


def test_beside_autograd():
    """A gradient of torch.func, and one of autograd through it."""
    x, w = torch.randn(3, 16), torch.randn(16, requires_grad=True)
    with pytest.raises(NotImplementedError, match="no derivative of it, nor a second one"):
        torch.autograd.grad(grad(OURS)(x, w).sum(), w)
    functional = torch.func.functionalize(lambda x: tk.silu(x))(x)
    assert torch.equal(functional, tk.silu(x))


X = torch.randn(3, 16)
NORM = torch.ops.tk_ops.norm.default


@pytest.mark.parametrize(
    "sentence, call",
    [
        ("tk_ops::activation: there is no forward-mode", lambda: jvp(tk.silu, (X,), (X,))),
        ("tk_ops::softmax: there is no forward-mode", lambda: linearize(tk.softmax, X)),
        ("forward-mode", lambda: jacfwd(tk.silu)(X)),
        ("forward-mode", lambda: torch.func.hessian(lambda x: tk.silu(x).sum())(X)),
        ("forward-mode", lambda: jvp(lambda x: tk.rms_norm(X, 16, x), (X[0],), (X[0],))),
        ("forward-mode", lambda: torch.compile(jvp, backend="aot_eager")(tk.silu, (X,), (X,))),
        ("no derivative of it", lambda: grad(lambda x: grad(OURS)(x, X[0]).sum())(X)),
        ("not torch.ops", lambda: grad(lambda x: NORM(x, None, None, 1, 1e-5).sum())(X)),
        ("not torch.ops", lambda: jvp(lambda x: NORM(x, None, None, 1, 1e-5), (X,), (X,))),
    ],
)
def test_refusals(sentence, call):
    with pytest.raises(NotImplementedError, match=sentence):
        call()


def test_dual_numbers():
    """A tangent is refused wherever it is; other tensors beside it are as ever."""
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(X, X)
        for x in dual, dual.clone().requires_grad_():
            with pytest.raises(NotImplementedError, match="forward-mode"):
                tk.silu(x)
        with pytest.raises(NotImplementedError, match="forward-mode"):
            NORM(dual, None, None, 1, 1e-5)
        x = X.clone().requires_grad_()
        tk.silu(x).sum().backward()
        assert x.grad is not None


@pytest.fixture
def unwatched():
    """No default device, which is a mode."""
    torch.set_default_device(None)
    yield
    torch.set_default_device(DEVICE)


def test_tensors_of_other_kinds(unwatched):
    """Parameters, tensors of inference, of no memory; on a device that TK is not for."""
    x = torch.randn(3, 64, device=DEVICE)
    y = tk.rms_norm(torch.nn.Parameter(x), 64)
    assert type(y) is torch.Tensor and y.requires_grad and torch.equal(y, tk.rms_norm(x, 64))
    assert not tk.rms_norm(torch.nn.Parameter(x, requires_grad=False), 64).requires_grad
    with torch.inference_mode():
        assert tk.rms_norm(x, 64).is_inference() and F.rms_norm(x, (64,)).is_inference()
    with torch.no_grad():
        assert not tk.silu(x.clone().requires_grad_()).requires_grad
    assert tk.softmax(x.to("meta")).is_meta
    with torch._subclasses.FakeTensorMode() as mode:
        assert tk.silu(mode.from_tensor(x)).shape == x.shape


@pytest.mark.parametrize("shape", [(), (5,), (0, 8), (0, 3, 8), (2, 0, 8), (2, 3, 1), (2, 2, 3, 8)])
def test_shapes(shape, unwatched):
    x = torch.randn(shape, device=DEVICE)
    views = [x] if x.dim() < 2 else [x, x.transpose(0, -1), x[:1].expand(x.shape), x[..., ::2]]
    for y in views:
        assert torch.allclose(tk.silu(y), F.silu(y), atol=1e-6)
        assert torch.allclose(tk.softmax(y[None]), y[None].softmax(-1), atol=1e-6)
        if y.dim() > 0:
            want = F.layer_norm(y, y.shape[-1:])
            assert torch.allclose(tk.layer_norm(y, y.shape[-1]), want, atol=1e-5)
