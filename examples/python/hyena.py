# SPDX-License-Identifier: MIT
"""A language model of long convolutions (Hyena) on the bytes of a text.

python examples/python/hyena.py [--device cuda]
"""

import common
from mixers import Hyena
from models import Decoder


def main():
    o = common.options(
        __doc__,
        steps=(40, 1000),
        batch=(8, 8),
        length=(128, 8192),
        width=(96, 768),
        layers=(2, 12),
        seeds=(2, 3),
        rate=(6e-3, 1e-3),
        compile=(0, 1),
    )

    def make(ops):
        def mixer(ops, _, width):
            return Hyena(ops, width, o.length)

        return Decoder(ops, mixer, width=o.width, layers=o.layers)

    common.compare("hyena", o, make)


main()
