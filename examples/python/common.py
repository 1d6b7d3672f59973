# SPDX-License-Identifier: MIT
"""What the demos share: options, a text, trainings side by side, curves."""

import argparse
import contextlib
import csv
import time
from pathlib import Path

import torch

import eager
import tk_ops.torch as tk
from models import Decoder

OPS = {"TK": tk, "eager": eager, "TK compiled": tk, "torch.compile": eager}
COMPILED = "TK compiled", "torch.compile"


def options(description, **defaults):
    """The command line: --device, --out and an option for each default, of its type. A pair of
    defaults is that of a CPU and that of a card."""
    parser = argparse.ArgumentParser(description=description.split("\n\n")[0])
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--out", type=Path, help="the file that curves are drawn in, .png or .csv")
    for name, value in defaults.items():
        kind = type(value[0] if isinstance(value, tuple) else value)
        parser.add_argument("--" + name.replace("_", "-"), type=kind)
    got = parser.parse_args()
    for name, value in defaults.items():
        if getattr(got, name) is None:
            pair = value if isinstance(value, tuple) else (value, value)
            setattr(got, name, pair[got.device != "cpu"])
    if got.device == "cpu":
        torch.set_num_threads(min(torch.get_num_threads(), 2))
    return got


def autocast(device):
    return torch.autocast(device, dtype=torch.bfloat16)


def synchronise(device):
    if device != "cpu":
        torch.cuda.synchronize()


def text(device):
    """Some of Shakespeare's sonnets, byte by byte."""
    data = (Path(__file__).parent / "sonnets.txt").read_bytes()
    return torch.tensor(list(data), device=device)


def text_batches(o, seed):
    """Batches of `o.batch` pieces of `o.length` bytes of the text, with the byte after each."""
    data, draw = text(o.device), torch.Generator().manual_seed(seed)
    while True:
        at = torch.randint(0, len(data) - o.length, (o.batch, 1), generator=draw).to(o.device)
        ids = data[at + torch.arange(o.length + 1, device=o.device)]
        yield ids[:, :-1], ids[:, 1:]


def optimizer_of(model, o):
    """And the schedule of its rate."""
    optimizer = torch.optim.AdamW(model.parameters(), o.rate, betas=(0.9, 0.95))
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, o.rate, o.steps + 1, pct_start=0.1)
    return optimizer, schedule


def train(ops, make, batches, o, seed, compiled=False, done=None):
    """A new model after o.steps steps, its losses, and tokens per second after the first ones. It
    ends earlier where done(model), which is asked every 25 steps."""
    torch.manual_seed(seed)
    model = make(ops).to(o.device)
    loss_of = torch.compile(model.loss) if compiled else model.loss
    optimizer, schedule = optimizer_of(model, o)
    warm = min(o.steps // 10 + 1, o.steps - 1, 20)
    losses, tokens, began = [], 0, time.perf_counter()
    for step, (ids, targets) in zip(range(o.steps), batches):
        if step == warm:
            synchronise(o.device)
            tokens, began = 0, time.perf_counter()
        optimizer.zero_grad()
        with autocast(o.device):
            loss = loss_of(ids, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        tokens += ids.numel()
        losses.append(loss.detach())
        if done is not None and step % 25 == 24:
            synchronise(o.device)
            asked = time.perf_counter()
            ended = done(model)
            began += time.perf_counter() - asked
            if ended:
                break
    synchronise(o.device)
    speed = tokens / (time.perf_counter() - began)
    return model, torch.stack(losses).tolist(), speed


def last(losses):
    """The mean of the last tenth."""
    return sum(losses[-(len(losses) // 10 + 1) :]) / (len(losses) // 10 + 1)


def compare(name, o, make, batches_of=text_batches, train=train):
    """Trains make(ops) with TK's and with PyTorch's ops, from o.seeds seeds each and on the same
    batches, and once with each compiled. Prints speeds and last losses, draws the curves, and
    returns models and last losses of each kind, seed by seed."""
    curves, ends, models = {}, {}, {}
    for kind, ops in OPS.items():
        compiled = kind in COMPILED
        if compiled and not o.compile:
            print(f"{kind}: not asked for (--compile 1)")
            continue
        found = []
        for seed in range(1 if compiled else o.seeds):
            with fallen(kind) if compiled else contextlib.nullcontext():
                found.append(train(ops, make, batches_of(o, seed), o, seed, compiled))
        if not found:
            continue
        models[kind] = [model for model, _, _ in found]
        ends[kind] = [last(losses) for _, losses, _ in found]
        curves |= {f"{kind}, seed {i}": losses for i, (_, losses, _) in enumerate(found)}
        speeds, losses = [x[2] for x in found], " ".join(f"{x:.4f}" for x in ends[kind])
        print(f"{kind}: {max(speeds):,.0f} tokens/s, last losses {losses}", flush=True)
    draw(o.out or Path(f"{name}.png"), curves, "loss")
    return models, ends


def language_model(name, description, mixer, **defaults):
    """Trains decoders whose tokens mixer(ops, width, options) mixes on the bytes of the text.
    Returns the status of `judge`."""
    shared = dict(
        steps=(40, 1000),
        width=(96, 768),
        layers=(2, 12),
        seeds=4,
        rate=(6e-3, 1e-3),
        compile=(0, 1),
    )
    o = options(description, **shared | defaults)

    def make(ops):
        return Decoder(
            ops, lambda ops, _, width: mixer(ops, width, o), width=o.width, layers=o.layers
        )

    _, ends = compare(name, o, make)
    return judge(ends)


def judge(ends):
    """Says whether TK's last losses are within the spread of eager's over seeds, and returns the
    status to exit with: 0, or 1 where they are not.

    They are if the means of all seeds are no further apart than eager's best and worst seed. Both
    kinds begin with the same weights and see the same batches, so that their difference is what
    rounding makes of a run. As long as it makes less than a seed does, equal kinds pass; where runs
    go apart until nothing but their distribution is left, 85 of 100 pass with 3 seeds, 95 with 4,
    98 with 5 (of normal losses), but 61 with 2, which are not judged. A loss that is off by more
    than what seeds make of it does not pass; one that is off by less is as good as another seed."""
    ours, theirs = ends["TK"], ends["eager"]
    if len(theirs) < 3:
        print(f"{len(theirs)} seeds are too few to judge by (--seeds 3)")
        return 0
    apart = abs(sum(ours) / len(ours) - sum(theirs) / len(theirs))
    spread = max(theirs) - min(theirs)
    within = apart <= spread  # NaN is not
    print(
        f"means of {len(theirs)} seeds are {apart:.4f} apart, eager's seeds {spread:.4f}:"
        f" {'within' if within else 'NOT within'} its spread"
    )
    return 0 if within else 1


@contextlib.contextmanager
def fallen(kind):
    """Prints what a compiler that does not work says."""
    try:
        yield
    except Exception as error:
        print(f"{kind}: {type(error).__name__}: {str(error).strip().splitlines()[0]}")


def draw(path, curves, what, along="step", at=None):
    """Lines of numbers, as a picture, or as a table where matplotlib is missing or path is .csv; at
    are the places of all, else 0, 1, ..."""
    at = range(max(map(len, curves.values()))) if at is None else at
    try:
        if path.suffix == ".csv":
            raise ImportError
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        path = path.with_suffix(".csv")
        with path.open("w", newline="") as file:
            table = csv.writer(file)
            table.writerow([along, *curves])
            for i, place in enumerate(at):
                table.writerow([place, *(x[i] if i < len(x) else "" for x in curves.values())])
    else:
        figure, axes = plt.subplots(figsize=(7, 4))
        for name, values in curves.items():
            style = "-" if "TK" in name else ":"  # both are seen where one lies on the other
            axes.plot(at[: len(values)], values, style, label=name, linewidth=1.2)
        axes.set_xlabel(along), axes.set_ylabel(what), axes.legend(fontsize=7)
        figure.savefig(path, dpi=150)
    print(f"curves: {path}")
