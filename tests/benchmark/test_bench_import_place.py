"""An import takes the place of what it wrote before, and of nothing else."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

import sightline
from sightline.benchmark.folder import read_benchmark, write_benchmark
from sightline.benchmark.grade import grade_of
from sightline.benchmark.provenance import makers_words
from sightline.cli import main
from sightline.errors import UserError
from sightline.exchange import import_files
from sightline.io.jsonl import write_jsonl
from sightline.runs.folder import read_run, write_run
from sightline.types import LedgerEntry, Review


def judged(folder: Path, *queries: tuple[str, str]) -> Path:
    """A BEIR folder, which is called as its folder is."""
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    write_jsonl(folder / "corpus.jsonl", [{"_id": "a.jpg"}, {"_id": "b.jpg"}])
    write_jsonl(folder / "queries.jsonl", [{"_id": id_, "text": text} for id_, text in queries])
    lines = ["query-id\tcorpus-id\tscore", *(f"{id_}\ta.jpg\t1" for id_, _ in queries)]
    (folder / "qrels" / "test.tsv").write_text("\n".join(lines) + "\n")
    return folder


def test_the_same_files_are_imported_again(tmp_path: Path) -> None:
    source, out = judged(tmp_path / "sea", ("1", "a boat"), ("2", "a pier")), tmp_path / "bench"
    first = (import_files("beir", source, out), read_benchmark(out).checksum)
    assert (import_files("beir", source, out), read_benchmark(out).checksum) == first
    judged(source, ("1", "a ship"), ("2", "a pier"), ("3", "a gull"))
    assert import_files("beir", source, out).tasks == 3
    assert read_benchmark(out).tasks["1"].text == "a ship"


def test_who_made_the_labels_is_told_in_their_makers_words(tmp_path: Path) -> None:
    source, out = judged(tmp_path / "sea", ("1", "a boat")), tmp_path / "bench"
    import_files("beir", source, out)
    assert "do not say who made them" in grade_of(read_benchmark(out)).why
    card = "# Sea\n\nBoats.\n\n### Who are the annotators?\n\nThree sailors judged\neach pair.\n\nThey were paid.\n"
    (source / "README.md").write_text(card)
    import_files("beir", source, tmp_path / "again")
    found = read_benchmark(tmp_path / "again")
    assert found.card["labels_made_by"] == "Three sailors judged each pair."
    assert grade_of(found).name == "given" and "“Three sailors judged each pair.”" in grade_of(found).why
    page = sightline.report([tmp_path / "again"], tmp_path / "page.html").path.read_text()
    assert "Three sailors judged each pair." in page
    (source / "README.md").write_text("# Labels\n\n| code | meaning |\n|---|---|\n")
    assert makers_words(source) is None and makers_words(source / "queries.jsonl") is None


@pytest.mark.parametrize("query", [("2", "a pier"), ("1", "a tram")])
def test_another_benchmark_of_the_name_is_left_as_it_is(
    tmp_path: Path, query: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "bench"
    import_files("beir", judged(tmp_path / "theirs" / "sea", query), out)
    before = read_benchmark(out)
    source = judged(tmp_path / "mine" / "sea", ("1", "a boat"))
    with pytest.raises(SystemExit) as stop:
        main(["import", "beir", str(source), "--out", str(out)])
    said = capsys.readouterr().err
    assert stop.value.code == 2 and f'holds another benchmark "sea": 1 task of it, such as "{query[0]}"' in said
    assert read_benchmark(out) == before


def test_what_people_said_of_an_import_stays(tmp_path: Path) -> None:
    source, out = judged(tmp_path / "sea", ("1", "a boat")), tmp_path / "bench"
    import_files("beir", source, out)
    said = Review("1", "Ana", "accept", datetime(2026, 11, 1, tzinfo=UTC))
    write_benchmark(replace(read_benchmark(out), reviews=(said,)), out)
    with pytest.raises(UserError, match="1 decision would be lost"):
        import_files("beir", source, out)


def ranked(path: Path, system: str, *queries: str) -> Path:
    path.write_text("".join(f"{query} Q0 a.jpg 1 1.0 {system}\n" for query in queries))
    return path


def test_another_run_is_left_as_it_is(tmp_path: Path) -> None:
    out = tmp_path / "run"
    files = ranked(tmp_path / "one.run", "bm25", "1", "2")
    for _ in range(2):
        import_files("trec-run", files, out)
    import_files("beir", judged(tmp_path / "sea", ("1", "a boat"), ("2", "a pier")), tmp_path / "sea-bench")
    import_files("beir", judged(tmp_path / "lake", ("1", "a boat"), ("2", "a pier")), tmp_path / "lake-bench")
    sea, lake = (read_benchmark(tmp_path / f"{name}-bench") for name in ("sea", "lake"))
    import_files("trec-run", files, out, benchmark=sea)
    before = read_run(out)
    refused = (
        (ranked(tmp_path / "two.run", "clip", "1", "2"), sea, 'a run of "bm25", not of "clip"'),
        (ranked(tmp_path / "three.run", "bm25", "1"), sea, 'another run of "bm25": 1 attempt would be lost'),
        (files, lake, 'a run on "sea", not on "lake"'),
    )
    for other, benchmark, why in refused:
        with pytest.raises(UserError, match=why):
            import_files("trec-run", other, out, benchmark=benchmark)
    assert read_run(out) == before
    paid = LedgerEntry("1", "bm25")
    write_run(replace(before, ledger=(paid,)), out)
    with pytest.raises(UserError, match="with what it cost"):
        import_files("trec-run", files, out, benchmark=sea)
    assert read_run(out).ledger == (paid,)
