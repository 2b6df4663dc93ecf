"""The checkpoint variants whose outputs make_goldens.py writes: one per switch of cohere2_moe.

Sizes are tiny and deliberately uneven; each variant has layers with and without a window, and a
window shorter than its prompts. Where `heads * head_dim` differs from `hidden_size`, that is on
purpose too.
"""

FULL, SLIDING = "full_attention", "sliding_attention"
DENSE, SPARSE = "dense", "sparse"

_COMMON = dict(
    vocab_size=96,
    hidden_size=48,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=16,
    intermediate_size=12,
    prefix_dense_intermediate_size=32,
    prefix_dense_sliding_window_pattern=1,
    num_experts=6,
    num_experts_per_tok=3,
    num_shared_experts=0,
    sliding_window=5,
    rope_theta=100.0,
    max_position_embeddings=256,
    rms_norm_eps=1e-6,
    layer_norm_eps=1e-5,
    expert_selection_fn="sigmoid",
    norm_topk_prob=True,
    shared_expert_combination_strategy="average",
    tie_word_embeddings=True,
    logit_scale=0.5,
    pad_token_id=0,
    bos_token_id=1,
    eos_token_id=2,
)


def _variant(layers, **changes):
    """`layers`: (attention, mlp) per layer."""
    config = _COMMON | changes
    config["num_hidden_layers"] = len(layers)
    config["layer_types"] = [attention for attention, _ in layers]
    config["mlp_layer_types"] = [mlp for _, mlp in layers]
    return config


VARIANTS = {
    # LayerNorm, renormalised scores, two shared experts averaged in, every second layer global.
    "variant-layernorm-shared": _variant(
        [(SLIDING, SPARSE), (FULL, SPARSE), (SLIDING, SPARSE), (FULL, SPARSE)],
        rms_norm_eps=None,
        num_shared_experts=2,
        sliding_window_pattern=2,
    ),
    # Softmax router, shared expert summed, untied head; a dense prefix of two layers whose own
    # window pattern is 2, so that its global layer does not rotate.
    "variant-softmax-untied": _variant(
        [(SLIDING, DENSE), (FULL, DENSE), (SLIDING, SPARSE), (FULL, SPARSE)],
        prefix_dense_sliding_window_pattern=2,
        expert_selection_fn="softmax",
        num_shared_experts=1,
        shared_expert_combination_strategy="sum",
        tie_word_embeddings=False,
        logit_scale=0.25,
    ),
    # North Mini Code's own switches: sigmoid scores that are not renormalised, logit_scale 1.
    "variant-north": _variant(
        [(FULL, DENSE), (SLIDING, SPARSE), (SLIDING, SPARSE), (SLIDING, SPARSE), (FULL, SPARSE)],
        norm_topk_prob=False,
        logit_scale=1.0,
    ),
    # A dense layer outside the prefix; being global, it rotates like one inside.
    "variant-dense-inside": _variant(
        [(FULL, DENSE), (SLIDING, SPARSE), (FULL, DENSE), (FULL, SPARSE)],
        norm_topk_prob=False,
    ),
    # Nothing is a multiple of 8 x 64 tiles, and the query is wider than the stream.
    "variant-odd-sizes": _variant(
        [(FULL, DENSE), (SLIDING, SPARSE), (FULL, SPARSE)],
        vocab_size=101,
        hidden_size=72,
        num_attention_heads=6,
        num_key_value_heads=2,
        head_dim=16,
        intermediate_size=20,
        prefix_dense_intermediate_size=36,
        num_experts=5,
        num_experts_per_tok=2,
        sliding_window=7,
    ),
    # Command A+: no dense prefix, LayerNorm, four shared experts averaged in.
    "variant-command-a-plus": _variant(
        [(SLIDING, SPARSE), (SLIDING, SPARSE), (SLIDING, SPARSE), (FULL, SPARSE)],
        rms_norm_eps=None,
        num_attention_heads=8,
        num_key_value_heads=2,
        head_dim=8,
        intermediate_size=8,
        num_experts=8,
        num_experts_per_tok=2,
        num_shared_experts=4,
        rope_theta=50000.0,
        logit_scale=0.25,
    ),
}


def parameter_count(config):
    """What the checkpoint must hold; checked against the model that transformers builds."""
    hidden = config["hidden_size"]
    q = config["num_attention_heads"] * config["head_dim"]
    kv = config["num_key_value_heads"] * config["head_dim"]
    total = config["vocab_size"] * hidden * (1 if config["tie_word_embeddings"] else 2) + hidden
    for mlp in config["mlp_layer_types"]:
        total += hidden + 2 * hidden * (q + kv)
        if mlp == DENSE:
            total += 3 * hidden * config["prefix_dense_intermediate_size"]
        else:
            experts = config["num_experts"] + config["num_shared_experts"]
            total += 3 * hidden * config["intermediate_size"] * experts
            total += hidden * config["num_experts"]
    return total
