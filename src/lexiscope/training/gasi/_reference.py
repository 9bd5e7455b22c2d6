"""The bound in torch, with its gradients by autograd: what the compiled kernel must equal, and the path of a GPU.

Nothing here is shared with the kernel. A batch of windows is learnt at once: all gradients of a batch are taken at the
same vectors and summed, where the kernel goes window by window.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lexiscope.core.errors import require


@dataclass(frozen=True, slots=True)
class Windows:
    """A batch of windows as torch tensors.

    *Shape:* centres (windows,); context and negatives (windows, most), -1 where a window has fewer; weight (windows,),
    of each negative; noise (windows, senses), β g.
    """

    centres: Any
    context: Any
    negatives: Any
    weight: Any
    noise: Any


def attention(logits: Any, noise: Any, mask: Any, sharpness: float) -> Any:
    """Return γ = softmax((c̄·s + β g) / τ) over the senses that are there. *Source:* eq. 8, 10, 12."""
    torch = require("torch", "train")
    return torch.softmax(((logits + noise) * sharpness).masked_fill(~mask, -torch.inf), dim=-1)


def bound(senses: Any, context: Any, negatives: Any, windows: Windows, mask: Any, sharpness: float) -> Any:
    """Return the bound Σ_k γ_k Q_k of each window, from the vectors that it uses. *Source:* eq. 14-16.

    *Shape:* senses (windows, K, d); context and negatives (windows, most, d); mask (windows, K).
    """
    torch = require("torch", "train")
    log_sigma = torch.nn.functional.logsigmoid
    there = (windows.context >= 0).to(senses.dtype)
    drawn = (windows.negatives >= 0).to(senses.dtype) * windows.weight[:, None]
    mean = (context * there[..., None]).sum(1) / there.sum(1)[:, None]
    gamma = attention((senses * mean[:, None]).sum(-1), windows.noise, mask, sharpness)
    positive = (log_sigma(torch.einsum("bkd,bjd->bkj", senses, context)) * there[:, None]).sum(-1)
    negative = (log_sigma(-torch.einsum("bkd,bjd->bkj", senses, negatives)) * drawn[:, None]).sum(-1)
    return (gamma * (positive + negative)).sum(-1)


def exact(senses: Any, context: Any, windows: Windows, outputs: Any, mask: Any) -> Any:
    """Return Σ_c log Σ_k P(c | s_k) P(s_k | c̄) of each window with the full softmax over *outputs* (V, d), eq. 14.

    What the bound bounds from below; for tiny vocabularies.
    """
    torch = require("torch", "train")
    there = (windows.context >= 0).to(senses.dtype)
    mean = (context * there[..., None]).sum(1) / there.sum(1)[:, None]
    gamma = attention((senses * mean[:, None]).sum(-1), windows.noise, mask, 1.0)
    log_p = torch.log_softmax(senses @ outputs.T, dim=-1)
    chosen = torch.gather(log_p, 2, windows.context.clamp(min=0)[:, None].expand(-1, senses.shape[1], -1))
    return (torch.logsumexp(chosen + torch.log(gamma)[..., None], dim=1) * there).sum(-1)


def learn_batch(vectors: tuple[Any, Any], mask: Any, windows: Windows, *, rate: float, sharpness: float) -> Any:
    """Learn a batch: *vectors* (senses, contexts) change in place by the summed gradients; returns the bounds."""
    senses, contexts = vectors
    torch = require("torch", "train")
    context, negatives = windows.context.clamp(min=0), windows.negatives.clamp(min=0)
    rows = [senses[windows.centres], contexts[context], contexts[negatives]]
    for each in rows:
        each.requires_grad_(True)
    with torch.enable_grad():
        found = bound(rows[0], rows[1], rows[2], windows, mask[windows.centres], sharpness)
        gradients = torch.autograd.grad(found.sum(), rows)
    width = contexts.shape[1]
    senses.index_add_(0, windows.centres, gradients[0], alpha=rate)
    contexts.index_add_(0, context.reshape(-1), gradients[1].reshape(-1, width), alpha=rate)
    contexts.index_add_(0, negatives.reshape(-1), gradients[2].reshape(-1, width), alpha=rate)
    return found.detach()
