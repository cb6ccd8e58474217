"""`sightline index [DIR|BENCH]`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from sightline.cli.options import BudgetOptions, Common, EngineOption, Switch, described_by
from sightline.indexing import index as build


@described_by(build)
def index(
    folder: Path | None = None,
    /,
    *,
    name: str | None = None,
    embedder: str | None = None,
    backend: str | None = None,
    annotations: Path | None = None,
    captions: Literal["embed"] | None = None,
    words_in_pictures: Switch = False,
    tokens: Switch = False,
    vectors: Annotated[bool, Parameter(negative="--no-vectors", show_default=False)] = True,
    rebuild: Switch = False,
    spending: BudgetOptions = BudgetOptions(),
    engine: EngineOption = "local",
    common: Common = Common(),
) -> None:
    """Build an index, or bring it up to date: only what changed is embedded. Stopped at any moment, it goes on later.

    Parameters
    ----------
    embedder:
        The embedder; the one that built the index before, else the configured one, else photos.
    backend:
        Where vectors are kept: exact, exact:quantised, faiss, lance, postgres:ADDRESS, qdrant:URL, milvus:URL,
        weaviate:URL.
    annotations:
        Annotations of the pictures (summaries, tags, facets), as the annotations.jsonl of a benchmark.
    captions:
        "embed" makes vectors of the summaries too, for `search --captions`.
    words_in_pictures:
        Read the words in the pictures (one to three seconds for a large photograph; extra `ocr`).
    tokens:
        Make token vectors too, for `search --late`, where the embedder gives any.
    vectors:
        With --no-vectors only words and metadata are indexed.
    """
    from sightline.retrieval.index.build import Parts

    if folder is None:
        common.ignores_limit()
    built = build(
        folder,
        name=name,
        embedder=embedder,
        backend=backend,
        annotations=annotations,
        parts=Parts(vectors, captions is not None, tokens, words_in_pictures),
        rebuild=rebuild,
        limit=common.limit,
        session=common.session(spending.calls(common), engine),
    )
    if built.changes.unmatched:
        common.warn([f"annotations of pictures that are not in the index: {built.changes.unmatched:,}"])
    common.show(built)
