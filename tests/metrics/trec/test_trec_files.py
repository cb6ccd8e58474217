"""What TREC files may look like, and what is refused."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from unittest.mock import patch

import numpy as np
import pytest

from sightline.errors import UserError
from sightline.metrics.trec.fields import Words
from sightline.metrics.trec.files import read_qrels, read_run
from sightline.metrics.trec.ids import Ids
from sightline.metrics.trec.scoring import TrecScores, score_trec
from sightline.metrics.trec.table import open_text, read_pieces

QRELS = b"1 0 a 1\n1 0 b 0\n2 0 c 2\n"
RUN = b"1 Q0 b 1 2.0 t\n1 Q0 a 2 1.0 t\n2 Q0 c 1 0.5 t\n"


def score(folder: Path, qrels: bytes = QRELS, run: bytes = RUN, **options: bool) -> TrecScores:
    (folder / "qrels").write_bytes(qrels)
    (folder / "run").write_bytes(run)
    return score_trec(
        read_qrels(folder / "qrels", **options), read_run(folder / "run", **options), ["rr", "ndcg@10", "p@1"]
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace(b" ", b"\t"),
        lambda text: text.replace(b" ", b" \t  "),
        lambda text: text.replace(b"\n", b"\r\n"),
        lambda text: text.replace(b"\n", b" \n\n\n"),
        lambda text: b"\n\n" + text.rstrip(b"\n"),
        lambda text: b"\xef\xbb\xbf" + text,
        lambda text: b"  " + text,
        gzip.compress,
        lambda text: gzip.compress(text[:16]) + gzip.compress(text[16:]),
        lambda text: b"# by hand\n" + text.replace(b"\n2", b"\n#1 0 a 9 9 9\n\n#\n2") + b"# the end",
        lambda text: text.replace(b"\n1", b" and more\n1"),
        lambda text: text.replace(b"\n", b" extra\n"),
        lambda text: b"".join(reversed(text.splitlines(keepends=True))),
    ],
)
def test_layout_does_not_matter(change: Callable[[bytes], bytes], tmp_path: Path) -> None:
    scores = score(tmp_path, change(QRELS), change(RUN))
    assert scores.queries == ("1", "2")
    assert scores.values["rr"].tolist() == [0.5, 1.0]
    assert scores.values["p@1"].tolist() == [0.0, 1.0]


def test_three_columns_with_beirs_header_or_without(tmp_path: Path) -> None:
    qrels = b"query-id\tcorpus-id\tscore\n1\ta\t1\n1\tb\t0\n2\tc\t2\n"
    run = b"1 b 2.0\n1 a 1.0\n2 c 0.5\n"
    assert score(tmp_path, qrels, run).values["rr"].tolist() == [0.5, 1.0]
    assert score(tmp_path, qrels.split(b"\n", 1)[1], run).values["rr"].tolist() == [0.5, 1.0]


def test_grades_may_be_written_with_a_point(tmp_path: Path) -> None:
    assert score(tmp_path, b"1 0 a 1.0\n1 0 b 0.00\n2 0 c 2.\n").values["rr"].tolist() == [0.5, 1.0]


def test_a_pipe_and_standard_input_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "qrels").write_bytes(QRELS)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = Thread(target=pipe.write_bytes, args=(RUN,))
    writer.start()
    piped = read_run(pipe)
    writer.join()
    (tmp_path / "run").write_bytes(RUN)
    with (tmp_path / "run").open() as given:
        monkeypatch.setattr("sys.stdin", given)
        read = read_run("-")
    qrels = read_qrels(tmp_path / "qrels")
    for run in (piped, read):
        assert score_trec(qrels, run, ["rr"]).values["rr"].tolist() == [0.5, 1.0]


def test_scores_rule_and_not_ranks(tmp_path: Path) -> None:
    run = b"1 Q0 a 1 1e-3 t\n1 Q0 b 2 +.5E-2 t\n2 Q0 c 9 -1.5e+30 t\n2 Q0 d 1 -inf t\n"
    assert score(tmp_path, run=run).values["rr"].tolist() == [0.5, 1.0]


def test_a_repeated_result_stays_at_its_best_place_and_is_counted(tmp_path: Path) -> None:
    run = b"1 Q0 a 1 1 t\n1 Q0 b 2 2 t\n1 Q0 a 3 3 t\n1 Q0 b 4 2 t\n2 Q0 c 1 1 t\n2 Q0 a 1 1 t\n"
    scores = score(tmp_path, run=run)
    assert scores.duplicates == 2
    assert scores.results == 4
    assert scores.values["rr"].tolist() == [1.0, 1.0]
    assert scores.values["ndcg@10"].tolist() == [1.0, 1.0]


def test_a_repeated_judgment_is_counted_and_a_conflict_refused(tmp_path: Path) -> None:
    assert score(tmp_path, QRELS + b"1 0 a 1\n").repeated_judgments == 1
    assert score(tmp_path, QRELS + b"1 0 a 1\n").values["rr"].tolist() == [0.5, 1.0]
    with pytest.raises(UserError, match="query 1 has document a with grades 1 and 2"):
        score(tmp_path, QRELS + b"1 0 a 2\n")


def test_percent_encoded_ids_are_decoded_on_request(tmp_path: Path) -> None:
    qrels = b"q%20one 0 my%20cat.jpg 1\nq%20one 0 100%25.jpg 0\nq%20one 0 x 0\ntwo 0 caf%C3%A9 1\n"
    run = "q%20one Q0 100%25.jpg 1 3 t\nq%20one Q0 my%20cat.jpg 2 2 t%41\ntwo Q0 café 1 1 t\n".encode()
    plain, decoded = score(tmp_path, qrels, run), score(tmp_path, qrels, run, decode_ids=True)
    assert plain.queries == ("q%20one", "two")
    assert plain.values["rr"].tolist() == [0.5, 0.0]
    assert decoded.queries == ("q one", "two")
    assert decoded.values["rr"].tolist() == [0.5, 1.0]


def test_a_percent_sign_that_encodes_nothing_stays(tmp_path: Path) -> None:
    qrels = b"1 0 50% 1\n1 0 %zz 1\n1 0 %2 1\n1 0 a%00 1\n"
    run = b"1 Q0 50% 1 3 t\n1 Q0 %zz 2 2 t\n1 Q0 %2 3 1 t\n1 Q0 a%00 4 0.5 %"
    assert score(tmp_path, qrels, run, decode_ids=True).values["ndcg@10"].tolist() == [1.0]


def test_grades_may_be_high(tmp_path: Path) -> None:
    got = score(tmp_path, b"1 0 a 900000000\n1 0 b 450000000\n", b"1 Q0 b 1 2 t\n1 Q0 a 2 1 t\n")
    assert got.values["ndcg@10"] == pytest.approx([(1 + 2 / np.log2(3)) / (2 + 1 / np.log2(3))])


@pytest.mark.parametrize(
    ("qrels", "run", "parts"),
    [
        (b"1 0 a one\n", RUN, ["qrels, line 1, field 4", '"one" is not a grade', "whole number"]),
        (b"1 0 b 0\n\n1 0 a 1.5\n", RUN, ["qrels, line 3, field 4", '"1.5"']),
        (QRELS, RUN + b"2 Q0 d 2 high t\n", ["run, line 4, field 5", '"high" is not a score']),
        (QRELS, RUN + b"2 Q0 d 2 nan t\n", ["run, line 4, field 5", '"nan"']),
        (QRELS, RUN + b"2 d 2\n", ["run, line 4: 3 fields, where the first line has 6", "query Q0 document"]),
        (QRELS, b"1 a 2\n\n" + RUN, ["run, line 3: 6 fields, where the first line has 3"]),
        (QRELS, b"\n1 Q0 a 1 2.0\n", ["run, line 2: 5 fields", "query Q0 document rank score tag"]),
        (b"1 0 a\n1 0 b 1\n", RUN, ["qrels, line 2: 4 fields"]),
    ],
)
def test_a_wrong_line_is_refused_with_its_place(qrels: bytes, run: bytes, parts: list[str], tmp_path: Path) -> None:
    with pytest.raises(UserError) as error:
        score(tmp_path, qrels, run)
    for part in parts:
        assert part in str(error.value)


@pytest.mark.parametrize("piece", [1, 7, 64, 1 << 20])
def test_blank_lines_in_any_number(piece: int, tmp_path: Path) -> None:
    run = b"\n" * 5000 + RUN.replace(b"\n", b"\n" * 300) + b" \n" * 100
    with patch("sightline.metrics.trec.table._PIECE", piece):
        assert score(tmp_path, QRELS, run).values["rr"].tolist() == [0.5, 1.0]
        with pytest.raises(UserError, match="line 5902, field 5"):
            score(tmp_path, QRELS, run[:-200] + b"\n2 Q0 d 2 x t\n")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nowhere"):
        read_run(tmp_path / "nowhere")
    (tmp_path / "cut.gz").write_bytes(gzip.compress(RUN * 99)[:-30])
    with pytest.raises(UserError, match=r"cut\.gz"):
        read_run(tmp_path / "cut.gz")


def test_empty_files_score_nothing(tmp_path: Path) -> None:
    nothing = score(tmp_path, b"", b"")
    assert nothing.queries == ()
    assert nothing.unjudged_rate is None
    assert nothing.mean("rr") == 0.0
    no_run = score(tmp_path, run=b"\n \n")
    assert (no_run.missing_queries, no_run.mean("rr")) == (2, 0.0)
    assert score(tmp_path, qrels=b"").unknown_queries == 2


def test_a_file_that_shrinks_while_it_is_read_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "run").write_bytes(RUN)
    with pytest.raises(UserError, match="became shorter"), open_text(tmp_path / "run") as (file, size):
        list(read_pieces(file, size + 1, 1 << 20))


def test_ids_that_share_a_hash_are_refused_and_never_mixed_up(tmp_path: Path) -> None:
    def same_for_all(ids: Ids) -> Words:
        return np.zeros(ids.columns[0].size, np.uint64)

    queries = patch("sightline.metrics.trec.table.hash_ids", same_for_all)
    with queries, pytest.raises(UserError, match="query ids 2 and 1 share"):
        score(tmp_path)
    with patch("sightline.metrics.trec.scoring.hash_ids", same_for_all):
        with pytest.raises(UserError, match="documents b and a share"):
            score(tmp_path, b"1 0 a 1\n", b"1 Q0 b 1 2.0 t\n1 Q0 a 2 1.0 t\n")
        assert score(tmp_path, b"1 0 a 1\n", b"1 Q0 b 1 2.0 t\n").values["rr"].tolist() == [0.0]


def test_only_metrics_of_rankings_can_be_asked_for(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_bytes(QRELS)
    (tmp_path / "run").write_bytes(RUN)
    with pytest.raises(UserError, match="diversity"):
        score_trec(read_qrels(tmp_path / "qrels"), read_run(tmp_path / "run"), ["rr", "diversity@10"])


def test_ids_that_are_not_utf8_still_match(tmp_path: Path) -> None:
    scores = score(tmp_path, b"\xe9 0 \xff 1\n", b"\xe9 Q0 \xff 1 1 t\n")
    assert scores.queries == ("\\xe9",)
    assert scores.values["rr"].tolist() == [1.0]


def test_one_thread_or_many(tmp_path: Path) -> None:
    lines = [f"q{i % 50} Q0 d{i} 1 {i % 7} t\n" for i in range(200_000)]
    (tmp_path / "run").write_text("".join(lines))
    (tmp_path / "qrels").write_text("".join(f"q{i % 50} 0 d{i} 1\n" for i in range(0, 200_000, 37)))
    values = []
    for threads in (1, 3):
        qrels = read_qrels(tmp_path / "qrels", threads=threads)
        run = read_run(tmp_path / "run", threads=threads)
        values.append(score_trec(qrels, run, ["map"], threads=threads).values["map"].tolist())
    assert values[0] == values[1]
