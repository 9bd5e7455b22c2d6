"""The card of RAW-C: where it comes from, what is in it, and what one must know before using it."""

from __future__ import annotations

from lexiscope.core.dataset import DataFile, DatasetCard, SubjectFacts
from lexiscope.core.scale import Scale

VERSION = "235ba238726969cc950b4ca8ed47e4298e4b29f8"
_UPSTREAM = f"https://raw.githubusercontent.com/seantrott/raw-c/{VERSION}/data/processed"
_SPANISH = "https://raw.githubusercontent.com/seantrott/spanish_norms/2a786ac843faa6494261251bcd511811ee51ab80/data"

TRIALS = DataFile(
    "rawc/normed_critical.csv",
    f"{_UPSTREAM}/normed_critical.csv",
    "03dd3605059d1396ff9057d6036c7f205c42ea35a8a88cfa8135a825a123331d",
)
NORMS = DataFile(
    "rawc/raw-c.csv",
    f"{_UPSTREAM}/raw-c.csv",
    "73bdbe7b63fa47e27b752ad17c8bb71913885bd13647e92af24ffeb7801c7ac0",
)
DOMINANCE = DataFile(
    "rawc/raw-c_with_dominance.csv",
    f"{_UPSTREAM}/raw-c_with_dominance.csv",
    "5757ac463c42d402c80adf94b19690a3907589be9d89d425380c934b47d4d88a",
)
STIMULI = DataFile(
    "rawc/stims_with_nlm_distances.csv",
    f"{_UPSTREAM}/stims_with_nlm_distances.csv",
    "11001b81bf6331c7da9b9312491d92c1c45e884a636cdf14de3cea62ced9a85e",
)
EXTRACT = DataFile(
    "rawc/rawc_stimuli.csv",
    f"{_SPANISH}/extra/rawc_stimuli.csv",
    "91b6824a37020c5267a87b977536dea08cbde16a872b95b3f104ed4139c0ff0e",
)
RATING_SCALE = Scale(0, 4)

CARD = DatasetCard(
    name="raw_c",
    title="RAW-C: Relatedness of Ambiguous Words, in Context",
    task="relatedness",
    language="en",
    licence="none stated by the publisher; use for research with citation, not redistributed here",
    citation=(
        "S. Trott, B. Bergen (2021). RAW-C: Relatedness of Ambiguous Words - in Context (A New Lexical Resource for "
        "English). ACL-IJCNLP 2021, 7077-7087, doi:10.18653/v1/2021.acl-long.550."
    ),
    source="https://github.com/seantrott/raw-c",
    version=VERSION,
    availability="download",
    summary=(
        "Relatedness of the meaning of an ambiguous English word in two sentences that differ in one word, rated by "
        "people, with one distance each of BERT and ELMo."
    ),
    files=(TRIALS, NORMS, DOMINANCE, STIMULI, EXTRACT),
    counts=(
        ("items", 672),
        ("words", 112),
        ("participants", 77),
        ("trials", 8_624),
        ("models", 2),
        ("set_aside", 18),
    ),
    first_item="raw_c/act/M1_a_M2_a",
    last_item="raw_c/yard/M2_a_M2_b",
    remarks=(
        "The scale is 0 to 4 (that of SAW-C is 1 to 5).",
        "Participants and models read the sentences with their final full stop.",
        "Every participant saw each word once, in one of its six pairs: the number of ratings of a pair varies from 4 "
        "to 23.",
        "raw holds, for a trial, which sentence stood first (version_with_order).",
        "18 rows of stims_with_nlm_distances.csv (magazine, novel, oil: ambiguity type 'Unsure') have no sentences and "
        "no ratings: they are no items, and are kept in set_aside so that an export loses nothing.",
        "One distance per pair and model was published, of unstated layers: it has no layer here.",
        "raw-c_with_dominance.csv repeats the numbers of raw-c.csv with rounding noise of at most 1e-15; only its two "
        "columns of dominance are read.",
    ),
    scale=RATING_SCALE,
)

SUBJECTS = (
    SubjectFacts("bert", "BERT", languages=("en",), multilingual=False, family="BERT", source="released with RAW-C"),
    SubjectFacts("elmo", "ELMo", languages=("en",), multilingual=False, family="ELMo", source="released with RAW-C"),
)
