"""The cohere2_moe forward pass as plain functions over a dictionary of parameters.

Parameters carry the names and shapes that transformers gives them in memory, so a checkpoint needs
no renaming. Every expert is evaluated for every token and masked by the router: with eight small
experts two large matrix products beat any sorting of tokens. Activations are bfloat16, parameters
float32, norms and losses float32.
"""

import math

import torch
import torch.nn.functional as F

EMBEDDING, FINAL_NORM = "model.embed_tokens.weight", "model.norm.weight"


def layer_name(index, rest):
    return f"model.layers.{index}.{rest}"


def shapes(config):
    """Name -> shape of every parameter."""
    hidden, width = config["hidden_size"], config["intermediate_size"]
    experts, dense = config["num_experts"], config["prefix_dense_intermediate_size"]
    q = config["num_attention_heads"] * config["head_dim"]
    kv = config["num_key_value_heads"] * config["head_dim"]
    result = {EMBEDDING: (config["vocab_size"], hidden), FINAL_NORM: (hidden,)}
    for i, mlp in enumerate(config["mlp_layer_types"]):
        parts = {
            "input_layernorm.weight": (hidden,),
            "self_attn.q_proj.weight": (q, hidden),
            "self_attn.k_proj.weight": (kv, hidden),
            "self_attn.v_proj.weight": (kv, hidden),
            "self_attn.o_proj.weight": (hidden, q),
        }
        if mlp == "dense":
            parts |= {
                "mlp.gate_proj.weight": (dense, hidden),
                "mlp.up_proj.weight": (dense, hidden),
                "mlp.down_proj.weight": (hidden, dense),
            }
        else:
            parts |= {
                "mlp.gate.weight": (experts, hidden),
                "mlp.experts.gate_up_proj": (experts, 2 * width, hidden),
                "mlp.experts.down_proj": (experts, hidden, width),
            }
        result |= {layer_name(i, name): shape for name, shape in parts.items()}
    return result


def initialize(config, seed, device):
    random = torch.Generator().manual_seed(seed)
    parameters = {}
    for name, shape in shapes(config).items():
        if name.endswith("norm.weight"):
            value = torch.ones(shape)
        else:
            std = 1 / math.sqrt(shape[-1])
            if name == EMBEDDING:
                std = 0.04
            elif name.endswith(("o_proj.weight", "down_proj.weight", "down_proj")):
                std *= 0.1
            value = torch.randn(shape, generator=random) * std
        parameters[name] = value.to(device).requires_grad_()
    return parameters


def rotation(length, config, device):
    """cos and sin, [length, head_dim / 2] float32."""
    dim = config["head_dim"]
    frequency = config["rope_theta"] ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    angle = torch.arange(length, dtype=torch.float64)[:, None] * frequency
    return angle.cos().float().to(device), angle.sin().float().to(device)


def rms_norm(x, weight):
    x32 = x.float()
    return (x32 * torch.rsqrt(x32.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * weight.to(x.dtype)


def linear(x, weight):
    return F.linear(x, weight.to(x.dtype))


def rotate(x, cos, sin):
    """Pairs (2i, 2i + 1); x [batch, heads, length, head_dim]."""
    a, b = x.float().unflatten(-1, (-1, 2)).unbind(-1)
    return torch.stack((a * cos - b * sin, b * cos + a * sin), -1).flatten(-2).to(x.dtype)


def before_attention(x, norm, wq, wk, wv, cos, sin, head_dim, rotates):
    n = rms_norm(x, norm)
    q, k, v = (linear(n, w).unflatten(-1, (-1, head_dim)).transpose(1, 2) for w in (wq, wk, wv))
    if rotates:
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
    return n, q, k, v.contiguous()


def after_attention_dense(x, n, attention, wo, gate, up, down):
    attention = linear(attention.transpose(1, 2).flatten(-2), wo)
    return x + attention + linear(F.silu(linear(n, gate)) * linear(n, up), down)


def after_attention_sparse(x, n, attention, wo, router, gate_up, down, chosen):
    """Also returns the balance loss, 1 when all experts are used alike, and the use of each."""
    attention = linear(attention.transpose(1, 2).flatten(-2), wo)
    experts, twice, hidden = gate_up.shape
    width = twice // 2
    logits = linear(n, router).float()
    kept = torch.zeros_like(logits).scatter(-1, logits.topk(chosen, dim=-1).indices, 1.0)
    scores = logits.sigmoid()
    weights = (scores * kept).to(x.dtype)
    use = kept.flatten(0, -2).mean(0) / chosen
    shares = (scores / scores.sum(-1, keepdim=True)).flatten(0, -2).mean(0)
    balance = experts * (use * shares).sum()
    gate = linear(n, gate_up[:, :width].reshape(-1, hidden))
    up = linear(n, gate_up[:, width:].reshape(-1, hidden))
    inner = (F.silu(gate) * up).unflatten(-1, (experts, width)) * weights[..., None]
    mixed = linear(inner.flatten(-2), down.permute(1, 0, 2).reshape(hidden, -1))
    return x + attention + mixed, balance, use


def token_losses(x, norm, embedding, targets, scale):
    """Cross entropy of each position, float32; and whether the likeliest token is the target."""
    logits = (linear(rms_norm(x, norm), embedding).float() * scale).flatten(0, -2)
    loss = F.cross_entropy(logits, targets.flatten(), reduction="none")
    return loss.view_as(targets), (logits.argmax(-1) == targets.flatten()).view_as(targets)


class Model:
    """`compiler` wraps the pieces between attentions (torch.compile on a GPU)."""

    def __init__(self, config, parameters, attention, compiler=lambda f: f):
        self.config, self.parameters, self.attention = config, parameters, attention
        self.before = compiler(before_attention)
        self.after_dense = compiler(after_attention_dense)
        self.after_sparse = compiler(after_attention_sparse)
        self.losses = compiler(token_losses)
        self.tables = None

    def hidden(self, tokens, documents):
        """Tokens and document numbers [batch, length] -> the stream before the last norm, and
        the mean balance loss, and the largest use of one expert in any layer."""
        config, p = self.config, self.parameters
        if self.tables is None or self.tables[0].shape[0] != tokens.shape[1]:
            self.tables = rotation(tokens.shape[1], config, tokens.device)
        masks = self.attention.masks(documents)
        x = F.embedding(tokens, p[EMBEDDING]).to(torch.bfloat16)
        balances, most = [], []
        for i, (kind, mlp) in enumerate(zip(config["layer_types"], config["mlp_layer_types"])):
            part = lambda name: p[layer_name(i, name)]
            sliding = kind == "sliding_attention"
            n, q, k, v = self.before(
                x, part("input_layernorm.weight"), part("self_attn.q_proj.weight"),
                part("self_attn.k_proj.weight"), part("self_attn.v_proj.weight"),
                *self.tables, config["head_dim"], sliding or mlp == "dense")
            a = self.attention(q, k, v, masks, sliding)
            wo = part("self_attn.o_proj.weight")
            if mlp == "dense":
                x = self.after_dense(x, n, a, wo, part("mlp.gate_proj.weight"),
                                     part("mlp.up_proj.weight"), part("mlp.down_proj.weight"))
            else:
                x, balance, use = self.after_sparse(
                    x, n, a, wo, part("mlp.gate.weight"), part("mlp.experts.gate_up_proj"),
                    part("mlp.experts.down_proj"), config["num_experts_per_tok"])
                balances.append(balance)
                most.append(use.detach().max())
        return x, torch.stack(balances).mean(), torch.stack(most).max()

    def token_losses(self, x, targets):
        p = self.parameters
        return self.losses(x, p[FINAL_NORM], p[EMBEDDING], targets, self.config["logit_scale"])

    def logits(self, x):
        """x [..., hidden] -> float32 logits."""
        p = self.parameters
        scale = self.config["logit_scale"]
        return linear(rms_norm(x, p[FINAL_NORM]), p[EMBEDDING]).float() * scale
