"""Addresses of the Hugging Face Hub (``hf://datasets/OWNER/NAME``): the files of a dataset, on this machine.

Only the command ``lexiscope data get`` comes here; everything else reads the folder that it prints.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from lexiscope.core.errors import DataError, SpecError, require

# a revision has no slash, but for the branches that the Hub makes itself
_ADDRESS = re.compile(r"hf://datasets/([\w.-]+/[\w.-]+)(?:@(refs/(?:convert|pr)/[\w-]+|[\w.-]+))?(?:/(.+?)/?)?")
_PREFIX = "hf://"
_FILES = ("README.md", "*.parquet", "*.csv", "*.tsv", "*.jsonl", "*.json")


@dataclass(frozen=True, slots=True)
class HubAddress:
    """A dataset of the Hub: ``OWNER/NAME``, a revision (a commit, tag or branch; empty: the newest), a file or folder.

    >>> HubAddress.parse("hf://datasets/lab/norms@v1.0/ratings")
    HubAddress(name='lab/norms', revision='v1.0', inner='ratings')
    """

    name: str
    revision: str = ""
    inner: str = ""

    @classmethod
    def parse(cls, text: str) -> HubAddress:
        """Read an address. Errors: :class:`SpecError` for a text of another form."""
        match = _ADDRESS.fullmatch(text)
        if match is None:
            hint = "write hf://datasets/OWNER/NAME, with @REVISION and /FOLDER behind it if needed"
            raise SpecError(f"{text!r} is not the address of a dataset of the Hub", hint=hint)
        return cls(match[1], match[2] or "", match[3] or "")


def is_hub_address(text: str) -> bool:
    """Whether a text begins as an address of the Hub."""
    return text.startswith(_PREFIX)


def download(address: HubAddress) -> Path:
    """Return the local folder (or file) of an address; tables and the card are downloaded if they are not there.

    Errors: :class:`MissingExtraError` without the package huggingface_hub; :class:`DataError` if the Hub does not have
    it or cannot be reached.
    """
    hub = require("huggingface_hub", "models")
    inner = [address.inner, f"{address.inner}/*", "README.md"] if address.inner else list(_FILES)
    try:
        folder = Path(
            hub.snapshot_download(
                address.name, repo_type="dataset", revision=address.revision or None, allow_patterns=inner
            )
        )
    except (OSError, ValueError) as error:
        # the errors of the Hub and of the network are OSErrors, those of a wrong name ValueErrors
        what = f"could not get {address.name} from the Hub"
        hint = "check the name, the revision and the network; a private dataset needs `hf auth login`"
        raise DataError(what, why=str(error).strip().partition("\n")[0], hint=hint) from error
    path = folder / address.inner if address.inner else folder
    if not path.exists():
        raise DataError(f"{address.name} has no {address.inner!r}", hint="name a file or folder of the dataset")
    return path
