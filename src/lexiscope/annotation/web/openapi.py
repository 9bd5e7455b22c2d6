"""The server's addresses as an OpenAPI description, made from the tables of routes: what may be sent, and how much.

Handlers read forms and queries by name; what they read is repeated here with its bounds. A test compares
every form of a page, and every route, with this description.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Any, get_args

from lexiscope.annotation.store.checks import FLAGS, SKIPPED
from lexiscope.annotation.store.record import Phase, State, Status
from lexiscope.annotation.study_file.definition import StudyDefinition
from lexiscope.annotation.web.admin.passwords import LONGEST, SHORTEST
from lexiscope.annotation.web.admin.routes import ADMIN_ROUTES, AdminAddress
from lexiscope.annotation.web.admin.visit import ROOT
from lexiscope.annotation.web.security import MAX_BODY, MAX_FIELDS
from lexiscope.annotation.web.server import ROUTES, Address
from lexiscope.annotation.writing.review import NOT_REVIEWED

Schema = dict[str, Any]
_COOKIES = {"participant": "participant", "researcher": "researcher"}
_PARAMETER = re.compile(r"{(\w+)(?::\w+)?}")


def _text(most: int, *, least: int = 0, **more: Any) -> Schema:
    return {"type": "string", "minLength": least, "maxLength": most, **more}


def _whole(most: int, *, least: int = 0) -> Schema:
    return {"type": "integer", "minimum": least, "maximum": most}


def _one_of(*values: str) -> Schema:
    return {"type": "string", "enum": list(values), "maxLength": max(map(len, values))}


_YES, _PAGE = _one_of("yes"), _whole(999_999_999, least=1)
_ID, _KEY = _text(200, least=1), _text(64, least=8, pattern="^[0-9A-Za-z_-]{8,64}$")
_SAID, _LONG = {"said": _text(100)}, _text(10_000)
_ANSWER: Schema = {
    "value": {"type": "number", "minimum": -1e9, "maximum": 1e9},
    "option": _text(1000),
    "text": _LONG,
    "guessed_word": _LONG,
    "comment": _LONG,
    **{f"flag_{name}": _YES for name in sorted(FLAGS - {SKIPPED})},
    "client_key": _KEY,
    "page_version": _text(40),
    "supersedes": _whole(999_999_999),
    "shown_at": _text(40),
    "shown_mark": _text(100),
    "rt_ms": {"type": "number", "minimum": 0, "maximum": 1e9},
}
_NEW_PASSWORD = _text(LONGEST, least=SHORTEST)

PATH: Mapping[str, Schema] = {
    "phase": _one_of(*Phase),
    "position": _whole(10**9),
    "number": _whole(10**9),
    "token": _ID,
    "name": _ID,
    "secret": _ID,
    "list_id": _ID,
    "who": _ID,
}
"""The parts of addresses."""

QUERIES: Mapping[str, Schema] = {
    "/search": {"q": _text(200)},
    f"{ROOT}/login": _SAID,
    ROOT: _SAID,
    f"{ROOT}/places/{{list_id}}": {"places": _whole(100_000)},
    f"{ROOT}/items": {"page": _PAGE, "below": _one_of("1"), "q": _text(100)},
    f"{ROOT}/participants": {
        "page": _PAGE,
        "state": _text(40),
        "q": _text(64),
        **{name: _whole(2000) for name in ("marked", "kept", "unknown")},
        **_SAID,
    },
    f"{ROOT}/participants/{{who}}": _SAID,
    f"{ROOT}/exclusions": {"page": _PAGE, **_SAID},
    f"{ROOT}/comments": {"page": _PAGE, "flagged": _one_of("1")},
    f"{ROOT}/review": {"page": _PAGE, "verdict": _one_of("accepted", "rejected", NOT_REVIEWED), **_SAID},
    f"{ROOT}/review/items": {"leave_out": _one_of("1")},
    f"{ROOT}/log": {"page": _PAGE, **_SAID},
    f"{ROOT}/status": {"to": _one_of(*get_args(Status)), **_SAID},
}
"""The parameters of a GET by address; those of the landing page are the study's."""

FORMS: Mapping[str, Schema] = {
    "/id": {"participant": _ID, "client_key": _KEY},
    "/consent": {"consent": _one_of("yes", "no"), "client_key": _KEY},
    "/about": {"client_key": _KEY},
    "/begin": {"client_key": _KEY},
    "/trial/{phase}/{position}": _ANSWER,
    "/instructions/{phase}/{position}": {},
    "/another/{position}": _ANSWER,
    "/debrief": {"comment": _LONG, "client_key": _KEY},
    f"{ROOT}/login": {"name": _ID, "password": _text(LONGEST)},
    f"{ROOT}/setup/{{secret}}": {"name": _ID, "password": _NEW_PASSWORD, "again": _NEW_PASSWORD},
    f"{ROOT}/logout": {},
    f"{ROOT}/places/{{list_id}}": {"places": _whole(100_000), "confirmed": _YES},
    f"{ROOT}/away": {"ids": _text(100_000), "to": _one_of("returned", "timed_out")},
    f"{ROOT}/participants/{{who}}": {"to": _one_of(*State), "reason": _text(2000)},
    f"{ROOT}/participants/{{who}}/forget": {"typed": _text(8)},
    f"{ROOT}/exclusions": {},
    f"{ROOT}/review/{{number}}": {
        "verdict": _one_of("accepted", "rejected"),
        "reason": _text(2000),
        "text": _text(20_000),
    },
    f"{ROOT}/invitations": {"n": _whole(1000, least=1)},
    f"{ROOT}/invitations/file": {"key": _text(100)},
    f"{ROOT}/export": {},
    f"{ROOT}/log": {},
    f"{ROOT}/status": {"to": _one_of(*get_args(Status)), "confirmed": _YES},
}
"""The fields of a POST by address, in addition to the token ``csrf`` of each form."""


def openapi(study: StudyDefinition | None = None) -> Schema:
    """Return the description of every address. The landing page's parameters and the questions about the participant
    are those of *study*; by default, those of a study file with default settings."""
    paths: dict[str, dict[str, Schema]] = {}
    for address in (*ROUTES, *ADMIN_ROUTES):
        path = _PARAMETER.sub(r"{\1}", address.path)
        for method in address.methods:
            paths.setdefault(path, {})[method.lower()] = _operation(address, path, method, study)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Lexiscope: the server of a study",
            "version": "1",
            "description": f"A body has at most {MAX_BODY} bytes and {MAX_FIELDS} fields; a name may end in -<suffix>.",
        },
        "paths": paths,
        "components": {
            "securitySchemes": {
                role: {"type": "apiKey", "in": "cookie", "name": name} for role, name in _COOKIES.items()
            },
            "responses": _RESPONSES,
            "schemas": {"Error": _ERROR, "Next": {"type": "object", "properties": {"next": _text(2000)}}},
        },
    }


_ERROR: Schema = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "field", "message", "reference"],
            "properties": {
                "code": _text(100),
                "field": _text(200),
                "message": _text(1000),
                "reference": _text(12),
            },
        },
        "next": _text(2000),
    },
}


def _operation(address: Address | AdminAddress, path: str, method: str, study: StudyDefinition | None) -> Schema:
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": PATH[name]}
        for name in _PARAMETER.findall(address.path)
    ]
    operation: Schema = {
        "operationId": f"{method.lower()}_{address.handler.__module__.rpartition('.')[2]}_{address.handler.__name__}",
        "summary": (inspect.getdoc(address.handler) or "").partition("\n\n")[0].replace("\n", " "),
        "security": [] if address.role == "everyone" else [{address.role: []}],
        "responses": _ANSWERS,
    }
    if method == "GET":
        query = _landing_query(study) if path == "/" else QUERIES.get(path, {})
        parameters += [{"name": name, "in": "query", "schema": schema} for name, schema in query.items()]
    else:
        about = study.about_you if study is not None and path == "/about" else ()
        fields = {"csrf": _text(64), **FORMS[path], **{question.measure: _text(1000) for question in about}}
        form = {"schema": {"type": "object", "properties": fields, "required": ["csrf"], "maxProperties": MAX_FIELDS}}
        operation["requestBody"] = {"required": True, "content": {"application/x-www-form-urlencoded": form}}
    return {**operation, "parameters": parameters} if parameters else operation


_RESPONSES: Schema = {
    "Page": {
        "description": "a page; where JSON is asked for, the address to go to",
        "content": {"text/html": {}, "application/json": {"schema": {"$ref": "#/components/schemas/Next"}}},
    },
    "Led": {"description": "the page to go to"},
    "Refused": {
        "description": "refused (4xx), not stored or not now (503, with Retry-After), nothing saved (503, /health), "
        "disk low (507, /health)",
        "content": {"text/html": {}, "application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
    },
}
_ANSWERS = {
    status: {"$ref": f"#/components/responses/{name}"}
    for status, name in {"200": "Page", "303": "Led", "default": "Refused"}.items()
}


def _landing_query(study: StudyDefinition | None) -> Schema:
    names = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
    if study is not None:
        names = (study.platform.participant, study.platform.study, study.platform.session)
    return {name: _text(200) for name in names if name}
