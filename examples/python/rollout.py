# SPDX-License-Identifier: MIT
"""Rollout equals training: tokens drawn with a cache, their log-probabilities as the rollout saw
them beside those of training's forward pass, bit for bit, and what that costs.

    python examples/python/rollout.py [--device cuda]

A sampler and a trainer that round differently make of on-policy learning an off-policy one. Here
both are TK's kernels, with repeat("row"): the importance ratios are exactly 1. eager is the same
model of PyTorch's ops.
"""

import time

import torch

import common
import eager
import models
import tk_ops.torch as tk


def draw_tokens(model, prompts, count):
    """Draws `count` tokens behind each prompt (of any lengths), all together with a cache; all
    tokens of each sequence, and the log-probabilities of those drawn."""
    ops, lengths = model.ops, [len(x) for x in prompts]
    cache = models.Cache(model, len(prompts), max(lengths) + count)
    ids, counts, drawn, found = torch.cat(prompts), lengths, [], []
    with torch.inference_mode():
        for _ in range(count):
            place = cache.next(counts)
            logits = model(ids, place)[place.q_starts[2::2].long() - 1]
            ids = torch.multinomial(logits.float().softmax(-1), 1).flatten()
            found.append(-ops.cross_entropy(logits, ids, reduction="none"))
            drawn.append(ids)
            counts = [1] * len(prompts)
    drawn, found = torch.stack(drawn, 1), torch.stack(found, 1)
    return [torch.cat(x) for x in zip(prompts, drawn)], found


def in_training(model, sequences, count):
    """The log-probabilities of the last `count` tokens of sequences, packed, with gradients."""
    place = models.side_by_side([len(x) - 1 for x in sequences], sequences[0].device)
    ids, targets = (torch.cat([x[part] for x in sequences]) for part in (slice(-1), slice(1, None)))
    found = model.log_probabilities(ids, targets, place)
    assert found.requires_grad
    parts = found.detach().split([len(x) - 1 for x in sequences])
    return torch.stack([x[-count:] for x in parts])


def compare(name, model, o):
    draw = torch.Generator().manual_seed(1)
    text, longest = common.text(o.device), o.length - o.count
    prompts = []
    for _ in range(o.batch):
        n, at = torch.randint(1, longest + 1, (2,), generator=draw).tolist()
        prompts.append(text[at : at + n])
    sequences, rollout = draw_tokens(model, prompts, o.count)
    training = in_training(model, sequences, o.count)
    alone = torch.cat([in_training(model, [x], o.count) for x in sequences[: o.alone]])
    ratio = (training - rollout).exp()
    print(
        f"{name}: {o.batch * o.count} tokens; rollout and training differ in"
        f" {(training != rollout).sum().item()}, ratios {ratio.min():.6f} to {ratio.max():.6f};"
        f" training's batch and batches of one in {(training[: o.alone] != alone).sum().item()}"
    )


def seconds_of(step, device, count):
    """Of a step, without what Python costs on a card: a graph is replayed there."""
    step()
    if device == "cpu":
        began = time.perf_counter()
        for _ in range(count):
            step()
        return (time.perf_counter() - began) / count
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    graph.replay()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(count):
        graph.replay()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / 1000 / count


def costs(model, o):
    """Seconds of a training's step, a prompt's pass and a decoding step, with each promise."""
    count = 10 if o.device == "cpu" else 50
    ids = torch.randint(0, 256, (o.batch, o.length + 1), device=o.device)
    steps = {}

    def training():
        model.log_probabilities(ids[:, :-1], ids[:, 1:]).sum().backward()

    steps[f"training, {o.batch} x {o.length} tokens"] = training
    for batch in sorted({1, o.batch}):
        cache = models.Cache(model, batch, o.length)
        cache.lengths = [o.length - 1] * batch
        place, tokens = cache.next([1] * batch), ids[:batch, 0]

        def decoding(tokens=tokens, place=place):
            with torch.no_grad():
                model(tokens, place)

        steps[f"decoding, {batch} x 1 token after {o.length - 1}"] = decoding
    for name, step in steps.items():
        found = []
        for kind in "run", "row":
            with tk.repeat(kind):
                found.append(seconds_of(step, o.device, count))
        run, row = found
        print(
            f'{name}: {1e3 * run:.3f} ms, with repeat("row") {1e3 * row:.3f} ms, {row / run:.3f}x'
        )


def main():
    o = common.options(
        __doc__,
        batch=(4, 32),
        length=(96, 1024),
        count=(24, 128),
        alone=(4, 8),
        width=(128, 2048),
        layers=(2, 8),
    )
    heads = max(o.width // 128, 2)

    def model_of(ops):
        torch.manual_seed(0)
        model = models.llama(ops, o.width, heads, max(heads // 4, 1), o.length, layers=o.layers)
        return model.to(o.device, torch.bfloat16)

    with tk.repeat("row"):
        compare("TK", model_of(tk), o)
    compare("eager", model_of(eager), o)
    costs(model_of(tk), o)


main()
