# SPDX-License-Identifier: MIT
"""A language model of long convolutions (Hyena) on the bytes of a text.

python examples/python/hyena.py [--device cuda]
"""

import sys

import common
from mixers import Hyena

sys.exit(
    common.language_model(
        "hyena",
        __doc__,
        lambda ops, width, o: Hyena(ops, width, o.length),
        batch=(8, 8),
        length=(128, 8192),
        steps=(100, 1000),
        rate=(3e-3, 5e-4),
    )
)
