"""The stages `similarity` and `similarity-retry`: each picture embedded once, failures listed, and mended later."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from judging_tools import judging_config, ready
from make_tools import rows, with_calls, write_rows
from search_tools import Array, Colours
from sightline.authoring import project as files
from sightline.authoring import similarity
from sightline.authoring.project import Project
from sightline.authoring.similarity import SimilarityStage
from sightline.calls.session import CallOptions, Session
from sightline.errors import UserError
from sightline.models.embedders.base import EmbeddingAttempt, as_attempt

PAIRS = (("q0", "something red", "00_red.png"), ("q0", "something red", "04_green.png"))
MORE = (*PAIRS, ("q1", "something lime", "00_red.png"), ("q1", "something lime", "04_green.png"))


def judged(project: Project, pairs: Sequence[tuple[str, str, str]] = MORE) -> None:
    lines = [
        {"query_id": query, "query_text": text, "image_id": picture, "relevance_label": 1, "note": "kept"}
        for query, text, picture in pairs
    ]
    write_rows(project.path(files.JUDGMENTS), lines)


def scored(project: Project) -> list[dict[str, Any]]:
    return rows(project.path(files.SIMILARITY))


def test_every_picture_and_query_is_embedded_once_in_batches(tmp_path: Path) -> None:
    project, embedder = ready(tmp_path), Colours()
    judged(project)
    done = SimilarityStage(embedder).run(project)
    again = SimilarityStage(embedder).run(project)
    assert (embedder.pictures_seen, embedder.texts_seen) == (2, 2)
    assert (done.counts["pictures embedded"], again.counts["pictures embedded"]) == (2, 0)
    found = scored(project)
    assert [row["note"] for row in found] == ["kept"] * 4
    assert found[0]["similarity_score"] > 0.99 > found[1]["similarity_score"]
    for row in found:
        assert row["similarity_score_logit"] == pytest.approx(100 * row["similarity_score"], abs=1e-3)


def test_the_cosine_is_that_of_the_vectors(tmp_path: Path) -> None:
    project, embedder = ready(tmp_path), Colours()
    judged(project, PAIRS)
    SimilarityStage(embedder).run(project)
    from PIL import Image

    pixels = np.asarray(Image.open(tmp_path / "pictures" / "04_green.png").convert("RGB"))
    expected = float(embedder.pictures([pixels])[0] @ embedder.texts(["something red"])[0])
    assert scored(project)[1]["similarity_score"] == pytest.approx(expected, abs=1e-5)


class Short(Colours):
    """Reads ten signs of a text, and says so."""

    name = "short"

    def attempt_texts(self, batch: Sequence[str]) -> EmbeddingAttempt:
        return as_attempt(self.texts(batch), np.array([len(text) > 10 for text in batch]))


def test_long_queries_are_cut_and_counted(tmp_path: Path) -> None:
    project = ready(tmp_path)
    judged(project, (("q0", "red", "00_red.png"), ("q1", "something red", "00_red.png")))
    done = SimilarityStage(Short()).run(project)
    assert done.counts["queries cut"] == 1
    assert any("1 query is longer" in warning for warning in done.warnings)
    assert all(row["similarity_score"] is not None for row in scored(project))


def test_what_failed_is_listed_and_retried_alone(tmp_path: Path) -> None:
    project, embedder = ready(tmp_path), Colours()
    judged(project, (*MORE, ("q1", "something lime", "nowhere.png")))
    picture = tmp_path / "pictures" / "04_green.png"
    whole = picture.read_bytes()
    picture.write_bytes(whole[:50])
    done = SimilarityStage(embedder).run(project)
    assert [row["similarity_score"] is None for row in scored(project)] == [False, True, False, True, True]
    assert sum(done.failures.values()) == 3
    assert {row["image_id"] for row in rows(project.failed(files.SIMILARITY))} == {"04_green.png", "nowhere.png"}
    picture.write_bytes(whole)
    lines = scored(project)
    lines[0]["similarity_score"] = 0.123
    write_rows(project.path(files.SIMILARITY), lines)
    seen = embedder.pictures_seen
    mended = SimilarityStage(embedder, retry=True).run(project)
    assert embedder.pictures_seen == seen + 1
    assert [row["similarity_score"] is None for row in scored(project)] == [False, False, False, False, True]
    assert scored(project)[0]["similarity_score"] == 0.123
    assert (mended.failures, mended.counts["kept"]) == ({"unknown picture": 1}, 2)


def test_a_retry_with_a_limit_loses_no_row(tmp_path: Path) -> None:
    project = ready(tmp_path)
    judged(project)
    SimilarityStage(Colours()).run(project)
    limited = Project(project.folder, Session(project.workspace, project.config), limit=1)
    SimilarityStage(Colours(), retry=True).run(limited)
    assert len(scored(project)) == 4


def test_benchmakers_own_column_keeps_its_scale(tmp_path: Path) -> None:
    project = ready(tmp_path)
    lines = [
        {"query_id": "q0", "query_text": "something red", "image_id": id_, "clip_score": score}
        for id_, score in (("00_red.png", 31.5), ("01_red.png", None))
    ]
    write_rows(project.path(files.SIMILARITY), lines)
    SimilarityStage(Colours(), retry=True).run(project)
    first, second = scored(project)
    assert first["clip_score"] == 31.5
    assert second["clip_score"] > 90
    assert "similarity_score" not in second


class Dark(Colours):
    """Gives no direction for what is red."""

    name = "dark"

    def pictures(self, batch: Sequence[NDArray[np.uint8]]) -> Array:
        found = super().pictures(batch)
        found[found[:, 0] > 0.9] = 0
        return found


def test_a_picture_without_a_direction_is_a_failure_of_its_own(tmp_path: Path) -> None:
    project = ready(tmp_path)
    judged(project)
    done = SimilarityStage(Dark()).run(project)
    assert done.failures == {"empty": 2}


def test_the_price_of_an_embedder_here_is_nothing(tmp_path: Path) -> None:
    project, embedder = ready(tmp_path), Colours()
    judged(project)
    done = SimilarityStage(embedder).run(with_calls(project, CallOptions(plan=True)))
    assert done.price is not None
    assert done.price.usd is not None
    assert done.price.usd.high == 0
    assert (embedder.pictures_seen, project.path(files.SIMILARITY).exists()) == (0, False)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "has no judgment in it"),
        ([{"query_id": "q0", "image_id": "00_red.png"}], 'line 1: expected text in "query_text"'),
        ([{"query_id": "q0", "query_text": "x"}], 'expected text in "image_id"'),
        ([[1]], "expected one JSON object"),
    ],
)
def test_wrong_rows_are_named(tmp_path: Path, lines: list[Any], message: str) -> None:
    project = ready(tmp_path, judging_config())
    write_rows(project.path(files.JUDGMENTS), lines)
    with pytest.raises(UserError, match=message):
        SimilarityStage(Colours()).run(project)


@pytest.mark.parametrize(("safetensors", "told"), [(True, {}), (False, {"safetensors": False})])
def test_weights_that_could_run_code_are_opened_where_the_settings_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, safetensors: bool, told: dict[str, bool]
) -> None:
    opened: list[dict[str, Any]] = []

    class Opened(Exception):  # noqa: N818
        pass

    def session(name: str, _: Session, options: dict[str, Any]) -> None:
        opened.append(options)
        raise Opened

    monkeypatch.setattr(similarity, "EmbedderSession", session)
    project = ready(tmp_path)
    settings = project.config.similarity.model_copy(update={"model": "transformers/clip", "safetensors": safetensors})
    judged(project)
    with pytest.raises(Opened):
        SimilarityStage().run(project.with_config(project.config.model_copy(update={"similarity": settings})))
    assert opened == [told]
