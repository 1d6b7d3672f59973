# SPDX-License-Identifier: MIT
"""Words of frameworks as TK's options, and the tensors that ops along sequences take."""

from . import ActivationKind, Mask, NormKind, ScaleKind

# In the order in which both frameworks' ops take them.
LINEAR_ATTENTION = "q", "k", "v", "log_decay", "decay", "initial_state", "starts"
BASED = "q", "k", "v", "initial_state", "initial_sums", "starts"
HEDGEHOG = (
    *("q", "k", "v", "map_q", "map_k", "alpha", "beta"),
    *("initial_kv", "initial_k", "starts", "key_starts", "lengths"),
)
MAMBA2 = "x", "dt", "A", "B", "C", "D", "z", "dt_bias", "initial_state", "starts"
CONV1D = "x", "weight", "bias", "initial_state", "starts"
FFT_CONV = "u", "k", "pre", "post"

BLOCKS = {
    "row": ScaleKind.ROW,
    "1x128": ScaleKind.SCALE_1X128,
    "128x128": ScaleKind.SCALE_128X128,
    "tensor": ScaleKind.TENSOR,
}


def mask_of(causal):
    return Mask.CAUSAL if causal else Mask.NONE


def norm_kind(rms):
    return NormKind.RMS if rms else NormKind.LAYER


def window_fields(left, right):
    """Of attention; below 0 is no limit."""
    return dict(
        has_window_left=left >= 0,
        window_left=max(left, 0),
        has_window_right=right >= 0,
        window_right=max(right, 0),
    )


def loss_fields(ignore_index, label_smoothing, z_loss, softcap):
    """Of cross-entropy."""
    return dict(
        ignore_index=ignore_index,
        has_ignore_index=1,
        label_smoothing=label_smoothing,
        z_loss=z_loss,
        softcap=softcap,
    )


def window_of(window):
    """The window (left, right) of attention, of which either may be None, with -1 for no limit."""
    left, right = (-1 if x is None else x for x in window or (None, None))
    if left < -1 or right < -1:
        raise ValueError(f"attention: window {window} must not be negative (None or -1: no limit)")
    return left, right


def conv_activation(activation):
    """Of a short convolution."""
    if activation not in (None, "silu", "swish"):
        raise ValueError(f"causal_conv1d: activation must be None or silu, not {activation}")
    return ActivationKind.NONE if activation is None else ActivationKind.SILU


def block_kind(block):
    """Of quantise."""
    if block not in BLOCKS:
        raise ValueError(f"quantise: block must be one of {', '.join(BLOCKS)}, not {block}")
    return BLOCKS[block]


def scale_shape(kind, shape):
    """The sizes of quantise's scales for a tensor of these sizes."""
    *others, n = shape
    if kind == ScaleKind.ROW:
        return (*others,)
    if kind == ScaleKind.SCALE_1X128:
        return *others, (n + 127) // 128
    if kind == ScaleKind.SCALE_128X128:
        *others, m = others
        return *others, (m + 127) // 128, (n + 127) // 128
    return ()


def fits_in(small, large):
    """Whether the sizes of add's smaller tensor stand for the larger one's."""
    if len(small) > len(large) or small[-1:] != large[-1:]:
        return False
    return all(x in (1, y) for x, y in zip(small[::-1], large[::-1]))


def check_sum(first, x, second, y, single):
    """Of add, whether the smaller tensor, which has the result's type, is x, not y."""
    if x.dtype != y.dtype and single not in (x.dtype, y.dtype):
        raise TypeError(f"add: {first} is {x.dtype} and {second} {y.dtype}, of which none is fp32")
    if y.dtype in (single, x.dtype) and fits_in(y.shape, x.shape):
        return False
    if x.dtype in (single, y.dtype) and fits_in(x.shape, y.shape):
        return True
    raise ValueError(
        f"add: {first} {list(x.shape)} of {x.dtype} and {second} {list(y.shape)} of {y.dtype} do"
        " not fit"
    )
