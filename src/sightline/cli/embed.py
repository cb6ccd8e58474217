"""`sightline embed pictures DIR` and `sightline embed texts FILE`."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclopts import App

from sightline.cli.options import Common, EndpointArguments, EngineOption, Repeated, pairs

if TYPE_CHECKING:
    from sightline.models.embedders.embedded_files import SkippedInput

app = App(name="embed", help="Turn pictures or texts into vectors.")


@app.command
def pictures(
    directory: Path,
    /,
    *,
    out: Path,
    embedder: str | None = None,
    option: Repeated = None,
    engine: EngineOption = "local",
    endpoint: EndpointArguments = EndpointArguments(),
    common: Common = Common(),
) -> None:
    """Turn the pictures of a folder into vectors. Nothing is ever written to the folder.

    Pictures that can't be read are left out and listed. Vectors are kept in the workspace, so that a second run only
    embeds what is new.

    Parameters
    ----------
    directory:
        The folder with the pictures; sub-folders are included.
    out:
        The file to write: an .npz with `ids` (paths under the folder) and `vectors` (float32, unit length).
    embedder:
        The embedder: photos, clip-vit-b32, siglip-b16, onnx:FOLDER, transformers:NAME, openai/MODEL,
        vllm/MODEL, http:URL#MODEL. The configured one, else photos, when not given.
    option:
        KEY=VALUE for the embedder, such as device=cpu or dimensions=256; can be repeated.
    """
    from sightline.models.embedders.pipeline import embed_pictures

    done = embed_pictures(
        directory,
        embedder=embedder,
        out=out,
        options=_options(option, endpoint),
        limit=common.limit,
        session=common.session(endpoint.calls(common), engine),
    )
    _list(item for item in done.left_out if common.verbose or _was_meant(item))
    common.show(done)


@app.command
def texts(
    file: Path,
    /,
    *,
    out: Path,
    embedder: str | None = None,
    option: Repeated = None,
    endpoint: EndpointArguments = EndpointArguments(),
    common: Common = Common(),
) -> None:
    """Turn the lines of a file into vectors, one text a line.

    Parameters
    ----------
    file:
        One text a line, UTF-8, also gzipped; blank lines are left out and listed.
    out:
        The file to write: an .npz with `ids` (line numbers, from 1) and `vectors` (float32, unit length).
    embedder:
        The embedder, as for pictures.
    option:
        KEY=VALUE for the embedder; can be repeated.
    """
    from sightline.models.embedders.pipeline import embed_texts

    done = embed_texts(
        file,
        embedder=embedder,
        out=out,
        options=_options(option, endpoint),
        limit=common.limit,
        session=common.session(endpoint.calls(common)),
    )
    _list(done.left_out)
    common.show(done)


def _options(option: list[str] | None, endpoint: EndpointArguments) -> dict[str, Any]:
    """What the embedder is told."""
    from sightline.models.embedders.registry import parse_value

    options = {key: parse_value(value) for key, value in pairs(option, "--option").items()}
    return options if endpoint.base_url is None else {**options, "base_url": endpoint.base_url}


def _was_meant(item: SkippedInput) -> bool:
    """A text file among pictures is only counted; a file that calls itself a picture and is none is named."""
    from sightline.corpus.names import names_a_picture

    return item.reason != "not a picture" or names_a_picture(item.id)


def _list(left_out: Iterable[SkippedInput]) -> None:
    for item in left_out:
        sys.stderr.write(f"left out {item.id!r}: {item.reason} ({item.detail})\n")
