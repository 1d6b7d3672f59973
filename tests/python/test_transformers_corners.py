# SPDX-License-Identifier: MIT
"""tk_ops.transformers where models differ from Llama: tables of a part of a head, decoders that
"sdpa" does not know, packed layers that see both ways, modules that are saved, hooked or odd."""

import copy
import io

import pytest

torch = pytest.importorskip("torch")
tf = pytest.importorskip("transformers")

import tk_ops.transformers as tkt  # noqa: E402

torch.set_num_threads(1)
tkt.register()
SIZES = {
    "vocab_size": 97,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "initializer_range": 0.125,
}
IDS = torch.arange(3, 24)[None]


def distance(x, y):
    return ((x - y).norm() / y.norm()).item()


def llama(**options):
    return tf.LlamaForCausalLM(tf.LlamaConfig(**SIZES, **options)).bfloat16().eval()


@pytest.mark.parametrize(
    "of",
    [
        lambda: tf.GPTNeoXForCausalLM(tf.GPTNeoXConfig(**SIZES)),
        lambda: tf.Phi3ForCausalLM(
            tf.Phi3Config(**SIZES, pad_token_id=0, partial_rotary_factor=0.5)
        ),
        lambda: tf.LlamaForCausalLM(tf.LlamaConfig(**SIZES)),
    ],
)
def test_tables_of_a_part_of_a_head(of):
    torch.manual_seed(0)
    model = of().eval()
    want = model(IDS).logits
    assert tkt.replace(model).replaced["apply_rotary_pos_emb"] == 1
    assert distance(model(IDS).logits, want) < 1e-5


def test_a_decoder_that_sdpa_does_not_know_is_causal():
    config = tf.PegasusXConfig(
        vocab_size=97,
        d_model=64,
        encoder_layers=1,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        init_std=0.125,
        block_size=8,
        num_global_tokens=4,
        stagger_local_blocks=False,
    )
    model = tf.PegasusXForConditionalGeneration(config).bfloat16().eval()
    model.set_attn_implementation("tk")
    tokens = torch.arange(30, 42)[None]
    others = tokens.clone()
    others[0, -1] = 50
    x = torch.arange(3, 19)[None]
    first, second = (model(x, decoder_input_ids=y).logits for y in (tokens, others))
    assert torch.equal(first[:, :-1], second[:, :-1])
    assert not torch.equal(first, second)


def test_packed_windows():
    """Both ways where the layer is not causal, as FlashAttention has them."""
    q, k, v = torch.randn(3, 1, 2, 21, 16, dtype=torch.bfloat16)
    starts = torch.tensor([0, 9, 21], dtype=torch.int32)
    packed = {"cu_seq_lens_q": starts, "cu_seq_lens_k": starts, "sliding_window": 3}
    place = torch.arange(21)
    same = (place < 9)[:, None] == (place < 9)
    near = (place[:, None] - place).abs() < 3
    for is_causal in True, False:
        seen = same & near & (place <= place[:, None] if is_causal else True)
        got, _ = tkt.attention_forward(None, q, k, v, None, is_causal=is_causal, **packed)
        want = torch.nn.functional.scaled_dot_product_attention(q, k, v, seen)
        assert distance(got.float(), want.transpose(1, 2).float()) < 0.01
    with pytest.raises(ValueError, match="batch of 1"):
        two = (x.expand(2, -1, -1, -1) for x in (q, k, v))
        tkt.attention_forward(None, *two, None, is_causal=True, **packed)


def test_what_changes_scores_is_refused():
    q = torch.randn(1, 2, 5, 16, dtype=torch.bfloat16)
    tkt.attention_forward(None, q, q, q, None, is_causal=True, output_attentions=False, sinks=None)
    with pytest.raises(NotImplementedError, match="sinks"):
        tkt.attention_forward(None, q, q, q, None, is_causal=True, sinks=torch.ones(2))


def test_a_model_is_saved_and_copied_with_what_was_replaced():
    model = llama()
    tkt.replace(model)
    want = model(IDS).logits
    file = io.BytesIO()
    torch.save(model, file)
    file.seek(0)
    for other in torch.load(file, weights_only=False), copy.deepcopy(model):
        assert torch.equal(other(IDS).logits, want)
        assert other.lm_head.forward.args[0] is other.lm_head


def test_replicas_have_weights_of_their_own():
    """Those of torch.nn.DataParallel, of which a CPU has none."""
    model = llama()
    tkt.replace(model)
    x = torch.randn(2, 64, dtype=torch.bfloat16)
    for module in model.lm_head, model.model.norm:
        replica = module._replicate_for_data_parallel()
        for name, y in module._parameters.items():
            setattr(replica, name, None if y is None else torch.zeros_like(y))
        assert module(x).any() and not replica(x).any()


def test_hooks_of_accelerate_stay():
    accelerate = pytest.importorskip("accelerate")
    model = llama()
    want = model(IDS).logits
    model = accelerate.cpu_offload(model, execution_device=torch.device("cpu"))
    assert not tkt.replace(model).replaced["Linear"]
    assert torch.equal(model(IDS).logits, want)


def test_what_cannot_be_replaced_is_kept():
    Norm = type("MyRMSNorm", (torch.nn.Module,), {})  # noqa: N806
    odd = Norm()
    odd.weight = torch.nn.Parameter(torch.ones(8))
    for module in (
        torch.nn.Sequential(torch.nn.RMSNorm(16, elementwise_affine=False), odd),
        torch.nn.Sequential(torch.nn.Embedding(4, 8, max_norm=1.0)),
        torch.nn.Sequential(),
    ):
        assert not tkt.replace(module).replaced
    before = torch.get_rng_state()
    tkt.replace(torch.nn.Sequential(torch.nn.RMSNorm(16)))
    assert torch.equal(torch.get_rng_state(), before)


def test_the_nearest_norm_is_taken():
    gemma3 = pytest.importorskip("transformers.models.gemma3.modeling_gemma3")
    norm = gemma3.Gemma3RMSNorm(256)
    norm.weight.data.fill_(80.0)
    x = torch.randn(8, 256)
    want = norm(x)
    tkt.replace(norm)
    assert distance(norm(x), want) < 1e-6
