# SPDX-License-Identifier: MIT
"""Training models of transformers with TK's attention and layers: checkpoints, sinks, autocast, and
transformers' own loop. The models are small and their weights random; limits are those of
test_transformers.py."""

import copy
import importlib.util
import itertools
import os
import sys

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
from test_transformers import CONFIGS, SIZES, check  # noqa: E402

import tk_ops.transformers  # noqa: E402

# Newer ones of transformers have another name for gradient_checkpointing.
pytestmark = pytest.mark.filterwarnings("ignore:.gradient_checkpointing:FutureWarning")
DEVICE = os.environ.get("TK_TORCH_DEVICE", "cpu")
CONFIGS = CONFIGS | {"qwen3": lambda: transformers.Qwen3Config(**SIZES)}


def model_of(config, dtype=torch.bfloat16):
    """With weights that are large enough for attention that is not uniform."""
    torch.manual_seed(0)
    model = transformers.AutoModelForCausalLM.from_config(
        config, dtype=dtype, attn_implementation="eager"
    )
    for x in model.parameters():
        x.data = (torch.randn_like(x) * (0.125 if x.dim() > 1 else 1)).to(x.dtype)
    return model.train()


@pytest.fixture
def kinds_of(monkeypatch):
    """Copies of a model, one after the other: in fp32, as it is, with TK's attention and layers.
    What is TK's of the model's file, too, is so from the last one to the end of the test."""

    def kinds_of(model):
        yield copy.deepcopy(model).float()
        yield copy.deepcopy(model)
        ours, place = copy.deepcopy(model), sys.modules[type(model).__module__]
        for name in tk_ops.transformers.FUNCTIONS:
            if hasattr(place, name):
                monkeypatch.setattr(place, name, getattr(place, name))
        ours.set_attn_implementation("tk")
        report = tk_ops.transformers.replace(ours)
        assert sum(report.replaced.values()) > 5, str(report)
        yield ours

    return kinds_of


def tokens():
    torch.manual_seed(1)
    return torch.randint(1, 97, (2, 21))


def gradients_of(model, ids):
    """All of them, by name, of the loss of ids."""
    model.zero_grad()
    torch.manual_seed(2)
    model(ids, labels=ids, use_cache=False).loss.backward()
    return {name: x.grad.clone() for name, x in model.named_parameters()}


@pytest.mark.parametrize("reentrant", (False, True))
@pytest.mark.parametrize("name", ("llama", "gpt_oss"))
def test_gradient_checkpointing(name, reentrant, kinds_of):
    """Layers that run again in the backward pass drop what they dropped, and give the same
    gradients, bit for bit."""
    config, runs = CONFIGS[name](), []
    config.attention_dropout = 0.25
    *_, ours = kinds_of(model_of(config))
    ours.model.layers[0].self_attn.register_forward_hook(lambda *_: runs.append(1))
    wanted = gradients_of(ours, tokens())
    assert len(runs) == 1
    ours.gradient_checkpointing_enable({"use_reentrant": reentrant})
    found = gradients_of(ours, tokens())
    assert len(runs) == 3
    for x, gradient in wanted.items():
        assert gradient.isfinite().all() and torch.equal(found[x], gradient), x


def test_sinks(kinds_of):
    """The gradients of GPT-OSS's sinks, and of all else of its attention."""
    found = [gradients_of(x, tokens()) for x in kinds_of(model_of(CONFIGS["gpt_oss"]()))]
    for part in "sinks", "q_proj", "k_proj", "v_proj":
        names = [x for x in found[0] if part in x and x.endswith(("sinks", "weight"))]
        assert len(names) == 2
        check(*(torch.cat([x[y].flatten().double() for y in names]) for x in found))


@pytest.mark.parametrize("name", ("llama", "qwen3", "gpt_oss"))
def test_autocast(name, kinds_of):
    """Weights in fp32 under autocast: gradients are as near to those without it as eager's are, and
    losses of an optimiser's steps follow."""
    model, ids, found = model_of(CONFIGS[name](), torch.float32), tokens(), []
    for kind, this in enumerate(kinds_of(model)):
        optimizer, losses = torch.optim.AdamW(this.parameters(), 3e-3), []
        for step in range(3):
            optimizer.zero_grad()
            with torch.autocast(ids.device.type, torch.bfloat16, enabled=kind > 0):
                loss = this(ids, labels=ids, use_cache=False).loss
            loss.backward()
            losses.append(loss.detach())
            if step == 0:
                assert all(x.grad.dtype == torch.float32 for x in this.parameters())
                gradients = torch.cat([x.grad.flatten() for x in this.parameters()])
            optimizer.step()
        found.append((gradients, torch.stack(losses)))
    check(*(x for x, _ in found))
    exact, _, ours = (x for _, x in found)
    assert (ours / exact - 1).abs().max() <= 0.01 and exact[2] < 0.9 * exact[0]


@pytest.mark.skipif(
    not importlib.util.find_spec("accelerate"), reason="transformers.Trainer needs accelerate"
)
def test_trainer(kinds_of, tmp_path):
    """Three steps of transformers' Trainer, with its checkpoints and in bf16, follow eager's."""
    found = []
    with torch.device("cpu"):
        model = model_of(CONFIGS["llama"](), torch.float32)
        rows = [{"input_ids": x, "labels": x} for x in tokens().repeat(6, 1)]
        for this in itertools.islice(kinds_of(model), 1, None):
            options = transformers.TrainingArguments(
                tmp_path,
                max_steps=3,
                per_device_train_batch_size=2,
                learning_rate=5e-3,
                lr_scheduler_type="constant",
                logging_steps=1,
                save_strategy="no",
                report_to=[],
                disable_tqdm=True,
                bf16=True,
                gradient_checkpointing=True,
                use_cpu=DEVICE == "cpu",
            )
            trainer = transformers.Trainer(this, options, train_dataset=rows)
            trainer.train()
            found.append([x for x in trainer.state.log_history if "loss" in x])
    eager, ours = found
    assert len(eager) == len(ours) == 3 and eager[2]["loss"] < 0.9 * eager[0]["loss"]
    for x, y in zip(ours, eager):
        assert x["loss"] == pytest.approx(y["loss"], rel=0.01)
        assert x["grad_norm"] == pytest.approx(y["grad_norm"], rel=0.05)
