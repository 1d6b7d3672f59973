# SPDX-License-Identifier: MIT
"""What has been asked to repeat, of JAX's ops."""

import jax

from tk_ops import _repeat

number = jax.make_user_context(0)  # jax.jit's programs are kept by it


class repeat(_repeat.repeat):
    __doc__ = _repeat.repeat.__doc__

    def asked(self):
        return number.get_global()

    def ask(self, asked):
        number.set_global(asked)


def repeat_kind():
    """What has been asked for, as a number of tk_ops.Repeat."""
    return number.value
