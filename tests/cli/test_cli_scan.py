"""`sightline scan` from end to end on real files, against stored output."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from command_line import Cli
from sightline.corpus.names import picture_id
from sightline.corpus.store import CorpusStore

SNAPSHOT = Path(__file__).parent / "snapshots" / "scan.txt"


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("sightline_world", reason="needs sightline-world")
    from sightline_world.samples import write_bad_files, write_samples

    folder = tmp_path_factory.mktemp("samples")
    write_samples(folder / "good", seed=0)
    write_bad_files(folder / "bad")
    return folder


def without_times(text: str) -> str:
    return re.sub(r"in \d+\.\d s", "in … s", text)


def test_output_for_people(cli: Cli, pictures: Path) -> None:
    first = cli("scan", pictures / "good", "--workspace", "ws", "--owner-pattern", "{owner}/*")
    again = cli("scan", pictures / "good", "--workspace", "ws")
    bad = cli("scan", pictures / "bad", "--workspace", "ws2")
    assert (first.returncode, again.returncode, bad.returncode) == (0, 0, 0), bad.stderr
    shown = "\n".join(["$ first", first.stdout, "$ again", again.stdout, "$ bad files", bad.stdout])
    shown = without_times(shown)
    if not SNAPSHOT.exists():
        SNAPSHOT.parent.mkdir(exist_ok=True)
        SNAPSHOT.write_text(shown, "utf-8")
        pytest.fail(f"{SNAPSHOT} was not there; it is written now: look at it and run again")
    assert shown == SNAPSHOT.read_text("utf-8")


def test_output_for_machines(cli: Cli, pictures: Path) -> None:
    done = cli("scan", pictures / "good", "--workspace", "ws", "--owner-pattern", "{owner}/*", "--json")
    found = json.loads(done.stdout)
    assert found.keys() >= {
        "pictures", "skipped", "warnings", "duplicates", "bursts", "events", "owners", "seconds",
    }  # fmt: skip
    assert found["owners"] == 2 and found["duplicates"] > 0 and found["bursts"] > 0 and found["skipped"] == {}
    assert done.stderr == ""


@pytest.mark.world
def test_every_bad_file_ends_as_promised(cli: Cli, tmp_path: Path) -> None:
    from sightline_world.samples import write_bad_files

    promised = write_bad_files(tmp_path / "bad")
    done = cli("scan", tmp_path / "bad", "--workspace", "ws", "--json")
    assert done.returncode == 0, done.stderr
    with CorpusStore(tmp_path / "ws") as store:
        skipped = {path: reason for path, reason, _ in store.skipped()}
        warnings = dict(store.database.execute("SELECT id, warnings FROM pictures"))
    for file_name, expected in promised.items():
        name = picture_id(os.fsencode(file_name))
        if expected.startswith("ok"):
            assert name in warnings, (name, expected, skipped.get(name))
            note = expected.partition(": ")[2]
            assert not note or note in json.loads(warnings[name]), (name, expected, warnings[name])
        elif expected in ("truncated", "empty", "not a picture", "bomb", "unreadable"):
            assert skipped.get(name) == expected, (name, expected, warnings.get(name))


def test_names_of_skipped_files_with_v(cli: Cli, pictures: Path) -> None:
    done = cli("scan", pictures / "bad", "--workspace", "ws", "-v")
    assert "truncated" in done.stderr and "skipped" in done.stderr


@pytest.mark.parametrize("format_", ["corpus-jsonl", "corpus-csv", "corpus-parquet", "imagefolder"])
def test_exports_can_be_read_by_others(cli: Cli, pictures: Path, tmp_path: Path, format_: str) -> None:
    cli("scan", pictures / "good", "--workspace", "ws")
    done = cli("export", format_, "ws", "--out", "out", "--json")
    assert done.returncode == 0, done.stderr
    rows = _read(format_, tmp_path / "out")
    count = json.loads(cli("scan", pictures / "good", "--workspace", "ws", "--json").stdout)["pictures"]
    assert len(rows) == count
    assert all(row["id"] and len(row["sha256"]) == 64 for row in rows)


def _read(format_: str, out: Path) -> list[dict[str, Any]]:
    if format_ == "corpus-csv":
        import csv

        return list(csv.DictReader(out.open(encoding="utf-8", newline="")))
    if format_ == "corpus-parquet":
        pq = pytest.importorskip("pyarrow.parquet", reason="the extra parquet is not installed")
        rows: list[dict[str, Any]] = pq.read_table(out).to_pylist()
        return rows
    file = out / "metadata.jsonl" if format_ == "imagefolder" else out
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    if format_ == "imagefolder":
        assert all((out / row["file_name"]).is_file() for row in rows)
    return rows
