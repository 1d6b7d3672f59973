# SPDX-License-Identifier: MIT
"""What results repeat bit for bit: one answer for all ops of a framework."""

from . import Repeat

KINDS = {"run": Repeat.RUN, "row": Repeat.ROW}


class repeat:
    """Says what results repeat bit for bit from here on, or in a `with` until its end.

    kind "run", the default: the same call, from run to run. "row": each row (token, sequence) also
    whatever others are beside it, so that a token's log-probability is the same in training, in any
    batch and in decoding. Sums are then never cut, which costs most where few rows meet a long k. A
    gradient repeats what its forward did; sums over rows, as a weight's gradient, have no rows and
    repeat from run to run.

    It holds for the process, all its threads, and for TK's ops alone. In PyTorch "run" is what
    torch.use_deterministic_algorithms asks for, and holds whether it was called or not. In JAX a
    function has it that is traced meanwhile: jax.jit makes a program for each kind. ValueError for
    another kind.
    """

    def __init__(self, kind):
        if kind not in KINDS:
            raise ValueError(f"repeat: kind must be run or row, not {kind}")
        self.before = self.asked()
        self.ask(int(KINDS[kind]))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ask(self.before)
