# SPDX-License-Identifier: MIT
"""What has been asked to repeat, of PyTorch's ops."""

from tk_ops import _repeat

asked = 0  # a number, so that torch.compile guards on it


class repeat(_repeat.repeat):
    __doc__ = _repeat.repeat.__doc__

    def asked(self):
        return asked

    def ask(self, number):
        global asked
        asked = number


def repeat_kind():
    """What has been asked for, as a number of tk_ops.Repeat."""
    return asked
