# SPDX-License-Identifier: MIT
"""LoLCATs: a trained model's softmax attention swapped for Hedgehog's, and its feature maps
distilled, layer by layer, until they give what the softmax gave.

python examples/python/lolcats.py [--device cuda]
"""

import argparse
import sys

import torch

import common
import models
import tk_ops.torch as tk
from mixers import Lolcats


class Distilled(torch.nn.Module):
    """A model whose loss is the mean error of its layers' attention; only feature maps and factors
    are trained."""

    def __init__(self, ops, o, weights):
        super().__init__()
        self.model = teacher_of(ops, o)
        self.model.load_state_dict(weights)
        self.model.requires_grad_(False)
        for block in self.model.blocks:
            block.mixer = Lolcats(block.mixer)
        self.distil(True)

    def distil(self, does):
        for block in self.model.blocks:
            block.mixer.distils = does

    def loss(self, ids, targets):
        self.model.features(ids)
        return sum(block.mixer.error for block in self.model.blocks) / len(self.model.blocks)


def teacher_of(ops, o):
    heads = o.width // 128
    return models.llama(ops, o.width, heads, heads, o.length, layers=o.layers)


def text_loss(model, o):
    """Of batches that no training has drawn."""
    batches = common.text_batches(o, 10**6)
    with torch.inference_mode(), common.autocast(o.device):
        return sum(model.loss(*next(batches)).item() for _ in range(4)) / 4


def main():
    o = common.options(
        __doc__,
        teaching=(50, 1000),
        steps=(20, 400),
        batch=(2, 8),
        length=(320, 2048),
        width=(128, 1024),
        layers=(2, 8),
        seeds=4,
        rate=(1e-2, 5e-3),
        compile=(0, 1),
    )
    teaching = argparse.Namespace(**vars(o) | {"steps": o.teaching, "rate": 3e-3})
    teacher, losses, speed = common.train(
        tk, lambda ops: teacher_of(ops, o), common.text_batches(o, 0), teaching, 0
    )
    print(f"teacher: {speed:,.0f} tokens/s, last losses {common.last(losses):.4f}")
    weights = teacher.state_dict()
    students, ends = common.compare("lolcats", o, lambda ops: Distilled(ops, o, weights))
    torch.manual_seed(o.seeds - 1)
    swapped = Distilled(tk, o, weights).to(o.device)
    for name, model in ("swapped", swapped), ("distilled", students["TK"][-1]):
        model.distil(False)
        print(f"{name}: the text's loss is {text_loss(model.model, o):.4f}")
    print(f"teacher: the text's loss is {text_loss(teacher, o):.4f}")
    sys.exit(common.judge(ends))


main()
