"""Finished batches on disk: the computed bytes, one model's only, every damage found, a broken call continued."""

from __future__ import annotations

import multiprocessing
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path

import numpy as np
import pytest

from lexiscope.core.errors import RunError
from lexiscope.core.usage import Usage, occurrences
from lexiscope.subjects.local.encoder import Encoder, EncoderOptions

Folders = Callable[[str], Path]
BANKS = "The bank of the river is far from the bank in town."


def usages_in(text: str, word: str) -> list[Usage]:
    return [Usage(text, start, end) for start, end in occurrences(text, word)]


USAGES = [
    *usages_in(BANKS, "bank"),
    *usages_in(BANKS, "river"),
    *usages_in("She could hear the loud bark of the dog.", "bark"),
    *usages_in("He scraped the bark of the old oak tree.", "bark"),
    *usages_in("El banco del parque está lejos.", "banco"),
    *usages_in("Bark", "Bark"),
    *usages_in("¿Quién usó la lima de uñas?", "uñas"),
]


def copy_of(folder: Path, to: Path, *, without: tuple[str, ...] = ()) -> Path:
    to.mkdir()
    for path in folder.iterdir():
        if path.name not in without:
            (to / path.name).write_bytes(path.read_bytes())
    return to


def files_of(work: Path) -> dict[str, bytes]:
    return {str(path.relative_to(work)): path.read_bytes() for path in work.rglob("*.vectors")}


def test_stored_vectors_are_the_computed_ones(tiny: Folders, tmp_path: Path) -> None:
    """A second call reads what the first one stored, bit for bit, and computes nothing."""
    first = Encoder(str(tiny("bert"))).embed(USAGES, work=tmp_path)
    encoder = Encoder(str(tiny("bert")))
    second = encoder.embed(USAGES, work=tmp_path)
    assert first.tobytes() == second.tobytes()
    assert "_forward" not in encoder.__dict__, "the model was loaded although all vectors are stored"
    assert encoder.settings["route"] == "hooks"


def test_a_second_run_imports_no_torch(tiny: Folders, tmp_path: Path) -> None:
    """With all vectors stored neither torch nor transformers is imported."""
    Encoder(str(tiny("bert"))).embed(USAGES[:3], work=tmp_path)
    script = (
        "import sys; from pathlib import Path; from lexiscope.core.catalog import subject;"
        "from lexiscope.core.usage import Usage;"
        f"s = subject('encoder:{tiny('bert')}');"
        f"u = [Usage(*each) for each in {[usage.key for usage in USAGES[:3]]!r}];"
        f"v = s.embed(u, work=Path({str(tmp_path)!r}));"
        "print(v.shape, sorted({'torch', 'transformers', 'tokenizers'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "(3, 4, 16) []"


def break_after(n_batches: int, encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Let an encoder fail when it has read *n_batches*; return the list in which it counts them."""
    ran: list[int] = []
    run = encoder._forward.run

    def until(batch: list) -> np.ndarray:
        if len(ran) >= n_batches:
            raise KeyboardInterrupt
        ran.append(1)
        return run(batch)

    monkeypatch.setattr(encoder._forward, "run", until)
    return ran


def test_a_broken_call_continues_with_the_same_bytes(
    tiny: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a break between any two batches the call ends with the same bytes and recomputes none that is stored."""
    options = EncoderOptions(batch_tokens=16)
    whole = Encoder(str(tiny("bert")), options=options).embed(USAGES, work=tmp_path / "whole")
    batches = len(files_of(tmp_path / "whole"))
    assert batches > 3
    for broken_after in (0, 1, batches - 1):
        work = tmp_path / f"broken{broken_after}"
        first = Encoder(str(tiny("bert")), options=options)
        first_runs = break_after(broken_after, first, monkeypatch)
        with pytest.raises(KeyboardInterrupt):
            first.embed(USAGES, work=work)
        second = Encoder(str(tiny("bert")), options=options)
        second_runs = break_after(batches, second, monkeypatch)
        assert second.embed(USAGES, work=work).tobytes() == whole.tobytes()
        assert len(first_runs) + len(second_runs) == batches
        assert files_of(work) == files_of(tmp_path / "whole")


def test_another_model_never_hits_the_store(tiny: Folders, tmp_path: Path) -> None:
    """Weights, tokenizer, configuration, dtype, sentence and span are all in the key of a stored batch."""
    work = tmp_path / "work"
    Encoder(str(tiny("bert"))).embed(USAGES[:1], work=work)
    changed = copy_of(tiny("bert"), tmp_path / "changed")
    weights = bytearray((changed / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (changed / "model.safetensors").write_bytes(weights)
    other_tokenizer = copy_of(tiny("bert"), tmp_path / "tokenizer")
    settings = other_tokenizer / "tokenizer_config.json"
    settings.write_text(settings.read_text() + " ")
    usage = USAGES[0]
    requests = [
        (Encoder(str(changed)), [usage]),
        (Encoder(str(other_tokenizer)), [usage]),
        (Encoder(str(tiny("bert")), options=EncoderOptions(dtype="bf16")), [usage]),
        (Encoder(str(tiny("bert"))), [Usage(usage.text, usage.start, usage.end - 1)]),
        (Encoder(str(tiny("bert"))), [Usage(usage.text + " ", usage.start, usage.end)]),
    ]
    for number, (encoder, usages) in enumerate(requests, start=2):
        encoder.embed(usages, work=work)
        assert len(files_of(work)) == number


def test_the_same_model_in_another_folder_hits_the_store(tiny: Folders, tmp_path: Path) -> None:
    """A stored batch belongs to the content of a model, not to its place."""
    Encoder(str(tiny("bert"))).embed(USAGES, work=tmp_path / "work")
    encoder = Encoder(str(copy_of(tiny("bert"), tmp_path / "copy")))
    encoder.embed(USAGES, work=tmp_path / "work")
    assert "_forward" not in encoder.__dict__


def test_every_damage_to_a_stored_file_is_found(tiny: Folders, tmp_path: Path) -> None:
    """Any flipped bit and any cut of a stored file is an error that names it; nothing is computed from it."""
    Encoder(str(tiny("bert"))).embed(USAGES[:1], work=tmp_path)
    rng = random.Random(11)
    for path in [*tmp_path.rglob("*.vectors"), *tmp_path.rglob("*.plan")]:
        good = path.read_bytes()
        for _ in range(25):
            bad = bytearray(good)
            bad[rng.randrange(len(bad))] ^= 1 << rng.randrange(8)
            for content in (bytes(bad), good[: rng.randrange(len(good))]):
                path.write_bytes(content)
                with pytest.raises(RunError, match=f"{path.name}[\\s\\S]*damaged[\\s\\S]*hashes to"):
                    Encoder(str(tiny("bert"))).embed(USAGES[:1], work=tmp_path)
        path.write_bytes(good)


MANY = [Usage(f"the bark of the dog {'near the tree ' * (n % 4)}and {n} banks", 4, 8) for n in range(200)]


@pytest.mark.skipif("forkserver" not in multiprocessing.get_all_start_methods(), reason="needs fork")
def test_a_killed_process_continues_with_the_same_bytes(tiny: Folders, tmp_path: Path) -> None:
    """SIGKILL again and again, each time a little later: the result is byte-identical to an unbroken run."""
    # children of a server that has only imported the libraries: forking this process, in which their threads run,
    # now and then breaks the child
    start = multiprocessing.get_context("forkserver")
    start.set_forkserver_preload(["torch", "transformers.models.bert.modeling_bert"])
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    encoder = Encoder(str(tiny("bert")), options=EncoderOptions(batch_tokens=16, threads=1))

    def child(work: Path) -> BaseProcess:
        process = start.Process(target=encoder.embed, args=(MANY,), kwargs={"work": work})
        process.start()
        return process

    for stored_at_least in (1, 20, 40, 60):
        broken = child(killed)
        while len(files_of(killed)) < stored_at_least:
            time.sleep(0.001)
        broken.kill()
        broken.join()
        assert broken.exitcode == -signal.SIGKILL
    stored = len(files_of(killed))
    for work in (whole, killed):
        unbroken = child(work)
        unbroken.join()
        assert unbroken.exitcode == 0
    assert stored < len(files_of(whole))
    assert files_of(killed) == files_of(whole)
    assert (encoder.embed(MANY, work=killed) == encoder.embed(MANY, work=whole)).all()
