"""Vectors to plan by: from a file that `embed` wrote, or made by the configured embedder and kept in the workspace."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sightline.config import Config
from sightline.errors import UserError
from sightline.make.files import Notes
from sightline.make.project import Project
from sightline.models.asking import Asking
from sightline.models.built_in import PHOTOS, find_built_in
from sightline.types import Annotation, Picture

_PHOTOS = PHOTOS.embedder


def read_vectors_of(path: Path, wanted: Collection[str]) -> dict[str, NDArray[np.float32]]:
    """The vectors of annotated pictures in a file; there must be some."""
    from sightline.models.embedders.vector_file import read_vectors

    found = read_vectors(path)
    vectors = {id_: vector for id_, vector in zip(found.ids.tolist(), found.vectors, strict=True) if id_ in wanted}
    if not vectors:
        raise UserError(
            f"{path} has no vector of an annotated picture.", "embed the folder that the annotations are of"
        )
    return vectors


def embedded(
    project: Project, notes: Notes, pictures: Mapping[str, Picture], asking: Asking
) -> dict[str, NDArray[np.float32]] | None:
    """Vectors by the embedder that planning is to use; None where there is none, or no picture to embed."""
    name = chosen_embedder(project.config, notes)
    here = [picture for id_, picture in pictures.items() if id_ in notes.annotations]
    if name is None:
        return None
    if not here:
        if project.config.plan.embedder is None:
            return None
        raise UserError(
            f"plan.embedder is {name}, but no annotated picture is listed.",
            "list them with sightline make pictures DIR, or give --vectors F.npz",
        )
    from sightline.models.embedders.listed import embed_listed
    from sightline.models.embedders.session import Session

    asking = replace(asking, base_url=None, api=None)  # Those of a chat model are not the embedder's.
    with Session(
        name, project.workspace, config=project.config, local_only=asking.local_only, asking=asking
    ) as session:
        session.tell_who_sees("the annotated pictures")
        made = embed_listed(here, session, project.config)
        if made.stopped is not None:
            raise made.stopped
        ids = list(made.keys)
        return dict(zip(ids, made.vectors(ids, session), strict=True)) if ids else None


def chosen_embedder(config: Config, notes: Notes) -> str | None:
    """As configured; else the one behind `builtin/photos`, which is sure of few tags, where all is said by it."""
    if config.plan.embedder is not None:
        return config.plan.embedder
    return _PHOTOS if own_embedder(notes.annotations.values()) == _PHOTOS else None


def own_embedder(notes: Iterable[Annotation]) -> str | None:
    """The embedder that sees as the built-in model does that all of it was said by."""
    said_by = {note.by for note in notes}
    declared = find_built_in(said_by.pop()) if len(said_by) == 1 else None
    return None if declared is None else declared.embedder
