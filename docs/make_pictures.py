"""Take the pictures of README and of the tutorials: ``python docs/make_pictures.py [NAME …]`` (needs Chromium).

The reports are those of published data (``LEXISCOPE_DATA``, or after ``lexiscope data get saw_c raw_c``). Each picture
that README shows exists for light and for dark pages. With names, only these pictures are taken.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS))
from pictures import Browser, reduced  # noqa: E402
from run_page import BLOCK  # noqa: E402

IMAGES = DOCS / "images"


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture, the file that it shows, and the commands that write this file.

    *blocks* is the page whose Python blocks are run first. *figure*: only the first figure with these words.
    """

    name: str
    shows: str
    commands: tuple[str, ...]
    blocks: str = ""
    figure: str = ""
    width: int = 1280
    height: int = 900
    kept_width: int = 1280
    dark: bool = False


_SAW_C = ("study saw_c --bootstrap 200 --mixed paper --out saw_c_run",)
_RAW_C = ("study saw_c --dataset raw_c --subject encoder:minilm --bootstrap 200 --mixed none --out raw_c_run",)
_AUDIT = ("bias my_pairs.csv --encoder words --out words_audit",)
_SENSES = (
    "train gasi --corpus corpus.txt --tokens given --min-count 1 --subsampling 0 --dimensions 24 --epochs 6 "
    "--learning-rate 0.05 --senses 2 --out vectors",
    "senses explore gasi:vectors --words words.txt --corpus corpus.txt --out explorer.html",
)
_STUDY = (
    "annotate init --task relatedness --items items.csv --language en --out study.yaml",
    "annotate preview study.yaml --out pages",
)
PICTURES = (
    Picture("report", "saw_c_run/report.html", _SAW_C, dark=True),
    Picture("ratings-report", "saw_c_run/report.html", _SAW_C, figure="one dot per person", kept_width=900),
    Picture("models-report", "raw_c_run/report.html", _RAW_C, figure="by layer", kept_width=900),
    Picture(
        "datasets-report", "words_audit/report.html", _AUDIT, "datasets/index.md", figure="Figure 1", kept_width=900
    ),
    Picture("senses", "explorer.html", _SENSES, "gallery/index.md", dark=True),
    Picture("participant", "pages/list_1_1.html", _STUDY, "people/index.md", width=390, height=640, dark=True),
)


def write_files(page: str, folder: Path) -> None:
    """Run the Python blocks of a page in a folder: they write the files that its commands read."""
    for block in BLOCK.finditer((DOCS / page).read_text(encoding="utf-8")):
        if block["language"] == "python" and not block["name"] and "open(" in block["text"]:
            subprocess.run([sys.executable, "-c", block["text"]], cwd=folder, check=True)


def main(names: Sequence[str]) -> int:
    """Take the pictures. Returns 1 if a command fails."""
    chosen = [picture for picture in PICTURES if not names or picture.name in names]
    done = set[str]()
    with tempfile.TemporaryDirectory() as place, Browser() as browser:
        for picture in chosen:
            folder = Path(place) / (picture.blocks.partition("/")[0] or "runs")
            if not folder.is_dir():
                folder.mkdir()
                if picture.blocks:
                    write_files(picture.blocks, folder)
            for command in (command for command in picture.commands if command not in done):
                words = [
                    sys.executable,
                    "-m",
                    "lexiscope",
                    *command.split(),
                    *["--quiet"] * ("annotate" not in command),
                ]
                if subprocess.run(words, cwd=folder, env={**os.environ, "OMP_NUM_THREADS": "1"}).returncode:
                    return 1
                done.add(command)
            for theme, end in (("light", ""), ("dark", "-dark"))[: 2 if picture.dark else 1]:
                address = (folder / picture.shows).as_uri()
                taken = browser.picture(address, picture.width, picture.height, theme=theme, figure=picture.figure)
                (IMAGES / f"{picture.name}{end}.png").write_bytes(reduced(taken, width=picture.kept_width))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
