"""Pictures through an embedder on a cluster: each worker opens the embedder, reads files, and sends vectors back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from sightline.calls.file_map import ClusterReader, Pairs, batch_stage, spread_batches
from sightline.calls.session import Session
from sightline.calls.stages import SharedServices, StageSpec
from sightline.engine.async_map import Stage
from sightline.models.embedders.base import attempt_pictures, batch_of, close
from sightline.models.embedders.pixels import Decoded, DecodeJob, DecodeRefused, EmbeddedPicture, read_picture
from sightline.models.embedders.registry import find_embedder
from sightline.models.embedders.session import EmbedderSession
from sightline.models.protocols import Embedder


def embed_on_cluster(jobs: Iterable[DecodeJob], session: EmbedderSession) -> Iterator[Pairs]:
    """Each job with its `EmbeddedPicture`, or why there is none; batch by batch, in order."""
    named = {"embedder": session.given, "options": session.options, "session": session.session.with_calls(budget=None)}
    spec: StageSpec[list[Any], Pairs] = StageSpec("embed", _stage, named)
    return spread_batches(jobs, spec, session.session, batch_of(session.embedder))


def _stage(
    shared: SharedServices, *, embedder: str | None, session: Session, options: Mapping[str, Any]
) -> Stage[list[DecodeJob], Pairs]:
    reader = ClusterReader(read_picture)
    opened = find_embedder(embedder, session, **options)
    return batch_stage("embed", reader, partial(_embed, embedder=opened), lambda: close(opened))


def _embed(read: Pairs, embedder: Embedder) -> Pairs:
    decoded = [(job, found) for job, found in read if isinstance(found, Decoded)]
    others = [(job, found) for job, found in read if not isinstance(found, Decoded)]
    if not decoded:
        return others
    attempt = attempt_pictures(embedder, [found.pixels for _, found in decoded])
    if attempt.stopped is not None:
        raise attempt.stopped
    failed = {at: DecodeRefused(failure.kind, failure.message) for at, failure in attempt.failures.items()}
    made = (EmbeddedPicture(found.sha256, attempt.vectors[at]) for at, (_, found) in enumerate(decoded))
    return [*others, *((decoded[at][0], failed.get(at, one)) for at, one in enumerate(made))]
