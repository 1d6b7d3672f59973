# SPDX-License-Identifier: MIT
"""What results repeat bit for bit: one answer for all ops."""

from tk_ops import Repeat

__all__ = ["repeat"]
KINDS = {"run": Repeat.RUN, "row": Repeat.ROW}
asked = 0  # a number, so that torch.compile guards on it


class repeat:
    """Says what results repeat bit for bit from here on, or in a `with` until its end.

    kind "run", the default: the same call, from run to run; this is what
    torch.use_deterministic_algorithms asks for, and holds whether it was called or not. "row":
    each row (token, sequence) also whatever others are beside it, so that a token's
    log-probability is the same in training, in any batch and in decoding. Sums are then never cut,
    which costs most where few rows meet a long k. A gradient repeats what its forward did; sums
    over rows, as a weight's gradient, have no rows and repeat from run to run.

    It holds for the process, all its threads, like torch.use_deterministic_algorithms, and for TK's
    ops alone. ValueError for another kind.
    """

    def __init__(self, kind):
        global asked
        if kind not in KINDS:
            raise ValueError(f"repeat: kind must be run or row, not {kind}")
        self.before = asked
        asked = int(KINDS[kind])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        global asked
        asked = self.before


def repeat_kind():
    """What has been asked for, as a number of tk_ops.Repeat."""
    return asked
