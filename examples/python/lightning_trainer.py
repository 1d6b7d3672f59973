# SPDX-License-Identifier: MIT
"""The model of nanogpt.py, trained by PyTorch Lightning: its precision, its loop, its clipping.

python examples/python/lightning_trainer.py [--device cuda]

pip install lightning; without it the demo says so and ends.
"""

import logging
import sys
import time
import warnings

import torch

import common
import models

try:
    import lightning
except ImportError:
    lightning = None


def module_of(model, o, compiled):
    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.model, self.losses, self.tokens, self.began = model, [], 0, 0.0
            self.loss_of = torch.compile(model.loss) if compiled else model.loss

        def training_step(self, batch, step):
            if step == o.steps // 10:
                common.synchronise(o.device)
                self.tokens, self.began = 0, time.perf_counter()
            loss = self.loss_of(*batch)
            self.tokens += batch[0].numel()
            self.losses.append(loss.detach())
            return loss

        def configure_optimizers(self):
            optimizer, schedule = common.optimizer_of(self, o)
            return [optimizer], [{"scheduler": schedule, "interval": "step"}]

    return Module()


def train(ops, make, batches, o, seed, compiled=False):
    """As common.train."""
    lightning.seed_everything(seed, verbose=False)
    module = module_of(make(ops), o, compiled)
    trainer = lightning.Trainer(
        accelerator="cpu" if o.device == "cpu" else "gpu",
        devices=1,
        precision="bf16-mixed",
        max_steps=o.steps,
        gradient_clip_val=1.0,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(module, batches)
    common.synchronise(o.device)
    speed = module.tokens / (time.perf_counter() - module.began)
    return module.model, torch.stack(module.losses).tolist(), speed


def main():
    o = common.options(
        __doc__,
        steps=(30, 1000),
        batch=(8, 32),
        length=(128, 1024),
        width=(128, 768),
        layers=(2, 12),
        seeds=4,
        rate=(4e-3, 1e-3),
        compile=(0, 1),
    )
    if lightning is None:
        print("lightning is not installed: pip install lightning")
        return
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module="lightning")
    heads = max(o.width // 64, 2)
    _, ends = common.compare(
        "lightning",
        o,
        lambda ops: models.llama(ops, o.width, heads, heads, layers=o.layers),
        train=train,
    )
    sys.exit(common.judge(ends))


main()
