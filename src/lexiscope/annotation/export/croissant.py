"""Croissant 1.1: the tables of an export described in JSON-LD, so that programs find, check and load them.

Croissant (MLCommons) describes files with their checksums, and tables with the meaning and type of each column. The
file is ``croissant.json`` in the folder of the export; Psych-DS describes the judgments only.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from lexiscope.annotation.export.study_data import StudyData
from lexiscope.core.run import sha256_of
from lexiscope.core.simulated import TOLD_SIMULATED
from lexiscope.items.sheets.form import Sheet

FILE = "croissant.json"
CONFORMS_TO = "http://mlcommons.org/croissant/1.1"
_TYPES = {"integer": "sc:Integer", "number": "sc:Float", "truth": "sc:Boolean", "time": "sc:DateTime"}
_CONTEXT: dict[str, object] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "name": {"@container": "@language"},
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""The names of the format, as its specification lists them."""


def croissant(collected: StudyData, sheets: Sequence[Sheet], folder: Path) -> str:
    """Return ``croissant.json`` of an export: each sheet that is a file in *folder*, with its SHA-256, and its columns.

    A sheet without rows is described too. The same export gives the same text.
    """
    definition = collected.definition
    about = f"Answers of participants to the task {definition.task}, with the items and the participants' random IDs."
    if collected.simulated:
        about = f"SIMULATED PARTICIPANTS: {TOLD_SIMULATED}. {about}"
    description: dict[str, object] = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": definition.texts.title or definition.name,
        "alternateName": definition.name,
        "description": f"{about} Collected with Lexiscope.",
        "inLanguage": definition.language,
        "keywords": ["word meaning", definition.task, *(["simulated participants"] if collected.simulated else [])],
        "isLiveDataset": False,
        "distribution": [_file_object(sheet, folder) for sheet in sheets],
        "recordSet": [_record_set(sheet) for sheet in sheets],
    }
    return json.dumps(description, ensure_ascii=False, indent=2) + "\n"


def _file_object(sheet: Sheet, folder: Path) -> dict[str, object]:
    path = folder / sheet.file
    return {
        "@type": "cr:FileObject",
        "@id": sheet.file,
        "name": sheet.file,
        "description": f"One row: {sheet.row_is}.",
        "contentUrl": sheet.file,
        "contentSize": f"{path.stat().st_size} B",
        "encodingFormat": "text/csv",
        "sha256": sha256_of(path),
    }


def _record_set(sheet: Sheet) -> dict[str, object]:
    name = Path(sheet.file).stem
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": f"One record: {sheet.row_is}.",
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{name}/{column.name}",
                "name": column.name,
                "description": column.meaning + (f" (unit: {column.unit})" if column.unit else ""),
                "dataType": _TYPES.get(column.kind, "sc:Text"),
                "source": {"fileObject": {"@id": sheet.file}, "extract": {"column": column.name}},
            }
            # the published layout of some tasks numbers its rows in a column without a name, which nothing can refer to
            for column in sheet.columns
            if column.name
        ],
    }
