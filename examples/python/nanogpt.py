# SPDX-License-Identifier: MIT
"""A trainer of the nanoGPT kind: a decoder of the Llama kind on the bytes of a text, then a sample.

python examples/python/nanogpt.py [--device cuda]
"""

import sys

import torch

import common
import models
import tk_ops.torch as tk


def sample(model, o, prompt="Shall I compare thee ", count=160):
    """The prompt, and bytes drawn after it, with a cache."""
    ids = torch.tensor(list(prompt.encode()), device=o.device)
    cache = models.Cache(model, 1, len(ids) + count)
    torch.manual_seed(0)
    with torch.inference_mode():
        written = ids
        for _ in range(count):
            logits = model(ids, cache.next([len(ids)]))[-1].float()
            ids = torch.multinomial(tk.softmax(logits, scale=1.25), 1)
            written = torch.cat((written, ids))
    return bytes(written.tolist()).decode(errors="replace")


def main():
    o = common.options(
        __doc__,
        steps=(60, 1000),
        batch=(8, 32),
        length=(128, 1024),
        width=(128, 768),
        layers=(2, 12),
        seeds=4,
        rate=(4e-3, 1e-3),
        compile=(0, 1),
    )
    heads = max(o.width // 64, 2)
    models_of, ends = common.compare(
        "nanogpt", o, lambda ops: models.llama(ops, o.width, heads, heads, layers=o.layers)
    )
    print(sample(models_of["TK"][-1].bfloat16(), o))
    sys.exit(common.judge(ends))


main()
