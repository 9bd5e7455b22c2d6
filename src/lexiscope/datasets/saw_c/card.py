"""The card of SAW-C: where it comes from, what is in it, and what one must know before using it."""

from __future__ import annotations

from lexiscope.core.dataset import DataFile, DatasetCard
from lexiscope.core.scale import Scale
from lexiscope.datasets.saw_c.models import FOLDERS, SUBJECTS, UPSTREAM, model_file

RATING_SCALE = Scale(1, 5)

TRIALS = DataFile(
    "sawc/sawc_relatedness_full_critical_data.csv",
    f"{UPSTREAM}/processed/human/sawc_relatedness_full_critical_data.csv",
    "c67585a6436f5acd8e5c12d5ff783839a8bc897fa9890c26694225fd82b5d040",
)
NORMS = DataFile(
    "sawc/sawc_avg_relatedness.csv",
    f"{UPSTREAM}/processed/human/sawc_avg_relatedness.csv",
    "85d9e2ea731ccac42ea2341d8059989bb98fce78a37aa65fee3c0b84c2ecc4ac",
)
PAIRS = DataFile(
    "sawc/sawc_sentence_pairs.csv",
    f"{UPSTREAM}/raw/items/sawc_sentence_pairs.csv",
    "7ff993dd311127ded6862665d89dbe4fe888b637655d6ad439764d62e6e5a95f",
)
SENTENCES = DataFile(
    "sawc/sawc_stimlist.csv",
    f"{UPSTREAM}/raw/items/sawc_stimlist.csv",
    "0425e147ba18db5a39a90c6baca9dfcfbd294077a8dc24071a80e1884a6165fd",
)
TOKENS = DataFile(
    "sawc/token_properties.csv",
    f"{UPSTREAM}/processed/models/token_properties.csv",
    "d26a11b0d550bce389e2b7673bf50a25b25bb614c1dbba80e4b3d65fe6028173",
)
MODEL_FILES = tuple(model_file(facts.subject_id, view) for view in FOLDERS for facts in SUBJECTS)

CARD = DatasetCard(
    name="saw_c",
    title="SAW-C: Spanish Ambiguous Words in Context",
    task="relatedness",
    language="es",
    licence="none stated by the publisher; use for research with citation, not redistributed here",
    citation=(
        "P. D. Rivière, A. L. Beatty-Martínez, S. Trott (2025). Evaluating Contextualized Representations of (Spanish) "
        "Ambiguous Words: A New Lexical Resource and Empirical Analysis. NAACL 2025 (long papers), 8322-8338."
    ),
    source="https://github.com/seantrott/spanish_norms",
    version="2a786ac843faa6494261251bcd511811ee51ab80",
    availability="download",
    summary=(
        "Relatedness of the meaning of an ambiguous Spanish noun in two sentences that differ in one modifier, rated "
        "by people, with the released distances of 13 encoders at every layer."
    ),
    files=(TRIALS, PAIRS, SENTENCES, TOKENS, NORMS, *MODEL_FILES),
    counts=(
        ("items", 812),
        ("words", 102),
        ("sentences", 451),
        ("participants", 131),
        ("trials", 10_639),
        ("lists", 10),
        ("models", 13),
    ),
    first_item="saw_c/aceite/1",
    last_item="saw_c/órgano/6",
    remarks=(
        "Participants read the sentences without a final full stop; the main released distances are with one.",
        "Catch trials, excluded participants, nationality and the order and side of presentation are not published.",
        "One sentence of pieza has the gender 'femael' (a typing error): same_gender is recomputed with it read as "
        "female, same_gender_published keeps the published comparison, gender_1 and gender_2 keep the published text.",
        "compás and sueño use verbs as cues, and there the cue precedes the target.",
        "patana-chilean-spanish-bert has released distances but is neither in the paper nor in token_properties.csv.",
        "token_properties.csv counts tokens without the final stop, the files of distances with it.",
        "The files of distances without final stop give the token count of the first sentence for both: counts are "
        "those of token_properties.csv, and the second sentences of patana-chilean-spanish-bert have none.",
        "Layer 0 (input embeddings) is in the released distances: nearly all are 0 or rounding noise.",
    ),
    scale=RATING_SCALE,
)
