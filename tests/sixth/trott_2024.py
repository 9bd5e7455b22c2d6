"""GPT-4 and GPT-3.5 as raters of RAW-C, compared with people: agreement, single people, ambiguity types, senses."""

import csv

from lexiscope import Settings, Study, option, pair, rating

RAW_C = "https://raw.githubusercontent.com/seantrott/raw-c/235ba238726969cc950b4ca8ed47e4298e4b29f8/data/processed"
LLM = "https://raw.githubusercontent.com/seantrott/llm_norms/bd244b441e58f9ab3ffd554d9576eda4e10a9b59/data/processed"

study = Study(
    "trott_2024",
    title="Can large language models augment the norms of RAW-C?",
    citation="Trott, S. (2024). Can large language models help augment English psycholinguistic datasets? "
    "Behavior Research Methods, 56, 6082-6100.",
    task="relatedness",
    scale=(0, 4),
    files={
        "rawc/raw-c.csv": (
            f"{RAW_C}/raw-c.csv",
            "73bdbe7b63fa47e27b752ad17c8bb71913885bd13647e92af24ffeb7801c7ac0",
        ),
        "rawc/normed_critical.csv": (
            f"{RAW_C}/normed_critical.csv",
            "03dd3605059d1396ff9057d6036c7f205c42ea35a8a88cfa8135a825a123331d",
        ),
        "llm_norms/processed/raw-c/raw-c_gpt-4.csv": (
            f"{LLM}/raw-c/raw-c_gpt-4.csv",
            "19fdaac98b317c06d0cc2108de588d345cc62652ae75ae6f735d264be37bfa17",
        ),
        "llm_norms/processed/raw-c/raw-c_gpt-3.5-turbo.csv": (
            f"{LLM}/raw-c/raw-c_gpt-3.5-turbo.csv",
            "7be42ae5fc1f39286f46ea61be3fafc27aca9ad9c217a8f35d975b166963d8b3",
        ),
    },
)


@study.settings
class Trott(Settings):
    """What a run of trott_2024 can vary."""

    of: str = option("homonymy and polysemy", "ambiguity types that are compared: Homonymy, Polysemy, or both")


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as stream:
        yield from csv.DictReader(stream)


@study.data
def load(pairs, trials, gpt4, gpt35):
    """RAW-C's 672 pairs with people's single ratings (Trott & Bergen 2021) and one rating each of GPT-4 and GPT-3.5."""
    ids = {}
    for row in rows_of(pairs):
        ids[row["sentence1"], row["sentence2"]] = name = f"{row['word']}/{row['version']}"
        first, second = row["sentence1"], row["sentence2"]
        same, kind = row["same"] == "True", row["ambiguity_type"].lower()
        yield pair(name, first, second, row["string"], lemma=row["word"], same_sense=same, ambiguity=kind)
    for row in rows_of(trials):
        yield rating(row["subject"], f"{row['word']}/{row['version']}", float(row["relatedness"]))
    for row in rows_of(gpt4):
        yield rating("gpt-4", ids[row["sentence1"], row["sentence2"]], float(row["gpt4_rating"]), kind="chat")
    for row in rows_of(gpt35):
        value = float(row["gpt3.5-turbo_rating"])
        # 3.5 lies between two points of people's scale: an answer, not a rating
        read = value if value.is_integer() else None
        yield rating("gpt-3.5", ids[row["sentence1"], row["sentence2"]], read, kind="chat", raw=str(value))


@study.question("How much do people agree?", needs="ratings")
def people(run):
    return run.agreement(), run.ceilings(), run.means(by="same_sense")


@study.question("How close are models to people's means, and which is closer?", needs=("ratings", "models"))
def models(run):
    fit = run.fit("spearman")
    return fit, run.compare(*fit.best(2)), [run.raters_below(one) for one in fit.best(2)]


@study.question("Is a model closer to people for homonyms than for polysemes?", needs=("ratings", "models"))
def types(run):
    chosen = [part for part in run.by("ambiguity") if part.label.split("=")[1] in run.settings.of.lower()]
    return [(part.fit("spearman", subjects=["gpt-4"]), part.means("same_sense", of="gpt-4")) for part in chosen]


@study.question("Do senses explain people's ratings beyond the best model's?", needs=("ratings", "models"))
def beyond(run):
    def given(model):
        rest = f"{model} + (1|participant) + (1|word)"
        return run.mixed(f"rating ~ same_sense + {rest}", f"rating ~ {rest}", name=f"sense boundary given {model}")

    return given("gpt_4"), given("gpt_3_5")
