"""The card of the synonymy collection: where it comes from, what is in it, and what one must know before using it."""

from __future__ import annotations

from lexiscope.core.dataset import DataFile, DatasetCard, SubjectFacts

REPOSITORY = "https://github.com/ioana-ivan/bm-semlex"
_RAW = "https://raw.githubusercontent.com/ioana-ivan/bm-semlex"
_NAME = "semcor_wordnet_aa_n_5000_rand_160.csv.curated.200.csv"

CURATED = DataFile(
    "synonymy/curated_200.tsv",
    f"{_RAW}/98739372248281affadd695a3f04fdc172ff612b/output/synonyms/pairs_triples_examples/{_NAME}",
    "87cb29fe77b27e9ed5f64c08691209ff464399962013ed673fc35d3b107ea5ab",
)
NOUNS = DataFile(
    "synonymy/random_nouns_10000.txt",
    sha256="25fbdbc478e41a2d69f6a3d61edee2b5c8f39a80f41ed5bb0a048d3389eacb4f",
    optional=True,
)
ITEMS = DataFile("synonymy/items.csv", sha256="721c21454fbf45d94e18c9b3f839ba4efff09082764b904a7bedb860d266129a")
NEGATIVES = DataFile(
    "synonymy/negatives.csv", sha256="f8c8cf185ed62c6eea786c489f02e0b6cb7e0f3d137ed19964494db43906c110"
)
OUTCOMES = DataFile("synonymy/outcomes.csv", sha256="7041240391703b41d00707675ae139b9fb796537daae6ea92f754d5f959a1680")
HUMAN_SHEET = DataFile(
    "synonymy/human_test.csv",
    sha256="8b13713d35244eed6587a7966413a8e598dc32c0649f9b6efc6e98f6c8d963d7",
    optional=True,
)

SUBJECTS: tuple[SubjectFacts, ...] = tuple(
    SubjectFacts(
        subject_id=name,
        title=title,
        kind="causal_lm",
        languages=("en",),
        multilingual=False,
        family=family,
        objective="next token",
        corpus=corpus,
        n_parameters=parameters,
        source="the paper, §3.5 and Table 4 (parameters as its text rounds them)",
    )
    for name, title, family, corpus, parameters in (
        ("allenai/OLMo-1B", "OLMo 1B", "OLMo", "Dolma", 1_000_000_000),
        ("allenai/OLMo-7B", "OLMo 7B", "OLMo", "Dolma", 7_000_000_000),
        ("LLM360/Amber", "Amber", "LLM360", "", 6_700_000_000),
    )
)
"""The three models whose outcomes were released, item by item."""

CARD = DatasetCard(
    name="synonymy",
    title="Synonymy minimal pairs: 200 curated items in eight suites",
    task="minimal_pair",
    language="en",
    licence=(
        "CC BY 4.0 (bm-semlex (c) 2024); sentences of SemCor 3.0 and synsets of WordNet 3.0: WordNet licence, "
        "WordNet 3.0 Copyright 2006 by Princeton University, all rights reserved"
    ),
    citation="I. Ivan, C. Ramisch, A. Nasr. Evaluating Pretrained Causal Language Models for Synonymy.",
    source=REPOSITORY,
    version="98739372248281affadd695a3f04fdc172ff612b (items), 756a9140ee817cde9d9a2ad11911fde6ca8183a2 (outcomes)",
    availability="obtain",
    summary=(
        "A noun in a SemCor sentence, a synonym of its sense there, a synonym of another sense and ten random nouns, "
        "in eight suites; the outcome of every item for OLMo-1B, OLMo-7B and Amber."
    ),
    files=(CURATED, ITEMS, NEGATIVES, OUTCOMES, NOUNS, HUMAN_SHEET),
    counts=(("items", 3_200), ("words", 331), ("sentences", 19_121)),
    how_to_obtain=(
        f"{CURATED.path} is the publisher's file, at {CURATED.url}. The others were made of the publisher's "
        f"repository {REPOSITORY}: {OUTCOMES.path} joins the 72 files of output/synonyms/result/eval (commit "
        f"756a9140ee817cde9d9a2ad11911fde6ca8183a2), {ITEMS.path} adds sense keys and synsets from SemCor 3.0 and "
        f"WordNet 3.0, {NEGATIVES.path} and {NOUNS.path} follow the published rule. Put them in a folder and set "
        "LEXISCOPE_DATA to it."
    ),
    first_item="synonymy/001/relation_no_context/is_a_synonym_of/correct_vs_random",
    last_item="synonymy/200/relation/is_the_same_as/random",
    remarks=(
        "curated_200.tsv holds the publisher's bytes; items.csv, negatives.csv, outcomes.csv, human_test.csv and "
        "random_nouns_10000.txt were derived from the publisher's files, WordNet and SemCor (their README says how).",
        "Mode clean (the default) repairs the published texts: the context keeps its own article, the distractor of "
        "item 122 loses its comma, the context of item 64 its leaked answer. The random nouns stay.",
        "In mode clean the article before an inserted word follows its letter, as in the published texts, so that "
        "figures compare; one text has a wrong one (item 17, 'an urochordate'): collection(article='sound') mends it.",
        "15 sentences serve two or three items (33 of the 200): the items are not independent; cluster by 'sentence'.",
        "103 of the 200 targets stand in their first WordNet sense; items 5 and 194 have a plural target.",
        "Random noun 'move' of item 38 shares a synset with the target 'movement', in another sense.",
        "The outcomes were recorded on the published texts; the reference suite was meant for controlled pairs only, "
        "and its random outcomes were released all the same.",
        "Answers of the human annotators, outcomes of other models and gap-filling predictions were not released.",
    ),
)
