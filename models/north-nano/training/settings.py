"""Sizes of the model and the recipe of each training stage."""

LAYERS = 13
FULL = [i % 4 == 0 for i in range(LAYERS)]

CONFIG = dict(
    vocab_size=6144,
    hidden_size=384,
    num_hidden_layers=LAYERS,
    num_attention_heads=6,
    num_key_value_heads=2,
    head_dim=64,
    intermediate_size=64,
    prefix_dense_intermediate_size=768,
    prefix_dense_sliding_window_pattern=1,
    first_k_dense_replace=1,
    num_experts=8,
    num_experts_per_tok=4,
    num_shared_experts=0,
    layer_types=["full_attention" if full else "sliding_attention" for full in FULL],
    mlp_layer_types=["dense"] + ["sparse"] * (LAYERS - 1),
    sliding_window=512,
    sliding_window_pattern=4,
    rope_theta=50000.0,
    max_position_embeddings=16384,
    rms_norm_eps=1e-6,
    layer_norm_eps=1e-5,
    attention_bias=False,
    attention_dropout=0.0,
    hidden_act="silu",
    initializer_range=0.02,
    expert_selection_fn="sigmoid",
    norm_topk_prob=False,
    shared_expert_combination_strategy="average",
    tie_word_embeddings=True,
    logit_scale=1.0,
    use_cache=True,
    pad_token_id=0,
    bos_token_id=2,
    eos_token_id=6144 - 12,  # <|END_OF_TURN_TOKEN|>, checked against the tokenizer
)

LENGTH = 8192  # tokens of a packed row, and of the longest document
ROWS = 16  # rows in a step

# What a token counts in the loss: nothing, in a prompt, in plain text, in an answer.
NOTHING, PROMPT, PLAIN, ANSWER = range(4)
LOSS_WEIGHTS = [0.0, 0.1, 0.5, 1.0]

# Per stage: shares of tokens by generator, peak learning rates (Muon, AdamW), and the share of the
# time in which they go down, to what part of the peak.
STAGES = {
    1: dict(mix=dict(text=0.15, python=0.30, tools=0.25, agent=0.12, chat=0.05, needle=0.13),
            rates=(0.02, 0.004), cool_down=(0.2, 0.1)),
    2: dict(mix=dict(text=0.04, python=0.22, tools=0.38, agent=0.20, chat=0.06, needle=0.10),
            rates=(0.018, 0.0036), cool_down=(0.2, 0.1)),
}
