"""The card of AIDA CoNLL-YAGO and its files."""

from __future__ import annotations

from lexiscope.core.dataset import DataFile, DatasetCard

CANDIDATES = DataFile(
    "el/aida/aida_candidates.jsonl.gz", sha256="80b85e4ebc0c87135a8b972b936cc73f1b8599b55ced64d71ffd3113f9cd6ea6"
)
MASKED = {
    "dev": DataFile(
        "el/elevant/aida-conll-dev.benchmark.jsonl",
        sha256="16432212479cc3938336993ade68dcc19064a70aafc7a7ca28831aa47152f65c",
    ),
    "test": DataFile(
        "el/elevant/aida-conll-test.benchmark.jsonl",
        sha256="9a841479da485c7457776e7c8a0919fede197ebd77fc3e5e32c440da7163ead5",
    ),
}
TEXTS = DataFile("el/aida/AIDA-YAGO2-dataset.tsv", optional=True)
"""The news texts, which nobody may pass on; their checksum is not known to us."""

_ELEVANT = "8df933fa0a8f54e3e682dc124761c01d48484359"
_CANDIDATES = "1cdd4c0c4f12d88efdea34098b1c168745caf3ec"

CARD = DatasetCard(
    name="aida",
    title="AIDA CoNLL-YAGO: names in news texts and their Wikipedia pages (development and test, texts masked in part)",
    task="entity_link",
    language="en",
    licence="annotations: CC BY-SA 3.0; the Reuters texts may not be redistributed; masked texts: Apache-2.0 (ELEVANT)",
    citation=(
        "J. Hoffart et al. (2011). Robust Disambiguation of Named Entities in Text. EMNLP 2011, 782-792; candidates: "
        "M. Pershina, Y. He, R. Grishman (2015). Personalized Page Rank for Named Entity Disambiguation. NAACL 2015, "
        "238-243; masked texts: H. Bast, M. Hertel, N. Prange (2022). ELEVANT. EMNLP 2022 demonstrations"
    ),
    source="https://www.mpi-inf.mpg.de/departments/databases-and-information-systems/research/ambiverse-nlu/aida",
    version=f"candidates: masha-p/PPRforNED {_CANDIDATES}; masked texts: ad-freiburg/elevant {_ELEVANT}",
    availability="obtain",
    summary="9,272 linked names in news texts (dev and test) with their candidate pages; many words are masked.",
    files=(CANDIDATES, *MASKED.values(), TEXTS),
    counts=(("items", 9_272), ("words", 3_330), ("sentences", 8_569), ("set_aside", 1)),
    how_to_obtain=(
        "the texts belong to Reuters: whoever has the Reuters corpus makes AIDA-YAGO2-dataset.tsv with the tool of "
        f"AIDA's authors; put it at {TEXTS.path}, or call aida.load_texts(PATH). Masked texts: take "
        f"benchmarks/aida-conll-dev.benchmark.jsonl and aida-conll-test.benchmark.jsonl of ad-freiburg/elevant at "
        f"{_ELEVANT}. Candidates: {CANDIDATES.path} is made of AIDA_candidates of masha-p/PPRforNED at {_CANDIDATES}, "
        "a JSON object a line (doc, split, text, origText, gold, candidates). Put them in a folder and set "
        "LEXISCOPE_DATA to it"
    ),
    first_item="aida/dev/947/1",
    last_item="aida/test/1393/28",
    remarks=(
        "load() has development (testa) and test (testb) texts in which many words that are no mention are masked by "
        "asterisks, by ELEVANT, for copyright: figures on them are not those of the full texts.",
        "Training items need the texts: load_texts. mentions() has all 30,428 mentions, links and candidates without "
        "text, those of the training part too.",
        "Options are the candidates by falling number of links, then by title: upstream the right one stands first.",
        "A mention of test document 1341 whose masked text and list of mentions do not agree is set aside.",
        "Gold is a title of Wikipedia of 2010 to 2012; the condition wikidata is the id in ELEVANT.",
        "The paper searched all of Wikipedia; search_space() has the pages that are a candidate of any mention.",
    ),
)
