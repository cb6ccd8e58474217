"""One benchmark from the content of benchmaker's files, with what their author should know about them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from sightline.bench.formats.base import Options
from sightline.bench.formats.benchmaker_columns import JUDGE
from sightline.bench.formats.benchmaker_read import Asked, Plan, Similarities
from sightline.bench.formats.retrieval import some
from sightline.english import counted
from sightline.types import Annotation, Benchmark, Candidate, Corpus, Json, Judgment, Picture, Relevance, Task

DATASET = "original_dataset_name"
_UNLABELLED = "unlabelled"


@dataclass(frozen=True, slots=True)
class Found:
    """What the files hold."""

    name: str
    pictures: Mapping[str, Picture]
    asked: Mapping[str, Asked]
    plans: Mapping[str, Plan] = field(default_factory=dict)
    annotations: Iterable[Annotation] = ()
    similarities: Similarities | None = None
    card: Mapping[str, Json] = field(default_factory=dict)

    def to_benchmark(self, options: Options) -> Benchmark:
        """Rank tasks with their truth, pools and judgments."""
        asked = dict(islice(self.asked.items(), options.limit))
        name = options.name or self.name
        labelled = any(picture.rights.source for picture in self.pictures.values())
        return Benchmark(
            name=name,
            corpus=Corpus(name, self.pictures),
            tasks={query: self._task(query, found, labelled) for query, found in asked.items()},
            truth={query: Relevance(found.grades) for query, found in asked.items()},
            card=self.card,
            annotations=tuple(self.annotations),
            candidates=tuple(pooled for query in asked for pooled in self._pool(query)),
            judgments=tuple(
                Judgment(query, picture, JUDGE, grade)
                for query, found in asked.items()
                for picture, grade in found.grades.items()
            ),
        )

    def warnings(self) -> Iterator[str]:
        """What benchmaker does not check: queries, candidates and judgments that do not fit together."""
        lost = [query for query in self.plans if query not in self.asked]
        if lost:
            said = counted(len(lost), "planned query was", "planned queries were")
            yield f"{said} never judged, and {'is' if len(lost) == 1 else 'are'} left out: {some(lost)}"
        outside, unjudged, irrelevant = [], [], []
        for query, plan in self.plans.items():
            if query not in self.asked:
                continue
            grades = self.asked[query].grades
            pool = {candidate.picture for candidate in plan.to_candidates(query)} if plan.candidates else set(grades)
            outside += [f"{picture} for {query}" for picture in grades if picture not in pool]
            unjudged += [f"{picture} for {query}" for picture in pool if picture not in grades]
            irrelevant += [f"{seed} for {query}" for seed in plan.seeds if grades.get(seed) == 0]
        yield from _noted(outside, "judged picture is", "judged pictures are", "not among the candidates")
        yield from _noted(unjudged, "candidate was", "candidates were", "never judged")
        yield from _noted(irrelevant, "seed is", "seeds are", "judged not relevant to the query made from it")

    def _task(self, query: str, asked: Asked, labelled: bool) -> Task:
        extra: dict[str, Json] = {}
        if self.similarities is not None and query in self.similarities.scores:
            extra["similarity"] = {"column": self.similarities.column, "scores": self.similarities.scores[query]}
        return Task(query, "rank", (asked.text,), labels=self._labels(query) if labelled else {}, extra=extra)

    def _labels(self, query: str) -> dict[str, tuple[str, ...]]:
        """The data sets of the seeds; where no seed is known, of what was found relevant."""
        seeds = self.plans[query].seeds if query in self.plans else ()
        relevant = (picture for picture, grade in self.asked[query].grades.items() if grade > 0)
        sources = (self.pictures[picture].rights.source for picture in seeds or relevant)
        return {DATASET: tuple(dict.fromkeys(source for source in sources if source)) or (_UNLABELLED,)}

    def _pool(self, query: str) -> Iterator[Candidate]:
        """The planned candidates; where only seeds are known, what was judged was the pool."""
        plan = self.plans.get(query)
        if plan is None:
            return
        if not plan.candidates:
            plan = Plan(plan.seeds, tuple((picture, "pooled", None) for picture in self.asked[query].grades))
        yield from plan.to_candidates(query)


def _noted(places: list[str], one: str, several: str, what: str) -> Iterator[str]:
    if places:
        yield f"{counted(len(places), one, several)} {what}, for example {places[0]}"
