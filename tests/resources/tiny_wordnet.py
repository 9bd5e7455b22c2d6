"""A wordnet of a few synsets in Princeton's file format, written for these tests."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FILE = {"n": "noun", "v": "verb", "a": "adj", "s": "adj", "r": "adv"}
TYPE = {"n": 1, "v": 2, "a": 3, "r": 4, "s": 5}
LICENCE = "".join(
    f"  {number} {line}\n" for number, line in enumerate(("A notice.", "Tiny WordNet 9.9 ours."), start=1)
)


@dataclass(frozen=True)
class Row:
    """A synset: name, type, file number, words with their lex ids, gloss, pointers (sign, name, source and target)."""

    name: str
    kind: str
    file: int
    words: tuple[tuple[str, int], ...]
    gloss: str
    pointers: tuple[tuple[str, str, str], ...] = ()


ROWS = (
    Row("thing", "n", 3, (("thing", 0),), "what there is", (("~", "ground", "0000"), ("~", "firm", "0000"))),
    Row("ground", "n", 17, (("ground", 0), ("soil", 0)), "what one stands on", (("@", "thing", "0000"),)),
    Row("shore", "n", 17, (("bank", 1), ("shore", 0)), 'ground by a river; "a steep bank"', (("@", "ground", "0000"),)),
    Row("thames", "n", 17, (("Thames", 0), ("thames", 1)), "a river; its ground", (("@i", "ground", "0000"),)),
    Row("firm", "n", 14, (("bank", 0), ("banking_firm", 0)), "a firm that lends", (("@", "thing", "0000"),)),
    Row("man", "n", 18, (("man", 0), ("banker", 0)), "who banks", (("+", "lend", "0201"),)),
    Row("lend", "v", 40, (("bank", 0), ("lend", 0)), "act as a firm", (("+", "man", "0102"), ("@", "act", "0000"))),
    # a cycle, such as WordNet 3.0 has one
    Row("act", "v", 41, (("act", 0),), "do a thing", (("@", "do", "0000"),)),
    Row("do", "v", 41, (("do", 0),), "act on a thing", (("@", "act", "0000"),)),
    Row("rich", "a", 0, (("rich", 0),), "who has much", (("&", "flush", "0000"),)),
    Row("flush", "s", 0, (("flush(p)", 2), ("loaded", 0)), "with money at hand", (("&", "rich", "0000"),)),
    Row("richly", "r", 2, (("richly", 0),), "in a rich way"),
)
# (lemma, part of speech) -> names of its synsets, where the order is not that of ROWS
ORDER = {("bank", "n"): ("firm", "shore")}
COUNTS = {"bank%1:14:00::": 7, "bank%1:17:01::": 5, "flush%5:00:02:rich:00": 1}
EXCEPTIONS = {"noun": "men man\nshores shore bank\n", "verb": "lent lend\n", "adj": "richer rich\n", "adv": ""}
SUPERSENSES = {
    0: "adj.all", 2: "adv.all", 3: "noun.Tops", 14: "noun.group", 17: "noun.object", 18: "noun.person",
    40: "verb.possession", 41: "verb.social",
}  # fmt: skip


def write(folder: Path, rows: tuple[Row, ...] = ROWS) -> Path:
    """Write the database files of *rows* into a folder, and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    offsets = _offsets(rows)
    for pos, name in (("n", "noun"), ("v", "verb"), ("a", "adj"), ("r", "adv")):
        own = [row for row in rows if FILE[row.kind] == name]
        lines = "".join(_line(row, rows, offsets) for row in own)
        (folder / f"data.{name}").write_text(LICENCE + lines)
        (folder / f"index.{name}").write_text(LICENCE + _index(own, pos, offsets))
        (folder / f"{name}.exc").write_text(EXCEPTIONS[name])
    (folder / "index.sense").write_text(_senses(rows, offsets))
    (folder / "lexnames").write_text("".join(f"{n:02d}\t{name}\t1\n" for n, name in SUPERSENSES.items()))
    return folder


def _offsets(rows: tuple[Row, ...]) -> dict[str, int]:
    ends = dict.fromkeys(FILE.values(), len(LICENCE))
    found = {}
    for row in rows:
        found[row.name] = ends[FILE[row.kind]]
        ends[FILE[row.kind]] += len(_line(row, rows, dict.fromkeys((each.name for each in rows), 0)))
    return found


def _line(row: Row, rows: tuple[Row, ...], offsets: dict[str, int]) -> str:
    kinds = {each.name: each.kind.replace("s", "a") for each in rows}
    words = " ".join(f"{word} {lex_id:x}" for word, lex_id in row.words)
    pointers = "".join(f"{sign} {offsets[name]:08d} {kinds[name]} {places} " for sign, name, places in row.pointers)
    start = f"{offsets[row.name]:08d} {row.file:02d} {row.kind} {len(row.words):02x} {words} {len(row.pointers):03d} "
    return f"{start}{pointers}| {row.gloss}  \n"


def _lemmas(own: list[Row]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for row in own:
        for word in dict.fromkeys(word.removesuffix("(p)").lower() for word, _ in row.words):
            found.setdefault(word, []).append(row.name)
    return found


def _index(own: list[Row], pos: str, offsets: dict[str, int]) -> str:
    lines = []
    for lemma, names in sorted(_lemmas(own).items()):
        order = ORDER.get((lemma, pos), tuple(names))
        places = " ".join(f"{offsets[name]:08d}" for name in order)
        lines.append(f"{lemma} {pos} {len(order)} 1 @ {len(order)} 0 {places}  \n")
    return "".join(lines)


def _senses(rows: tuple[Row, ...], offsets: dict[str, int]) -> str:
    lines, known = [], set()
    for row in rows:
        head = "rich:00" if row.kind == "s" else ":"
        names = _lemmas([each for each in rows if FILE[each.kind] == FILE[row.kind]])
        for word, lex_id in row.words:
            lemma = word.removesuffix("(p)").lower()
            if (lemma, row.name) in known:
                continue  # as in WordNet: one key for Thames and thames
            known.add((lemma, row.name))
            key = f"{lemma}%{TYPE[row.kind]}:{row.file:02d}:{lex_id:02d}:{head}"
            order = ORDER.get((lemma, row.kind), tuple(names[lemma]))
            lines.append(f"{key} {offsets[row.name]:08d} {order.index(row.name) + 1} {COUNTS.get(key, 0)}\n")
    return "".join(sorted(lines))
