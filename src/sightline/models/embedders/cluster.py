"""Pictures through an embedder on a cluster: each worker opens the embedder, reads files, and sends vectors back.

An embedder that wants a GPU gets one for each worker, where the cluster has any.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, cast

from sightline.calls.file_map import ClusterReader, Pairs, batch_stage, spread_batches
from sightline.calls.session import Session
from sightline.calls.stages import SharedServices, StageSpec
from sightline.engine.async_map import Stage
from sightline.models.embedders.base import attempt_pictures, batch_of, close
from sightline.models.embedders.jpeg_batches import READERS, JpegEmbedder, attempt_jpegs
from sightline.models.embedders.pixels import Decoded, DecodeJob, DecodeRefused, EmbeddedPicture, read_picture
from sightline.models.embedders.registry import find_embedder
from sightline.models.embedders.session import EmbedderSession
from sightline.models.protocols import Embedder

_ON_GPU = 4
"""Batches that a worker with a GPU gets at a time: some are read while others go through the network."""


def embed_on_cluster(jobs: Iterable[DecodeJob], session: EmbedderSession) -> Iterator[Pairs]:
    """Each job with its `EmbeddedPicture`, or why there is none; batch by batch, in order."""
    named = {"embedder": session.given, "options": session.options, "session": session.session.with_calls(budget=None)}
    gpu = getattr(session.embedder, "wants_gpu", False)
    spec: StageSpec[list[Any], Pairs] = StageSpec("embed", _stage, named, gpu=gpu)
    return spread_batches(jobs, spec, session.session, batch_of(session.embedder) * (_ON_GPU if gpu else 1))


def _stage(
    shared: SharedServices, *, embedder: str | None, session: Session, options: Mapping[str, Any]
) -> Stage[list[DecodeJob], Pairs]:
    reader = ClusterReader(read_picture)
    opened = find_embedder(embedder, session, **options)
    return batch_stage("embed", partial(_embed, reader=reader, embedder=opened), reader, lambda: close(opened))


def _embed(jobs: list[DecodeJob], reader: ClusterReader, embedder: Embedder) -> Pairs:
    """On a GPU plain JPEG files first; then all others, and on a processor all."""
    found: Pairs = []
    if getattr(embedder, "reads_jpegs", False):
        by_number = {job.number: job for job in jobs}
        for batch, attempt in attempt_jpegs(jobs, cast("JpegEmbedder", embedder), READERS):
            good = [at for at in range(len(batch)) if at not in attempt.failures]
            made = (EmbeddedPicture(batch[at].sha256, attempt.vectors[at]) for at in good)
            found += [(by_number.pop(batch[at].number), one) for at, one in zip(good, made, strict=True)]
        jobs = list(by_number.values())
    for start in range(0, len(jobs), batch_of(embedder)):
        found += _embed_read(reader.map(jobs[start : start + batch_of(embedder)]), embedder)
    return found


def _embed_read(read: Pairs, embedder: Embedder) -> Pairs:
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
