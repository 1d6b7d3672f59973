# SPDX-License-Identifier: MIT
"""Based on associative recall: a sequence shows pairs of a key and a value, then asks for keys
again, in another order. Trains until the right values come (--until 0.99 of them, within --steps),
and asks for more; exits with status 1 where too few are right.

python examples/python/recall.py [--device cuda]
"""

import functools
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


def recalled(model, batches):
    """The share of right values of eight batches."""
    right = []
    for _, (ids, targets) in zip(range(8), batches):
        with torch.inference_mode(), common.autocast(ids.device.type):
            found = model(ids).argmax(-1)
        right.append((found == targets)[targets >= 0].float().mean().item())
    return sum(right) / len(right)


def main():
    o = common.options(
        __doc__,
        until=0.99,
        steps=(500, 2000),
        batch=(32, 128),
        pairs=(8, 16),
        vocab=(64, 256),
        width=(64, 128),
        layers=(2, 2),
        seeds=(2, 3),
        rate=(5e-3, 3e-3),
        compile=(0, 1),
    )

    def make(ops):
        def mixer(ops, _, width):
            return Based(ops, width, max(width // 32, 1))

        return Decoder(ops, mixer, vocab=o.vocab, width=o.width, layers=o.layers)

    def sequences(o, seed):
        return draw(o, torch.Generator().manual_seed(seed))

    asked, unseen = sequences(o, 10**6), sequences(o, 10**6 + 1)

    def done(model):
        """Half as many are wrong as may be, so that it is not by luck."""
        return 1 - recalled(model, asked) <= (1 - o.until) / 2

    train = functools.partial(common.train, done=done)
    models, _ = common.compare("recall", o, make, sequences, train)
    reached = True
    for kind, found in models.items():
        shares = [recalled(model, unseen) for model in found]
        reached = reached and min(shares) >= o.until
        shown = " ".join(f"{100 * x:.1f}" for x in shares)
        print(f"{kind} recalls {shown} % of values it has not seen")
    sys.exit(not reached)


main()
