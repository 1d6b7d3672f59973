# SPDX-License-Identifier: MIT
"""What dropout draws its bytes from."""

import torch


def random_state_of(p, device):
    """A seed and an offset, drawn by PyTorch's generator of the device; None where nothing drops."""
    return torch.randint(0, 2**62, (2,), dtype=torch.int64, device=device) if p > 0 else None
