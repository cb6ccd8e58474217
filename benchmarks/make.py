"""Planning the pools of 1,000 queries over 80,000 annotated pictures, against a scan of all pictures for each query.

    python benchmarks/make.py [--pictures N] [--queries N] [--reference-queries N]

The reference does what benchmaker describes (facets in dictionaries, Python sets of tags, every picture looked at for
every query), written plainly; it is run on a few queries, and both are given as CPU time for one query.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections import Counter
from collections.abc import Sequence

from sightline.authoring.plan_table import PictureTable
from sightline.authoring.plan_tiers import TierPlanner
from sightline.authoring.project_files import SeededQuery
from sightline.config.settings import PlanSettings
from sightline.types import Annotation

FACETS = {"place": 8, "weather": 6, "light": 5, "subject": 10, "view": 4}
CORE = ("place", "weather", "subject")
TAGS, VOCABULARY = 15, 300
HARD, NEAR, EASY = 25, 10, 5


def annotations_of(count: int) -> list[Annotation]:
    """Tags go with the subject, as they do in pictures: two thirds of them are drawn from the subject's own."""
    rng = random.Random(0)
    words = [f"tag{number}" for number in range(VOCABULARY)]
    own = {subject: rng.sample(words, 40) for subject in range(FACETS["subject"])}
    found = []
    for number in range(count):
        facets = {name: f"{name}{rng.randrange(size)}" for name, size in FACETS.items()}
        theme = own[int(facets["subject"].removeprefix("subject"))]
        tags = dict.fromkeys(rng.sample(theme, 10))
        while len(tags) < TAGS:
            tags[rng.choice(words)] = None
        found.append(Annotation(f"{number:07}.jpg", facets=facets, tags=tuple(tags)))
    return found


def jaccard(left: set[str], right: set[str]) -> float:
    return len(left & right) / len(left | right) if left or right else 0.0


def reference(notes: Sequence[Annotation], seed: Annotation, rng: random.Random) -> list[str]:
    """One query, as the algorithm is described: a full scan for each of the three kinds of negatives."""
    tags, key = set(seed.tags), tuple(seed.facets[name] for name in CORE)
    taken = {seed.picture_id}

    def ranked(found: list[Annotation], count: int, most: int) -> list[str]:
        found.sort(key=lambda note: (-jaccard(set(note.tags), tags), note.picture_id))
        seen: Counter[str] = Counter()
        chosen: list[str] = []
        for note in found:
            if len(chosen) < count and note.picture_id not in taken and seen[note.facets["view"]] < most:
                seen[note.facets["view"]] += 1
                chosen.append(note.picture_id)
        taken.update(chosen)
        return chosen

    same = [note for note in notes if tuple(note.facets[name] for name in CORE) == key]
    pool = ranked(same, HARD, 6)
    near = []
    for off in CORE:
        for note in notes:
            differs = [name for name in CORE if note.facets[name] != seed.facets[name]]
            if differs == [off]:
                near.append(note)
    pool += ranked(near, NEAR, 5)
    easy = [
        note.picture_id
        for note in notes
        if sum(note.facets[name] != seed.facets[name] for name in CORE) >= 2 and jaccard(set(note.tags), tags) <= 0.1
    ]
    rng.shuffle(easy)
    return pool + [id_ for id_ in easy if id_ not in taken][:EASY]


def ours(notes: Sequence[Annotation], queries: Sequence[SeededQuery], core: tuple[str, ...]) -> tuple[float, float]:
    """Seconds of CPU to build the table, and for all queries."""
    settings = PlanSettings(
        core_facets=core, diversity_facets=("view",), hard=HARD, near=NEAR, easy=EASY, positives=0, neutrals=0, random=0
    )
    started = time.process_time()
    table = PictureTable(notes)
    planner = TierPlanner(table, settings)
    planner.plan(queries[0])
    built = time.process_time()
    for query in queries:
        planner.plan(query)
    return built - started, time.process_time() - built


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pictures", type=int, default=80_000)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--reference-queries", type=int, default=5)
    options = parser.parse_args()
    rng = random.Random(1)
    print(f"{'pictures':>9}  {'reference':>12}  {'core facets':>12}  {'ratio':>7}  {'tags alone':>12}  {'table':>7}")
    for count in (options.pictures // 16, options.pictures // 4, options.pictures):
        notes = annotations_of(count)
        chosen = rng.sample(notes, min(options.queries, count))
        queries = [SeededQuery(f"q{number}", (note.picture_id,)) for number, note in enumerate(chosen)]
        times = []
        for note in chosen[: options.reference_queries]:
            started = time.process_time()
            reference(notes, note, rng)
            times.append(time.process_time() - started)
        slow = statistics.median(times)
        built, facets = ours(notes, queries, CORE)
        _, tags = ours(notes, queries, ())
        each, alone = facets / len(queries), tags / len(queries)
        print(
            f"{count:>9,}  {slow * 1e3:>9.1f} ms  {each * 1e3:>9.2f} ms  {slow / each:>6.0f}×"
            f"  {alone * 1e3:>9.2f} ms  {built:>5.1f} s"
        )


if __name__ == "__main__":
    main()
