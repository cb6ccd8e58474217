"""What a line of DISBench predictions says, in any of the forms that it comes in.

| form | becomes |
|---|---|
| `["id", …]` | a set; with the option `mode=retriever`, or `scores` beside it, a ranking |
| `[["id", 0.9], …]`, `[{"photo_id": "id", "score": 0.9}, …]` | a ranking with scores, in the order given |
| `{"id": 0.9, …}` | a ranking, the highest score first |
| text with `[id, …]`, after its last "final answer is" where it has one | as `["id", …]` |
| other text; `null` | a failure, `unparsed` or `empty` |
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sightline.bench.formats.retrieval import finite_number
from sightline.bench.formats.rows import WrongFieldError
from sightline.types import Failure, PictureSet, Prediction, Ranking

_FINAL = re.compile(r"final answer(?: is)?", re.IGNORECASE)
_LIST = re.compile(r"\[([^\[\]]*)\]")
_IDS = ("photo_id", "id", "image_id")
_SCORES = ("score", "similarity")


def parse_prediction(value: Any, scores: Any, field: str, *, ranked: bool) -> Prediction:
    """The prediction in a field; `scores` is what stands beside it, if anything; photo ids stay as they are."""
    if value is None:
        return Failure("empty", "there is no prediction")
    if isinstance(value, str):
        ids = _listed(value)
        if ids is None:
            return Failure("unparsed", f"no list of photo ids in: {value[-200:]}")
        return Ranking(ids) if ranked else PictureSet(ids)
    if isinstance(value, Mapping):
        scored = [(photo, _score(score, f"{field}.{photo}")) for photo, score in value.items()]
        return _ranking(sorted(scored, key=lambda pair: -pair[1]))
    if not isinstance(value, Sequence):
        raise WrongFieldError(field, f"expected a list of photo ids, got {value!r:.60}")
    if value and isinstance(value[0], Sequence | Mapping) and not isinstance(value[0], str):
        return _ranking([_pair(item, f"{field}.{place}") for place, item in enumerate(value)])
    ids = tuple(_id(item, f"{field}.{place}") for place, item in enumerate(value))
    if scores is not None:
        return Ranking(ids, _parallel(scores, len(ids)))
    return Ranking(ids) if ranked else PictureSet(ids)


def _listed(text: str) -> tuple[str, ...] | None:
    """The ids in the last list of a text, the one after its last "final answer is" first of all."""
    said = [*_FINAL.finditer(text)]
    found = [*_LIST.finditer(text, said[-1].end())] if said else [*_LIST.finditer(text)][-1:]
    if not found:
        return None
    parts = (part.strip().strip("\"'`") for part in found[0][1].split(","))
    return tuple(part for part in parts if part)


def _ranking(pairs: list[tuple[str, float]]) -> Ranking:
    return Ranking(tuple(photo for photo, _ in pairs), tuple(score for _, score in pairs))


def _pair(item: Any, field: str) -> tuple[str, float]:
    if isinstance(item, Mapping):
        photo = next((item[key] for key in _IDS if key in item), None)
        score = next((item[key] for key in _SCORES if key in item), None)
        return _id(photo, f"{field}.photo_id"), _score(score, f"{field}.score")
    if isinstance(item, str) or not isinstance(item, Sequence) or len(item) != 2:
        raise WrongFieldError(field, f"expected a photo id and its score, got {item!r:.60}")
    return _id(item[0], f"{field}.0"), _score(item[1], f"{field}.1")


def _parallel(scores: Any, wanted: int) -> tuple[float, ...]:
    if not isinstance(scores, Sequence) or isinstance(scores, str) or len(scores) != wanted:
        raise WrongFieldError("scores", f"expected a list of {wanted} numbers, one for each photo, got {scores!r:.60}")
    return tuple(_score(score, f"scores.{place}") for place, score in enumerate(scores))


def _id(value: Any, field: str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise WrongFieldError(field, f"expected a photo id, got {value!r:.60}")
    return str(value)


def _score(value: Any, field: str) -> float:
    number = finite_number(value)
    if number is None:
        raise WrongFieldError(field, f"expected a number, got {value!r:.60}")
    return number
