"""Writes a checkpoint folder by transformers' own class and compares its logits with the trainer's.

    python3 export.py RAW.safetensors OUT       RAW: parameters, probe.ids and probe.logits
"""

import copy
import json
import sys
from pathlib import Path

import safetensors.torch
import torch
import transformers
from transformers import Cohere2MoeConfig, Cohere2MoeForCausalLM

import settings


def main():
    raw, out = sys.argv[1:]
    tensors = safetensors.torch.load_file(raw)
    ids, ours = tensors.pop("probe.ids"), tensors.pop("probe.logits")
    theirs = Cohere2MoeForCausalLM(Cohere2MoeConfig(**settings.CONFIG)).float().eval()
    state = {name: t.to(torch.bfloat16).float() for name, t in tensors.items()}
    missing, unexpected = theirs.load_state_dict(state, strict=False)
    assert not unexpected and set(missing) <= {"lm_head.weight"}, (missing, unexpected)
    theirs.tie_weights()
    copy.deepcopy(theirs).to(torch.bfloat16).save_pretrained(out, max_shard_size="14MB")
    path = Path(out) / "generation_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"do_sample": False, "temperature": 0.0}, indent=2) + "\n")
    with torch.no_grad():
        reference = theirs(input_ids=ids[None], use_cache=False).logits[0]
    norm = (ours - reference).norm() / reference.norm()
    agree = (ours.argmax(-1) == reference.argmax(-1)).float().mean()
    print(f"== transformers {transformers.__version__} in float32 against training in bfloat16, {len(ids)} tokens: "
          f"relative difference {norm:.4f}, the same likeliest token {agree:.4f}", flush=True)


if __name__ == "__main__":
    main()
