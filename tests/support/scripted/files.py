"""The files of a checkpoint."""
import json
import os
import struct

from markers import BOS_ID, EOT
from template import chat_template
from tokenizer import tokenizer_json
from weights import EXPERTS, HEADS, HEAD_DIM, KV_HEADS, TOP_K, tensors


def config(machine):
    return {
        "architectures": ["Cohere2MoeForCausalLM"], "attention_bias": False, "attention_dropout": 0.0,
        "bos_token_id": BOS_ID, "dtype": "bfloat16", "eos_token_id": machine.vocab.ids[EOT],
        "expert_selection_fn": "sigmoid", "first_k_dense_replace": 1, "head_dim": HEAD_DIM, "hidden_act": "silu",
        "hidden_size": machine.hidden, "initializer_range": 0.02, "intermediate_size": machine.expert,
        "layer_norm_eps": 1e-05, "layer_types": machine.layer_types, "logit_scale": 1.0,
        "max_position_embeddings": machine.context,
        "mlp_layer_types": ["dense"] + ["sparse"] * (machine.layers - 1), "model_type": "cohere2_moe",
        "norm_topk_prob": False, "num_attention_heads": HEADS, "num_experts": EXPERTS,
        "num_experts_per_tok": TOP_K, "num_hidden_layers": machine.layers, "num_key_value_heads": KV_HEADS,
        "num_shared_experts": 0, "pad_token_id": 0, "prefix_dense_intermediate_size": machine.dense,
        "prefix_dense_sliding_window_pattern": 1, "rms_norm_eps": 1e-06,
        "rope_parameters": {"rope_theta": 50000.0, "rope_type": "default"}, "rope_scaling": None,
        "rope_theta": 50000.0, "sliding_window": machine.window, "tie_word_embeddings": False,
        "use_cache": True, "vocab_size": machine.vocab_size,
    }


def write(machine, folder):
    os.makedirs(folder, exist_ok=True)

    def dump(name, value):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            json.dump(value, f, indent=1, ensure_ascii=False)
            f.write("\n")

    dump("config.json", config(machine))
    dump("generation_config.json", {"bos_token_id": BOS_ID, "eos_token_id": machine.vocab.ids[EOT], "pad_token_id": 0})
    dump("tokenizer.json", tokenizer_json(machine.vocab, machine.pieces))
    dump("tokenizer_config.json", {
        "add_bos_token": True, "add_eos_token": False, "add_prefix_space": False, "bos_token": "<BOS_TOKEN>",
        "eos_token": EOT, "pad_token": "<PAD>", "unk_token": "<UNK>", "clean_up_tokenization_spaces": False,
        "model_max_length": machine.context, "tokenizer_class": "PreTrainedTokenizerFast"})
    with open(os.path.join(folder, "chat_template.jinja"), "w", encoding="utf-8") as f:
        f.write(chat_template([s for s in machine.scripts if s.token], machine.dispatch))
    header, at, blobs = {"__metadata__": {"format": "pt"}}, 0, []
    for name, shape, data in tensors(machine):
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
        blobs.append(data)
    head = json.dumps(header, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)
    with open(os.path.join(folder, "model.safetensors"), "wb") as f:
        f.write(struct.pack("<Q", len(head)) + head)
        for data in blobs:
            f.write(data)
