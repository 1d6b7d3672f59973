# SPDX-License-Identifier: MIT
"""A Mamba-2 language model on the bytes of a text.

python examples/python/mamba2.py [--device cuda]
"""

import sys

import common
from mixers import Mamba2

sys.exit(
    common.language_model(
        "mamba2",
        __doc__,
        lambda ops, width, o: Mamba2(ops, width),
        batch=(8, 16),
        length=(128, 2048),
    )
)
