"""Lean kernels: the numbers of the model's own, each by itself, and a model that is afterwards as it was before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from torch.utils._python_dispatch import TorchDispatchMode
from transformers.activations import ACT2FN

from lexiscope.subjects._scoring_options import CausalOptions
from lexiscope.subjects.local._causal_forward import (
    CausalForward,
    attend,
    attending_in_blocks,
    cut_into_blocks,
    lean_modules,
    log_probabilities,
    tanh_gelu,
    tree_row,
    use_lean_modules,
)
from lexiscope.subjects.local._model_check import rounding
from lexiscope.subjects.local._score_units import build_prefix_tree, tree_plan
from lexiscope.subjects.local.causal_lm import CausalLM, check_routes

Folders = Callable[[str], Path]

# learned positions and sums in place; rotary positions, shared keys; parallel layers; no weights in the norms
ARCHITECTURES = ["gpt2", "llama", "gpt_neox", "olmo", "olmo2", "qwen2", "opt", "cohere", "gemma2", "gptj"]
DRAWN = np.random.default_rng(7)


def sequences(n: int, vocabulary: int) -> list[tuple[int, ...]]:
    """Sequences that share prefixes at many depths, the longest of 60 tokens."""
    trunk = DRAWN.integers(5, vocabulary, 60).tolist()
    return [
        (*trunk[: int(shared)], *DRAWN.integers(5, vocabulary, int(own)).tolist())
        for shared, own in zip(DRAWN.integers(0, 50, n), DRAWN.integers(1, 10, n), strict=True)
    ]


def forward_of(folder: Path) -> CausalForward:
    return CausalLM(str(folder), options=CausalOptions()).forward


# -- the same numbers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_lean_kernels_give_the_numbers_of_the_plain_forward_pass(causal: Folders, architecture: str) -> None:
    """Through rows of several blocks every token has its log-probability of the plain forward pass to 1e-5."""
    forward = forward_of(causal(architecture))
    asked = sequences(60, forward.n_vocabulary)
    plan = tree_plan(asked, budget=1_000, longest=1_000)
    assert plan.longest_row > 100
    found = np.full(plan.n_nodes, np.nan)
    for unit in plan.units:
        found[unit.nodes] = forward.run(unit, lean=True)
    for ids, path in zip(asked, plan.paths, strict=True):
        if len(ids) > 1:
            plain = forward.plain(ids)
            np.testing.assert_allclose(found[path[1:]], plain, atol=rounding(np.abs(plain).max()), rtol=0)


def test_the_guard_says_which_kernels_are_used(causal: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run record names the lean kernels; where attention cannot be read in blocks, the others remain."""
    # its attention is plain, which newer versions of transformers changed
    monkeypatch.setattr(transformers.GPTJForCausalLM, "_supports_sdpa", False)
    expected = {
        "gpt2": "attention in blocks, GELU by tanh in place, sums in place, projection in pieces",
        "gpt_neox": "attention in blocks, projection in pieces",
        "llama": "attention in blocks, projection in pieces",
        "gptj": "GELU by tanh in place, projection in pieces",
    }
    for architecture, kernels in expected.items():
        model = CausalLM(str(causal(architecture)), options=CausalOptions())
        model.score(["He scraped the bark of the old oak tree."])
        assert model.settings["kernels"] == kernels
        assert model.settings["difference"] <= rounding(10.0)


def test_kernels_that_are_not_exact_are_left(causal: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where lean kernels differ from the plain pass (here: made to), the model's own are used, and it is said."""
    monkeypatch.setattr("lexiscope.subjects.local._causal_forward.tanh_gelu", lambda given: given.mul_(0.9))
    forward = forward_of(causal("gpt2"))
    found = check_routes(forward, "auto", row_budget=2_048, plain_budget=512, batch_budget=1_024)
    assert (found.route, found.lean, found.row) == ("tree", False, 512)
    assert found.difference <= rounding(10.0)
    assert found.kernels.startswith("plain; lean ones (attention in blocks")


def test_an_attention_window_shortens_the_rows(causal: Folders) -> None:
    """A row in blocks is no longer than the window, and windows below 512 refuse the tree as before."""
    forward = forward_of(causal("mistral_wide"))
    for window, row in ((4_096, 2_048), (1_000, 1_000)):
        forward.model.config.sliding_window = window
        found = check_routes(forward, "auto", row_budget=2_048, plain_budget=512, batch_budget=1_024)
        assert (found.route, found.lean, found.row) == ("tree", True, row)
    forward.model.config.sliding_window = 500
    assert check_routes(forward, "auto", row_budget=2_048, plain_budget=512, batch_budget=1_024).route == "batched"


@pytest.mark.parametrize("name", ["gelu_new", "gelu_fast", "gelu_pytorch_tanh", "gelu_python_tanh"])
def test_the_gelu_is_that_of_transformers(name: str) -> None:
    """All activations that are replaced are one function, to the last digits, from very small to very large."""
    module = torch.nn.Sequential(ACT2FN[name])
    (lean,) = lean_modules(module)
    given = torch.cat([torch.linspace(-40, 40, 4_001), torch.tensor([1e-20, -1e-20, 0.0])])[:4_002].view(3, 1_334)
    expected = module(given)
    found = lean.function(given.clone())
    np.testing.assert_allclose(found.numpy(), expected.numpy(), atol=rounding(1.0), rtol=rounding(1.0))
    x = given.double()
    by_hand = x / 2 * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3)))
    np.testing.assert_allclose(found.numpy(), by_hand.numpy(), atol=rounding(1.0), rtol=rounding(1.0))
    wide = torch.cat([given, given], dim=1)
    np.testing.assert_array_equal(lean.function(wide[None, :, 1_334:]).numpy(), found[None].numpy())
    assert torch.equal(wide[:, :1_334], given)
    assert lean.function is tanh_gelu
    assert lean_modules(torch.nn.Sequential(ACT2FN["gelu"], ACT2FN["silu"])) == ()


@pytest.mark.parametrize("bias", [False, True])
def test_log_probabilities_are_those_of_the_softmax(bias: bool) -> None:
    """In pieces of any size, with large and with scaled logits, they are log-softmax in double precision to 1e-5."""
    torch.manual_seed(3)
    hidden = torch.randn(300, 8) * torch.logspace(-2, 1.5, 300)[:, None]
    head = torch.nn.Linear(8, 5_000, bias=bias).requires_grad_(False)
    rows, targets = torch.randint(0, 300, (2_000,)).sort().values, torch.randint(0, 5_000, (2_000,))
    for scaling in (lambda logits: logits, lambda logits: torch.tanh(logits / 5) * 5):
        expected = torch.log_softmax(scaling(head(hidden).double()), -1)[rows, targets]
        found = log_probabilities(hidden, head, rows, targets, scaling=scaling)
        bound = rounding(float(scaling(head(hidden)).abs().max()))
        np.testing.assert_allclose(found.numpy(), expected.numpy(), atol=bound, rtol=0)
        assert (found <= 0).all()


class Widths(TorchDispatchMode):
    """Collect the width of every tensor that is computed."""

    def __init__(self) -> None:
        super().__init__()
        self.met: set[int] = set()

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        found = function(*args, **(kwargs or {}))
        if isinstance(found, torch.Tensor) and found.ndim:
            self.met.add(found.shape[-1])
        return found


def test_no_row_of_the_vocabulary_is_made(causal: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    """In pieces, no tensor is as wide as the vocabulary, or wider than a piece; the plain pass makes such rows."""
    monkeypatch.setattr("lexiscope.subjects.local._causal_forward._OUTPUTS", 200)
    forward = forward_of(causal("gpt2"))
    plan = tree_plan(sequences(20, forward.n_vocabulary), budget=1_000, longest=1_000)
    (unit,) = plan.units
    with Widths() as lean:
        forward.run(unit, lean=True)
    with Widths() as plain:
        forward.run(unit, lean=False)
    assert forward.n_vocabulary not in lean.met
    assert 200 in lean.met
    assert forward.n_vocabulary in plain.met


def test_logits_far_from_zero_overflow_nothing() -> None:
    """Only differences of logits count: all of them near 1e4, or near -1e4, give the same as near 0."""
    head = torch.nn.Linear(1, 4_000).requires_grad_(False)
    head.weight.zero_()
    head.bias.copy_(torch.linspace(0, 3, 4_000))
    asked = {"rows": torch.zeros(1, dtype=torch.long), "targets": torch.tensor([7]), "scaling": lambda logits: logits}
    near = log_probabilities(torch.zeros(1, 1), head, **asked)
    for shift in (1e4, -1e4):
        head.bias.copy_(torch.linspace(0, 3, 4_000) + shift)
        torch.testing.assert_close(log_probabilities(torch.zeros(1, 1), head, **asked), near, atol=2e-3, rtol=0)


def test_a_projection_that_an_adapter_wraps_is_left_alone(causal: Folders) -> None:
    """A GPT-2 block whose projection is no Conv1D of its own (an adapter, cross-attention) keeps its forward."""
    model = transformers.AutoModelForCausalLM.from_pretrained(causal("gpt2"))
    whats = {each.what for each in lean_modules(model)}
    assert whats == {"GELU by tanh in place", "sums in place"}
    for block in model.transformer.h[:2]:
        block.mlp.c_proj = torch.nn.Sequential(block.mlp.c_proj)
    model.transformer.h[2].crossattention = torch.nn.Identity()
    assert {each.what for each in lean_modules(model)} == {"GELU by tanh in place"}


# -- blocks -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 3, 32])
def test_a_node_sees_its_ancestors_and_itself(size: int) -> None:
    """Whatever the size of a block, what is not hidden from a node are its ancestors and itself, once each."""
    tree = build_prefix_tree(sequences(40, 300))
    met = []
    for group in cut_into_blocks(tree.ends, size=size):
        for nodes, keys, seen in zip(group.nodes, group.keys, group.seen, strict=True):
            for node, row in zip(nodes.tolist(), seen, strict=True):
                path, each = [], node
                while each >= 0:
                    path.append(each)
                    each = int(tree.parents[each])
                assert sorted(keys[row].tolist()) == sorted(path)
                met.append(node)
    assert sorted(met) == list(range(len(tree.tokens)))


def test_attention_that_asks_for_more_is_refused() -> None:
    """A soft cap, sinks or a mask of its own are not left out silently: they raise, and the guard goes on."""
    row = tree_row(np.array([2, 2]), device="cpu", dtype=torch.float32)
    given = torch.zeros(1, 2, 2, 4)
    with attending_in_blocks(torch.nn.Module(), row) as mask:
        assert attend(None, given, given, given, mask)[0].shape == (1, 2, 2, 4)
        for more in ({"softcap": 5.0}, {"s_aux": given}, {"position_bias": given}):
            with pytest.raises(ValueError, match=f"attention with {next(iter(more))}"):
                attend(None, given, given, given, mask, **more)
        for other in (None, torch.zeros(1, 1, 2, 2)):
            with pytest.raises(ValueError, match="a mask of its own"):
                attend(None, given, given, given, other)


# -- the model is left as it was ----------------------------------------------------------------------------------


def state_of(model: Any) -> dict[str, Any]:
    """All that lean kernels touch or might: weights, functions of the modules, settings of the attention."""
    return {
        "weights": {name: (id(each), each.clone()) for name, each in model.state_dict(keep_vars=True).items()},
        "modules": [(name, id(each), type(each), sorted(vars(each))) for name, each in model.named_modules()],
        "attention": [each.config._attn_implementation for each in model.modules() if hasattr(each, "config")],
        "config": model.config.to_dict(),
    }


@contextmanager
def unchanged(model: Any) -> Iterator[None]:
    before = state_of(model)
    ids = torch.tensor([[5, 9, 7, 8, 6]])
    with torch.no_grad():
        logits = model(ids).logits
    yield
    after = state_of(model)
    for name, (identity, values) in before.pop("weights").items():
        assert after["weights"][name][0] == identity
        assert torch.equal(after["weights"][name][1], values)
    after.pop("weights")
    assert before == after
    with torch.no_grad():
        assert torch.equal(model(ids).logits, logits)


@pytest.mark.parametrize("architecture", ["gpt2", "llama", "gpt_neox", "olmo"])
def test_the_model_is_as_it_was(causal: Folders, architecture: str) -> None:
    """After scoring, and after an error in the midst of it, weights, modules, settings and outputs are the same."""
    forward = forward_of(causal(architecture))
    plan = tree_plan(sequences(20, forward.n_vocabulary), budget=1_000, longest=1_000)
    with unchanged(forward.model):
        forward.run(plan.units[0], lean=True)
        last = list(forward.model.base_model.modules())[-1]
        hook = last.register_forward_pre_hook(lambda module, given: 1 / 0)
        try:
            with pytest.raises(ZeroDivisionError):
                forward.run(plan.units[0], lean=True)
        finally:
            hook.remove()
        # hooks leave an empty entry behind that is not of our making
        forward.run(plan.units[0], lean=True)


def test_a_function_of_ones_own_comes_back() -> None:
    """A module whose forward had been replaced by someone else has that one again."""
    module = torch.nn.Sequential(ACT2FN["gelu_new"])
    own = module[0].forward = lambda given: given
    with use_lean_modules(lean_modules(module)):
        assert module[0].forward is tanh_gelu
    assert module[0].forward is own
