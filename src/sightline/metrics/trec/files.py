"""TREC qrels and run files, read straight into arrays."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from pathlib import Path

import numpy as np

from sightline.errors import UserError
from sightline.metrics.trec.fields import Ints, parse_floats, parse_ints
from sightline.metrics.trec.ids import find, hash_ids, pair_keys
from sightline.metrics.trec.table import TrecForm, TrecTable, read_table

_QRELS = TrecForm(
    layouts={4: (0, 2, 3), 3: (0, 1, 2)},
    number="grade",
    expected='"query 0 document grade" (or "query document grade"), the grade a whole number',
    dtype=np.int32,
    parse=parse_ints,
)
_RUN = TrecForm(
    layouts={6: (0, 2, 4), 3: (0, 1, 2)},
    number="score",
    expected='"query Q0 document rank score tag" (or "query document score"), the score a number',
    dtype=np.float32,
    parse=parse_floats,
)


def read_qrels(path: str | PathLike[str], *, decode_ids: bool = False, threads: int | None = None) -> TrecTable:
    """Read `query 0 document grade` lines, plain or gzipped; `decode_ids` undoes the percent-encoding of ids.

    Three columns (`query document grade`) are taken too, with BEIR's header or without. A line takes 4 bytes of
    memory and its document's id, in words of 8.
    """
    table = read_table(Path(path), _QRELS, decode_ids=decode_ids, threads=threads)
    owner = table.owners()
    key = pair_keys(hash_ids(table.documents), owner)
    if not find(key, key[:0]).repeats:
        return table
    order = np.argsort(key, kind="stable")
    sooner, later = order[:-1], order[1:]
    same = (key[sooner] == key[later]) & (owner[sooner] == owner[later])
    sooner, later = sooner[same], later[same]
    same = table.documents[sooner].same(table.documents[later])
    sooner, later = sooner[same], later[same]
    _check_conflicts(table, sooner, later, owner)
    keep = np.ones(len(table), np.bool_)
    keep[later] = False
    offsets = np.append(0, np.cumsum(np.bincount(owner[keep], minlength=len(table.queries))))
    return replace(table.take(np.flatnonzero(keep), offsets), duplicates=later.size)


def read_run(path: str | PathLike[str], *, decode_ids: bool = False, threads: int | None = None) -> TrecTable:
    """Read `query Q0 document rank score tag` lines, plain or gzipped; the rank and the tag are not used.

    Scores are in single precision, as trec_eval compares them. Lines may come in any order; three columns (`query
    document score`) are taken too. A line takes 4 bytes of memory and its document's id, in words of 8.
    """
    return read_table(Path(path), _RUN, decode_ids=decode_ids, threads=threads)


def _check_conflicts(table: TrecTable, sooner: Ints, later: Ints, owner: Ints) -> None:
    """A document can't have two different grades for one query."""
    conflict = np.flatnonzero(table.numbers[sooner] != table.numbers[later])
    if conflict.size:
        a, b = int(sooner[conflict[0]]), int(later[conflict[0]])
        raise UserError(
            f"{table.path}: query {table.queries[int(owner[a])]} has document {table.documents.text_at(a)} "
            f"with grades {table.numbers[a]} and {table.numbers[b]}.",
            "keep one of the two lines",
        )
