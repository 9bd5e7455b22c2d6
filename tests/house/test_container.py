"""The Dockerfile and the compose files: their commands serve a study here, and their health check tells its state."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from tests.annotation.store.cluster import cluster
from tests.cli.test_annotate_serve import write_study

pytest.importorskip("uvicorn")
DOMAIN = {"DOMAIN": "words.example.org", "DATABASE_PASSWORD": "secret"}
_PATIENCE = 90


def instructions(root: Path) -> list[tuple[str, str]]:
    """The instructions of the Dockerfile, each as its word and the rest of it."""
    text = re.sub(r"^#.*\n", "", (root / "Dockerfile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    lines = [" ".join(line.split()) for line in text.replace("\\\n", " ").splitlines() if line.strip()]
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in lines)]


def last(root: Path, word: str) -> str:
    """The last instruction of this word: the one that holds."""
    return [rest for name, rest in instructions(root) if name == word][-1]


def filled_in(text: str, given: dict[str, str]) -> str:
    """The text of a compose file with its variables: ${NAME:-default}, and ${NAME:?message} if it must be set."""

    def value(match: re.Match[str]) -> str:
        name, kind, rest = match.groups()
        if kind == ":?" and name not in given:
            raise KeyError(rest)
        return given.get(name, rest)

    return re.sub(r"\$\{(\w+)(:[-?])([^}]+)\}", value, text)


def services(root: Path, *names: str) -> dict[str, Any]:
    """The services of compose files, with the variables filled in; a later file replaces single entries."""
    made: dict[str, Any] = {}
    for name in names:
        text = filled_in((root / name).read_text(encoding="utf-8"), DOMAIN)
        assert "${" not in text, "every variable has a default or a message"
        for service, entries in YAML(typ="safe").load(text)["services"].items():
            made[service] = made.get(service, {}) | entries
    return made


def free_port() -> int:
    """A port that no program listens at."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


@contextmanager
def served(root: Path, folder: Path, words: list[str], public_url: str, **changed: str) -> Iterator[list[str]]:
    """The server that the image starts with these words, and the health check of the image for it."""
    port = str(free_port())
    (folder / "answers").mkdir(mode=0o700)
    assert json.loads(last(root, "ENTRYPOINT")) == ["lexiscope"]
    given = {"/answers": str(folder / "answers"), **changed}
    command = [sys.executable, "-m", "lexiscope", *(given.get(word, word) for word in words), "--port", port]
    kind, _, check = last(root, "HEALTHCHECK").partition(" CMD ")
    assert "--interval=" in kind
    health = [sys.executable, *(word.replace("8000", port) for word in json.loads(check)[1:])]
    environment = dict(os.environ)
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        said = []
        for line in process.stdout:
            said.append(line)
            if line.startswith("Ctrl-C"):
                break
        try:
            assert process.poll() is None, "".join(said)
            yield health
        finally:
            process.send_signal(getattr(signal, last(root, "STOPSIGNAL")))
            said += process.stdout.readlines()
            assert process.wait(timeout=_PATIENCE) == 0, "".join(said)
    assert public_url in "".join(said)


def state(health: list[str], public_url: str) -> int:
    """The exit status of the health check: 0 is healthy."""
    done = subprocess.run(health, env=os.environ | {"PUBLIC_URL": public_url}, capture_output=True, timeout=_PATIENCE)
    return done.returncode


def is_healthy(health: list[str], public_url: str) -> bool:
    """Whether the health check succeeds before long."""
    end = time.monotonic() + _PATIENCE
    while state(health, public_url):
        if time.monotonic() > end:
            return False
        time.sleep(0.2)
    return True


def test_the_image_needs_no_root(root: Path) -> None:
    """A user by number, one volume, packages by hash, and only files of the repository that exist."""
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", last(root, "USER"))
    assert json.loads(last(root, "VOLUME")) == ["/answers"]
    runs = [rest for word, rest in instructions(root) if word == "RUN"]
    pips = [command for rest in runs for command in rest.split("&&") if re.search(r"(?<![\w-])pip ", command)]
    assert len(pips) >= 3
    assert all("--require-hashes" in command or {"--no-index", "--no-deps"} <= {*command.split()} for command in pips)
    assert all("--no-build-isolation" in command for command in pips if " wheel " in command)
    assert not any(re.search(r"curl|wget|https?://", rest) for rest in runs)
    copied = [rest.split()[:-1] for word, rest in instructions(root) if word == "COPY" and "--from" not in rest]
    allowed = {line.removeprefix("!") for line in (root / ".dockerignore").read_text().splitlines() if line[0] == "!"}
    assert {name for names in copied for name in names} == allowed
    assert [name for name in allowed if not (root / name).exists()] == []
    assert "ADD" not in {word for word, _ in instructions(root)}


def test_each_image_can_be_named_by_its_digest(root: Path) -> None:
    """A variable with a default names each image that is fetched: in the Dockerfile an argument, which compose sets."""
    words = instructions(root)
    name, _, default = words[0][1].partition("=")
    assert (words[0][0], name) == ("ARG", "PYTHON_IMAGE")
    assert [rest.split()[0] for word, rest in words if word == "FROM"] == ["${PYTHON_IMAGE}", "${PYTHON_IMAGE}"]
    made = services(root, "compose.yaml", "compose.postgres.yaml")
    assert made["study"]["build"]["args"] == {"PYTHON_IMAGE": default}
    text = "".join((root / file).read_text(encoding="utf-8") for file in ("compose.yaml", "compose.postgres.yaml"))
    images = re.findall(r"image: (.+)", text)
    assert len(images) == 2
    assert all(re.fullmatch(r'"\$\{[A-Z]+_IMAGE:-[a-z]+:\d+\}"', image) for image in images)


def test_the_image_serves_a_study(root: Path, tmp_path: Path) -> None:
    """Its command serves the study file of the working folder; the check sees it, and sees that it ended."""
    write_study(tmp_path)
    url = re.findall(r"PUBLIC_URL=(\S+)", last(root, "ENV"))[0]
    words = json.loads(last(root, "CMD"))
    with served(root, tmp_path, words, "http://127.0.0.1:") as health:
        port = re.findall(r"127\.0\.0\.1:(\d+)/health", health[-1])[0]
        here = url.replace("8000", port)
        assert is_healthy(health, here)
        assert state(health, "https://elsewhere.example.org") != 0
        assert (tmp_path / "answers" / "study.sqlite").stat().st_mode & 0o077 == 0
    assert state(health, here) != 0
    assert not (tmp_path / "study").exists(), "everything that is written is in the volume"


def test_compose_serves_a_study_behind_the_proxy(root: Path, tmp_path: Path) -> None:
    """The server answers under the public address only, and the proxy asks the port at which it listens."""
    made = services(root, "compose.yaml")
    study, proxy = made["study"], made["proxy"]
    write_study(tmp_path)
    url = study["environment"]["PUBLIC_URL"]
    assert url == "https://words.example.org"
    with served(root, tmp_path, list(study["command"]), url) as health:
        assert is_healthy(health, url)
    assert proxy["command"][-4:] == ["--from", url, "--to", f"study:{last(root, 'EXPOSE')}"]
    assert {volume.split(":")[1] for volume in study["volumes"]} == {last(root, "WORKDIR"), "/answers"}
    assert study["read_only"] is True
    assert study["cap_drop"] == ["ALL"]


def test_only_the_proxy_reaches_the_server(root: Path) -> None:
    """Server and database are on a network that leads nowhere, and publish no port; the proxy is also on another one.

    It has its own place on both, which a restart of the server does not take away, and starts beside an unhealthy one.
    """
    made = services(root, "compose.yaml", "compose.postgres.yaml")
    networks = YAML(typ="safe").load(filled_in((root / "compose.yaml").read_text(encoding="utf-8"), DOMAIN))["networks"]
    assert [name for name, entry in networks.items() if (entry or {}).get("internal")] == ["inside"]
    assert {name: entries["networks"] for name, entries in made.items()} == {
        "study": ["inside"],
        "database": ["inside"],
        "proxy": ["inside", "outside"],
    }
    assert {name for name, entries in made.items() if "ports" in entries} == {"proxy"}
    assert made["proxy"]["depends_on"] == ["study"]
    assert not any("network_mode" in entries for entries in made.values())


@pytest.mark.parametrize("name", sorted(DOMAIN))
def test_a_variable_that_is_not_set_is_an_error(root: Path, name: str) -> None:
    """Compose stops with a message that names the variable and its file, and starts no site without a name."""
    text = "".join((root / file).read_text(encoding="utf-8") for file in ("compose.yaml", "compose.postgres.yaml"))
    with pytest.raises(KeyError, match=f"Set {name}.* in the file .env"):
        filled_in(text, {known: value for known, value in DOMAIN.items() if known != name})


def test_an_address_beyond_this_machine_needs_the_private_network(root: Path, tmp_path: Path) -> None:
    """The command of the compose file without its flag, or with a public address without HTTPS, is an error."""
    write_study(tmp_path)
    words = services(root, "compose.yaml")["study"]["command"]
    command = [str(tmp_path / "answers") if word == "/answers" else word for word in words]
    url = command[command.index("--public-url") + 1]
    for changed in (
        [word for word in command if word != "--private-network"],
        [word.replace(url, "http://words.example.org") for word in command],
        command[: command.index("--public-url")],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "lexiscope", *changed], cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 1
        assert "Plain HTTP at 0.0.0.0 would send cookies and answers without encryption" in done.stderr
        assert "--private-network" in done.stderr
        assert not (tmp_path / "answers").exists()


def test_compose_serves_a_study_on_postgresql(root: Path, tmp_path: Path) -> None:
    """Two processes on one database, whose name and user are those of the database's service."""
    made = services(root, "compose.yaml", "compose.postgres.yaml")
    study, database = made["study"], made["database"]["environment"]
    asked = study["command"][study["command"].index("--postgres") + 1]
    assert asked == f"postgresql://{database['POSTGRES_USER']}@database/{database['POSTGRES_DB']}"
    assert study["environment"]["PGPASSWORD"] == database["POSTGRES_PASSWORD"] == DOMAIN["DATABASE_PASSWORD"]
    write_study(tmp_path)
    url = "https://words.example.org"
    with (
        cluster("fsync=off") as running,
        served(root, tmp_path, list(study["command"]), url, **{asked: running.url}) as health,
    ):
        assert is_healthy(health, url)
    assert not (tmp_path / "answers" / "study.sqlite").exists()
