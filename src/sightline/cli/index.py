"""`sightline index [DIR|BENCH]`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from sightline.cli.options import BudgetOptions, Common, Switch
from sightline.english import counted

if TYPE_CHECKING:
    from sightline.retrieval.index import BuiltIndex


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
    common: Common = Common(),
) -> None:
    """Build an index, or bring it up to date: only what changed is embedded. Stopped at any moment, it goes on later.

    Parameters
    ----------
    folder:
        A folder of pictures, which is scanned first, or a benchmark; all that the workspace knows when not given.
    name:
        What the index is called: "default", or like its benchmark, when not given.
    embedder:
        Who makes the vectors; the one that built the index before, else the configured one, else photos.
    backend:
        Where vectors are kept: exact, exact:quantised, faiss, lance, postgres:ADDRESS, qdrant:URL, milvus:URL,
        weaviate:URL.
    annotations:
        What was said of the pictures (summaries, tags, facets), as the annotations.jsonl of a benchmark.
    captions:
        "embed" makes vectors of the summaries too, for `search --captions`.
    words_in_pictures:
        Read the words in the pictures (one to three seconds for a large photograph; extra `ocr`).
    tokens:
        Make token vectors too, for `search --late`, where the embedder gives any.
    vectors:
        With --no-vectors only words and metadata are indexed.
    rebuild:
        Start from nothing, where an index was damaged; vectors come from the workspace, nothing is embedded again.
    """
    from sightline.indexing import index as build
    from sightline.retrieval.index import Parts

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
        session=common.session(spending.asking(common)),
    )
    if built.changes.unmatched:
        common.warn([f"annotations of pictures that are not in the index: {built.changes.unmatched:,}"])
    if common.json:
        common.print_json(built.to_json())
    else:
        common.console.print(to_text(built), markup=False, soft_wrap=True)


def to_text(built: BuiltIndex) -> str:
    """What was done, on a few lines."""
    changes, done, manifest = built.changes, built.embedded, built.manifest
    lines = [
        f"  {counted(built.pictures, 'picture')} · {changes.added:,} added, {changes.changed:,} changed, "
        f"{changes.removed:,} removed"
    ]
    if manifest.embedder is not None:
        lines.append(f"  {done.made:,} embedded now · {manifest.embedder} · {manifest.backend}")
    if manifest.recalls:
        listed = ", ".join(f"{share:.3f} for {kind}" for kind, share in manifest.recalls.items())
        lines.append(f"  approximate: recall@10 {listed}")
    extra = [
        (done.captions, "captions embedded"),
        (built.words_read, "pictures read for words"),
        (built.tokens_made, "pictures with new token vectors"),
    ]
    lines += [f"  {count:,} {what}" for count, what in extra if count]
    if built.left_out:
        listed = ", ".join(f"{count:,} {reason}" for reason, count in built.left_out.items())
        lines.append(f"  without a vector: {listed}")
    return "\n".join([*lines, f"  → {built.folder} in {built.seconds:.1f} s"])
