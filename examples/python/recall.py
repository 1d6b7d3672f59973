# SPDX-License-Identifier: MIT
"""Based on associative recall: a sequence shows pairs of a key and a value, then asks for keys
again, in another order. Trains until the right values come, and asks for more.

python examples/python/recall.py [--device cuda]
"""

import sys

import torch

import common
from mixers import Based
from models import Decoder


def draw(o, generator):
    """Batches of sequences key value key value ... of o.pairs pairs, twice, the second time in
    another order; targets are the values of the second time, and -100."""
    half, b, n = o.vocab // 2, o.batch, o.pairs
    while True:
        keys = torch.rand(b, half, generator=generator).argsort(1)[:, :n]
        values = torch.randint(half, 2 * half, (b, n), generator=generator)
        again = torch.rand(b, n, generator=generator).argsort(1)
        pairs = torch.stack((keys, values), -1)
        asked = pairs.gather(1, again[..., None].expand(-1, -1, 2))
        ids = torch.cat((pairs, asked), 1).flatten(1)
        targets = torch.full_like(ids, -100)
        targets[:, 2 * n :: 2] = ids[:, 2 * n + 1 :: 2]
        yield ids.to(o.device), targets.to(o.device)


def recalled(model, o):
    """The share of right values of new sequences."""
    ids, targets = next(draw(o, torch.Generator().manual_seed(10**6)))
    with torch.inference_mode(), common.autocast(o.device):
        found = model(ids).argmax(-1)
    return (found == targets)[targets >= 0].float().mean().item()


def main():
    o = common.options(
        __doc__,
        steps=(130, 4000),
        batch=(32, 256),
        pairs=(6, 64),
        vocab=(32, 8192),
        width=(64, 256),
        layers=(2, 2),
        seeds=4,
        rate=(1.5e-2, 2e-3),
        compile=(0, 1),
    )

    def make(ops):
        def mixer(ops, _, width):
            return Based(ops, width, max(width // 32, 1))

        return Decoder(ops, mixer, vocab=o.vocab, width=o.width, layers=o.layers)

    models, ends = common.compare(
        "recall", o, make, lambda o, seed: draw(o, torch.Generator().manual_seed(seed))
    )
    share = recalled(models["TK"][-1], o)
    print(f"TK's last model recalls {100 * share:.1f} % of values it has not seen")
    sys.exit(common.judge(ends))


main()
