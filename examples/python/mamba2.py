# SPDX-License-Identifier: MIT
"""A Mamba-2 language model on the bytes of a text.

python examples/python/mamba2.py [--device cuda]
"""

import common
from mixers import Mamba2
from models import Decoder


def main():
    o = common.options(
        __doc__,
        steps=(40, 1000),
        batch=(8, 16),
        length=(128, 2048),
        width=(96, 768),
        layers=(2, 12),
        seeds=(2, 3),
        rate=(6e-3, 1e-3),
        compile=(0, 1),
    )

    def make(ops):
        return Decoder(
            ops, lambda ops, _, width: Mamba2(ops, width), width=o.width, layers=o.layers
        )

    common.compare("mamba2", o, make)


main()
