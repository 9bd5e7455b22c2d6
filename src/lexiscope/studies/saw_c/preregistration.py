"""The pre-registration text of a norming study of this design (SAW-C §3): every number in it is a parameter."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SamplingPlan:
    """How many people are asked, and what happens when a pair falls short.

    The defaults are those of SAW-C §3: at least 10 judgments a pair need at least 100 people with 10 lists, 120 are
    asked first, and lists with a pair below 10 after the exclusions are topped up. Times in seconds, pay in *currency*.
    """

    n_pairs: int = 812
    n_lists: int = 10
    min_ratings: int = 10
    first_target: int = 120
    pay: float = 2.40
    currency: str = "USD"
    median_seconds: float = 743.0

    @property
    def min_participants(self) -> int:
        """The fewest people that give every pair its ratings: one list each."""
        return self.n_lists * self.min_ratings

    @property
    def hourly_pay(self) -> float:
        """Pay per hour at the median time. *Unit:* currency per hour.

        >>> round(SamplingPlan().hourly_pay, 2)  # 2.40 / (743 / 3600): SAW-C §3.2 prints 11.64 for 12 min 23 s
        11.63
        """
        return self.pay * 3600 / self.median_seconds


def preregistration(
    plan: SamplingPlan, *, rules: tuple[str, ...], tests: tuple[tuple[str, str, str], ...], title: str
) -> str:
    """Return the text as Markdown: sampling plan, exclusions in order, confirmatory models with their formulas."""
    lines = [
        f"# Pre-registration: {title}",
        "",
        "## Sampling plan",
        "",
        f"{plan.n_pairs} usage pairs on {plan.n_lists} lists; each person answers one list. Every pair needs at least "
        f"{plan.min_ratings} judgments after exclusions, so at least {plan.min_participants} people. We first ask "
        f"{plan.first_target}. If any pair then has fewer than {plan.min_ratings} judgments, we ask further people for "
        "its list until none has.",
        "",
        f"Pay: {plan.pay:.2f} {plan.currency}; at a median time of {plan.median_seconds / 60:.1f} minutes this is "
        f"{plan.hourly_pay:.2f} {plan.currency} an hour.",
        "",
        "## Exclusions, applied in this order, once",
        "",
        *(f"{number}. {rule}" for number, rule in enumerate(rules, start=1)),
        "",
        "## Confirmatory models",
        "",
        "Maximum likelihood; likelihood-ratio tests, two-tailed, alpha = .05; exact p reported.",
        "",
    ]
    for name, full, reduced in tests:
        lines += [f"- {name}: `{full}` against `{reduced}`"]
    return "\n".join(lines) + "\n"
