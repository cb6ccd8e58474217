"""`sightline search QUERY [--in DIR] [--where FILTER]`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from sightline.cli.options import AlbumOptions, BudgetOptions, Common, Repeated, Switch, Whole
from sightline.errors import UserError

if TYPE_CHECKING:
    from sightline.types import Method


@Parameter(name="*", group="Method")
@dataclass(frozen=True, kw_only=True)
class MethodOptions:
    """How a query is answered; what is not given is as in `sightline.types.Method`."""

    method: Literal["vectors", "words", "hybrid"] = "vectors"
    "By vectors, by words (BM25 over captions, tags, names …), or by both."
    rrf: Switch = False
    "Join vectors and words by their ranks (reciprocal rank fusion), not by weighted scores."
    vector_weight: float | None = None
    "The share of vectors against words in a hybrid search: 0.6 when not given."
    captions: Switch = False
    "Compare with captions too, where the index holds their vectors."
    picture_weight: float | None = None
    "The share of the picture against its caption: 0.7 when not given."
    text_weight: float | None = None
    "The share of the words where there is --like too: 0.5 when not given."
    late: Switch = False
    "Compare the best word by word, where the index holds token vectors."
    rerank: str | None = None
    "A chat model that looks at the best pictures and orders them again, such as openai/gpt-5-mini."
    diversity: float | None = None
    "From 0 to 1: how much variety counts against nearness."
    threshold: str | None = None
    "Leave out pictures below this score: a number, or auto."
    depth: int | None = None
    "How many of the best fusion, re-ranking and diversity look at: 100 when not given."

    def chosen(self) -> Method:
        """What the library takes."""
        from sightline.retrieval.methods import METHODS

        given: dict[str, Any] = {
            "vector_weight": self.vector_weight,
            "picture_weight": self.picture_weight,
            "text_weight": self.text_weight,
            "rerank": self.rerank,
            "diversity": self.diversity,
            "depth": self.depth,
        }
        method = replace(METHODS[self.method], **{name: value for name, value in given.items() if value is not None})
        fusion: Literal["weighted", "rrf"] = "rrf" if self.rrf else "weighted"
        return replace(
            method, fusion=fusion, captions=self.captions, late=self.late, threshold=_threshold(self.threshold)
        )


def search(
    query: str | None = None,
    /,
    *,
    in_: Annotated[Path | None, Parameter(name="--in")] = None,
    where: str | None = None,
    k: Annotated[Whole, Parameter(name=["-k", "--top"])] = 10,
    like: Repeated = None,
    owner: str | None = None,
    group: Repeated = None,
    index: str | None = None,
    embedder: str | None = None,
    backend: str | None = None,
    how: MethodOptions = MethodOptions(),
    out: AlbumOptions = AlbumOptions(),
    spending: BudgetOptions = BudgetOptions(),
    common: Common = Common(),
) -> None:
    """Find pictures by words, by pictures, by when and where. The first time, they are read and embedded.

    Parameters
    ----------
    query:
        What the picture shows, such as "a dog running on the beach".
    in_:
        The folder to search, sub-folders included; all that the workspace knows when not given.
    where:
        A filter, such as 'time >= 2019-06 and near("Biarritz", 50km) and not tag:night' (docs/filters.md).
    k:
        How many pictures to show.
    like:
        A picture to look like: a file or an id, with #LEFT,TOP,RIGHT,BOTTOM (0 to 1) for a region; can be repeated.
    owner:
        Only the pictures of this owner.
    group:
        Only the pictures of this group, such as event/2021-08-03; can be repeated.
    index:
        Which index to ask: "default" when not given.
    embedder:
        The embedder; the one that built the index, else the configured one, else photos, when not given.
    backend:
        Where vectors are kept, as for `index`; needed again only where it has a password.
    """
    from sightline.retrieval.search import search as find

    out.check()
    found = find(
        query,
        in_,
        k=k,
        like=like or (),
        where=where,
        owner=owner,
        groups=group or (),
        method=how.chosen(),
        index=index,
        embedder=embedder,
        backend=backend,
        limit=common.limit,
        session=common.session(spending.calls(common)),
    )
    if found.query_was_cut:
        common.warn(["the query is longer than the embedder reads; its end was ignored"])
    if found.left_out:
        listed = ", ".join(f"{count:,} {reason}" for reason, count in found.left_out.items())
        common.warn([f"files that could not be read, and are not searched: {listed}"])
    (common.warn if found.failures else common.note)(found.notes)
    out.show(found, common)


def _threshold(text: str | None) -> float | Literal["auto"] | None:
    if text is None or text == "auto":
        return None if text is None else "auto"
    try:
        return float(text)
    except ValueError:
        raise UserError(f'--threshold "{text}" is not a number.', "give one, such as 0.3, or auto") from None
