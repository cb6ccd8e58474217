"""Sightline's own search as a system: any embedder × any back-end (`retriever`), with words, fusion, captions and
re-ranking (`hybrid`).

The benchmark's pictures are indexed once in the workspace; another run with the same embedder and back-end uses the
same index. A task's words and pictures are the query, its scope is the limit.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import fields, replace
from typing import Annotated, Literal

from pydantic import Field

from sightline.class_names import known_as
from sightline.errors import SightlineError, StoppedError, UserError
from sightline.models.embedders.base import close
from sightline.models.embedders.registry import find_embedder
from sightline.models.embedders.vector_cache import VectorCache
from sightline.models.protocols import Embedder
from sightline.models.providers import leaves_machine
from sightline.retrieval.index.build import BuiltIndex, Parts, build_index
from sightline.retrieval.index.content import Content
from sightline.retrieval.index.manifest import safe_name
from sightline.retrieval.methods import check_method
from sightline.retrieval.rerank import Reranker
from sightline.retrieval.searcher import Searcher
from sightline.retrieval.vector_stores.base import VectorStoreGoneError
from sightline.retrieval.vector_stores.registry import public_spec
from sightline.runs.paid_calls import PaidCalls
from sightline.runs.summary import INDEX, INDEX_FROM_CACHE
from sightline.runs.systems.base import (
    Kind,
    Options,
    Outcome,
    SystemSetting,
    as_prediction,
    lacking_words,
    own_pictures,
    words_of_task,
)
from sightline.types import Benchmark, Failure, Fusion, Json, LedgerEntry, Method, SearchQuery, Task
from sightline.types.task import FINDING

Share = Annotated[float, Field(ge=0, le=1)]


class RetrieverOptions(Options):
    """Vectors alone.

    `k` is how far down the ranking goes. `select` is how a select task is answered: with the whole ranking, or with
    the first so many as a set. `own` lets a picture of the prompt be among the answers. `language` is the translation
    of the prompt that is asked.
    """

    embedder: str | None = None
    backend: str = "exact"
    k: Annotated[int, Field(ge=1)] = 100
    select: Literal["ranking"] | Annotated[int, Field(ge=1)] = "ranking"
    text_weight: Share = 0.5
    diversity: Share = 0.0
    depth: Annotated[int, Field(ge=1)] = 100
    threshold: Literal["auto"] | float | None = None
    late: bool = False
    own: bool = False
    language: str | None = None

    def method(self) -> Method:
        """How a query is answered."""
        told = type(self).model_fields
        return Method(**{part.name: getattr(self, part.name) for part in fields(Method) if part.name in told})


class HybridOptions(RetrieverOptions):
    """Vectors and words; each part can be switched off, for ablations.

    `annotations` lets words be searched that the benchmark holds about its pictures; `captions` embeds them as well.
    `words_in_pictures` reads what is written in the pictures.
    """

    vectors: bool = True
    words: bool = True
    annotations: bool = True
    captions: bool = False
    words_in_pictures: bool = False
    picture_weight: Share = 0.7
    vector_weight: Share = 0.6
    fusion: Fusion = "weighted"
    rrf_constant: Annotated[float, Field(gt=0)] = 60.0
    rerank: str | None = None


_ASKED_AGAIN = (0.5, 2.0, 8.0)
"""Seconds to wait before a back-end that went away is asked again."""
_WARM_UP = "a picture"


@known_as("Retriever")
class Retriever:
    """A search engine over the benchmark's pictures; an embedder that is open already may be given."""

    kinds = FINDING
    concurrency = 1

    def __init__(self, options: RetrieverOptions, setting: SystemSetting, embedder: Embedder | None = None) -> None:
        self._options, self._setting = options, setting
        self._embedder, self._is_ours = embedder, embedder is None
        self._method = options.method()
        self._searcher: Searcher | None = None
        self._paid: PaidCalls | None = None
        self.notes: list[str] = []

    @property
    def parameters(self) -> dict[str, Json]:
        """Who embeds, in which revision, and how many pictures can be found; known once prepared."""
        if self._searcher is None:
            return {}
        manifest = self._searcher.manifest
        mark = manifest.embedder if self._method.vectors else None
        return {
            "embedder": None if mark is None else mark.name,
            "embedder_revision": None if mark is None else mark.revision,
            "dim": None if mark is None else mark.dim,
            "backend": manifest.backend,
            "pictures": manifest.pictures,
        }

    @property
    def searcher(self) -> Searcher | None:
        """The open index; None before `prepare`."""
        return self._searcher

    def prepare(self) -> Iterable[LedgerEntry]:
        """Build the index, or bring it up to date, and open all of it so that the first task waits for nothing.

        What can't work (a method, a re-ranker without a key) is refused before anything is embedded.
        """
        session, options = self._setting.session, self._options
        check_method(self._method)
        if self._method.rerank is not None:
            Reranker(self._method.rerank, session).check()
            self._paid = PaidCalls(session.workspace)
        if self._embedder is None and self._method.vectors:
            self._embedder = find_embedder(options.embedder, session)
        is_first = self._has_no_vectors()
        built = self._build()
        self._look_at(built)
        self._searcher = Searcher.open(
            name=built.name, embedder=self._embedder, backend=options.backend, session=session
        )
        if self._method.vectors:
            self._warm_up(self._searcher)
        if built.is_unchanged:
            return ()
        stage = INDEX if is_first or built.embedded.made >= built.embedded.put else INDEX_FROM_CACHE
        name = "words" if self._embedder is None else self._embedder.name
        return (LedgerEntry(stage, name, usd=self._usd, seconds=built.seconds),)

    async def attempt(self, task: Task, bench: Benchmark) -> Outcome:
        """What the search finds within the task's scope."""
        query = self._query(task)
        if isinstance(query, Failure):
            return Outcome(query, usd=self._usd)
        for wait in (*_ASKED_AGAIN, None):
            try:
                return await asyncio.to_thread(self._search, task, query)
            except VectorStoreGoneError:
                if wait is None:  # Not a failure of this task: the run stops, and goes on when it is back.
                    raise
                await asyncio.sleep(wait)
        raise AssertionError("unreachable")

    async def close(self) -> None:
        """Let go of the index."""
        if self._searcher is not None:
            self._searcher.close()
        if self._embedder is not None and self._is_ours:
            close(self._embedder)
        if self._paid is not None:
            self._paid.close()

    def _look_at(self, built: BuiltIndex) -> None:
        """Say which pictures have no vector; refuse to go on where none has, and there is nothing else to find by."""
        listed = ", ".join(f"{count:,} {reason}" for reason, count in built.left_out.items())
        if self._method.vectors and not self._method.words and sum(built.left_out.values()) == built.pictures:
            raise UserError(
                f'none of the {built.pictures:,} pictures of "{self._setting.benchmark.name}" has a vector'
                + (f": {listed}." if listed else "."),
                "check the embedder; `sightline validate BENCH --pictures` says where pictures should be",
            )
        options = self._options
        if isinstance(options, HybridOptions) and options.words and not options.words_in_pictures:
            lack = lacking_words(self._setting, annotations=options.annotations)
            self.notes += [] if lack is None else [f"{lack}: words=true searches file names alone"]
        if self._method.captions and not self._has_captions():
            self.notes.append("no picture has a caption: captions=true changes nothing")
        if listed:
            self.notes.append(f"pictures without a vector, which only words can find: {listed}")

    def _has_captions(self) -> bool:
        told = isinstance(self._options, HybridOptions) and self._options.annotations
        return told and any(said.summary for said in self._setting.benchmark.annotations)

    def _has_no_vectors(self) -> bool:
        """Has the workspace nothing yet that this embedder made?"""
        if self._embedder is None:
            return True
        cache = VectorCache(self._setting.session.workspace)
        try:
            return cache.space(self._embedder) is None
        finally:
            cache.close()

    def _warm_up(self, searcher: Searcher) -> None:
        """Load the back-end and the embedder, so that the first task does not pay for it."""
        _, _, asker = searcher.pictures, searcher.captions, searcher.asker
        if self._usd == 0:
            with suppress(SightlineError):  # An embedder that has no vector for these words is loaded all the same.
                asker.text(_WARM_UP)
                asker.embed_again(_WARM_UP)  # It may be remembered, and the embedder not loaded yet.
        if self._method.threshold == "auto":
            searcher.threshold()

    # --- the index --------------------------------------------------------------------------------------------

    def _build(self) -> BuiltIndex:
        setting, options = self._setting, self._options
        corpus, hybrid = setting.benchmark.corpus, options if isinstance(options, HybridOptions) else None
        told = hybrid is not None and hybrid.annotations
        content = Content(
            corpus.pictures.values(),
            corpus.groups,
            setting.benchmark.annotations if told else (),
            base=setting.base,
            source=f"benchmark {setting.benchmark.name}",
        )
        parts = Parts(
            vectors=self._method.vectors,
            captions=self._method.captions,
            tokens=self._method.late,
            words_in_pictures=hybrid is not None and hybrid.words_in_pictures,
        )
        return build_index(
            setting.session,
            self._index_name(told, parts),
            content=content,
            embedder=self._embedder,
            backend=options.backend,
            parts=parts,
        )

    def _index_name(self, told: bool, parts: Parts) -> str:
        """The same for all that would hold the same."""
        setting = self._setting
        embedder = None if self._embedder is None else self._embedder.name
        place = None if setting.base is None else setting.base.resolve()
        held = (embedder, public_spec(self._options.backend), told, parts, setting.benchmark.corpus.name, place)
        mark = hashlib.blake2b(repr(held).encode(), digest_size=5).hexdigest()
        return f"{safe_name(f'run-{setting.benchmark.name}')[:60].rstrip('-.')}-{mark}"

    @property
    def _usd(self) -> float | None:
        """What an attempt costs beside the calls of a re-ranker: nothing, unless somebody elsewhere embeds."""
        endpoint = getattr(self._embedder, "endpoint", None)
        return None if isinstance(endpoint, str) and leaves_machine(endpoint) else 0.0

    # --- a query ----------------------------------------------------------------------------------------------

    def _query(self, task: Task) -> SearchQuery | Failure:
        words = words_of_task(task, self._options.language)
        if isinstance(words, Failure):
            return words
        like = task.pictures if self._method.vectors else ()
        if not words and not like:
            return Failure("empty-query", "the task has neither words nor pictures to look for")
        room = len(own_pictures(task, self._options.own))
        return SearchQuery(text=words or None, like=like, scope=task.scope, k=self._options.k + room)

    def _search(self, task: Task, query: SearchQuery) -> Outcome:
        assert self._searcher is not None
        started = time.perf_counter()
        try:
            if query.text is not None and self._embeds_anew(query):
                self._searcher.asker.embed_again(query.text)
            found = self._searcher.search(query, self._method_for(query))
        except (VectorStoreGoneError, StoppedError):
            raise
        except UserError as error:
            return Outcome(Failure("refused", error.message), usd=self._usd)
        except SightlineError as error:
            return Outcome(Failure("search", error.message, retryable=True), usd=self._usd)
        seconds = time.perf_counter() - started
        if found.stopped is not None:  # The rest of the run would only fail: it goes on with another budget.
            raise found.stopped
        calls = () if self._paid is None else self._paid.of(task.id)
        if found.failures:  # A ranking that was only partly re-ranked is not an answer of this system.
            return Outcome(Failure("rerank", "; ".join(found.notes), retryable=True), seconds, self._usd, calls)
        left_out = own_pictures(task, self._options.own)
        kept = [(hit.picture.id, hit.score) for hit in found.hits if hit.picture.id not in left_out]
        prediction = as_prediction(task, kept[: self._options.k], self._options.select, self._is_ordered)
        return Outcome(prediction, seconds, self._usd, calls)

    def _embeds_anew(self, query: SearchQuery) -> bool:
        """Should the time hold that of embedding, also of words that an earlier run asked? Not where that costs."""
        reads_both = bool(query.like) and hasattr(self._embedder, "joint")
        return self._method.vectors and self._usd == 0 and not reads_both

    def _method_for(self, query: SearchQuery) -> Method:
        """The method, less what has nothing to do where a query has no words, or has pictures."""
        method = self._method
        if query.text is None:
            method = replace(method, rerank=None, late=False)
        return replace(method, threshold=None) if query.like and method.threshold == "auto" else method

    @property
    def _is_ordered(self) -> bool:
        """Do scores fall? After re-ranking and with diversity the order is that of the list."""
        return self._method.rerank is None and self._method.diversity == 0


KINDS = {
    "retriever": Kind("retriever", "an embedder and a back-end: nearest vectors", RetrieverOptions, Retriever),
    "hybrid": Kind("hybrid", "vectors and words, fused; captions, re-ranking", HybridOptions, Retriever),
}
