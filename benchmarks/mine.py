"""How many mined requests are right: mined from drawn lives by `builtin/world`, compared with the ground truth.

    python benchmarks/mine.py [--pictures N] [--lives N] [--seed N] [--queries N] [--questions] [--work DIR]

Each kept request is decided again by the same rules on a graph made of the truth: what each picture surely and perhaps
shows, and to which event it belongs. A set is right when it has every picture that surely belongs to it and none that
surely does not. With `--questions` also questions about single pictures, over the world's web: one is right when every
hop of its chain is a fact that is true now.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sightline.agent.web import OfflineWeb
from sightline.calls.session import CallOptions, Session
from sightline.config import Config
from sightline.config.settings import ScanSettings
from sightline.corpus.view import open_corpus
from sightline.metrics.statistics.estimates import estimate
from sightline.mining.benchmark import choose, type_of
from sightline.mining.fact_chains import FactChain, same_name
from sightline.mining.graph import EventNode, MemoryGraph, Photo, structure
from sightline.mining.knowledge import Knowledge, decide
from sightline.mining.pipeline import STAGES, Mining
from sightline.mining.project import VERDICTS, MiningSettings
from sightline.mining.questions import QuestionSettings, follow_clues, starts
from sightline.mining.records import Clue, ClueKind, DraftVerdict
from sightline.pictures import scan
from sightline_world.histories import read_history, read_shots, read_world, write_history
from sightline_world.tasks.album import ANY, TaskAlbum, Trait
from sightline_world.truth import ShotTruth, SyntheticHistory
from sightline_world.web import FactBase, world_web
from sightline_world.web.properties import PROPERTIES

SURE, PERHAPS = 1.0, 0.0


@dataclass(frozen=True, slots=True)
class Judged:
    """A kept request beside the truth; `problem` says why the truth can't decide it, where it can't."""

    verdict: DraftVerdict
    right: bool
    precision: float
    recall: float
    problem: str = ""


def truth_graph(life: SyntheticHistory, shots: Sequence[ShotTruth], taken: Iterable[str]) -> MemoryGraph:
    """What is true of the photos of a mined history, as a graph: every clue is certain, or in doubt by itself alone."""
    album = TaskAlbum(life, shots)
    history = set(taken)
    towns = {town.name: town for town in life.towns}
    photos = {
        shot.id: Photo(
            shot.id, shot.owner, _event(shot), shot.when.isoformat(), towns[shot.town].lat, towns[shot.town].lon
        )
        for shot in album.shots
        if shot.id in history
    }
    events: dict[str, list[str]] = {}
    for photo in photos.values():
        events.setdefault(photo.event, []).append(photo.id)
    clues = {clue.id: clue for clue in _clues(album) if clue.picture in photos}
    nodes = {id_: EventNode(id_, life.owner, tuple(each)) for id_, each in events.items()}
    return MemoryGraph(photos, nodes, clues, {}, tuple(structure(nodes, clues, {})))


def judge(verdict: DraftVerdict, truth: Knowledge) -> Judged:
    """One request against the truth; where the truth can't decide it, nothing of it is right."""
    meant = decide(verdict.draft.logic, truth)
    if meant.problem:
        return Judged(verdict, False, 0.0, 0.0, meant.problem)
    found, sure, allowed = set(verdict.draft.targets), set(meant.pictures), {*meant.pictures, *meant.doubts}
    precision = len(found & allowed) / len(found) if found else float(not sure)
    recall = len(found & sure) / len(sure) if sure else float(found <= allowed)
    return Judged(verdict, sure <= found <= allowed, precision, recall)


def _event(shot: ShotTruth) -> str:
    return shot.event or f"between events, {shot.when.date()}"


def _clues(album: TaskAlbum) -> Iterator[Clue]:
    for trait, sight in album.sights.items():
        named = _named(trait)
        if named is None:
            continue
        kind, noun, look = named
        for bits, confidence in ((sight.sure, SURE), (sight.perhaps, PERHAPS)):
            for picture in album.ids(bits):
                # A doubt is about this look alone, and must not spread to others of its noun.
                own = noun if confidence == SURE else f"{noun}?{look}"
                yield Clue(f"{picture}#{kind}:{look}", picture, kind, own, look, look, look, confidence)


def _named(trait: Trait) -> tuple[ClueKind, str, str] | None:
    match trait.kind, trait.values:
        case "thing", (kind, colour):
            return "object", kind, f"{colour} {kind}"
        case "person", (hair, headgear, colour, coat) if hair and headgear and coat == ANY:
            worn = "bare head" if headgear == "none" else f"{colour} {headgear}"
            return "person", "person", f"{hair} hair, {worn}"
        case "words", (words,):
            return "text", "words", words.upper()
        case _:
            return None


def is_true(chain: FactChain, facts: FactBase) -> bool:
    """Whether every hop is as the fact base has it now."""
    by_url = {entity.url: entity for entity in facts.entities.values()}
    labels = {(each.kind, each.label): each.name for each in PROPERTIES.values()}
    for hop in chain.hops:
        entity = by_url[hop.url]
        name = "depicts" if hop.kind == "picture" else labels[entity.kind, hop.label]
        if not any(same_name(fact.value, hop.value) for fact in facts.current(entity.id, name)):
            return False
    return same_name(by_url[chain.hops[0].url].name, chain.clue.name)


def mine_web(folder: Path, seed: int) -> tuple[Counter[str], list[bool]]:
    """Questions about the pictures of a mined life: what came of the starts, and which of the kept ones are right."""
    world = read_world(folder / "life")
    web = world_web(world.seed, world.lives)
    desk = Session(folder / "ws", Config(), CallOptions())
    pictures = {picture.id: picture for picture in open_corpus(folder / "ws").pictures.values()}
    settings = QuestionSettings("builtin/world", count=1_000, seed=seed)
    found = starts(list(pictures.values()), settings.model, desk, seed)
    mined = follow_clues(found.clues, pictures, OfflineWeb(web), settings, desk)
    return Counter(mined.counts), [is_true(question.chain, web.facts) for question in mined.kept]


def mine_life(folder: Path, seed: int, pictures: int, queries: int) -> tuple[list[DraftVerdict], list[Judged], float]:
    """Mine a history of its own; all verdicts, and those that a benchmark would take beside the truth."""
    write_history(folder / "life", seed=seed, pictures=pictures)
    workspace = folder / "ws"
    config = Config(scan=ScanSettings(owner_pattern="{owner}/*"))
    addresses = folder / "life" / "addresses.jsonl"
    scan(folder / "life" / "pictures", metadata=addresses, session=Session(workspace, config))
    settings = MiningSettings("builtin/world", embedder="world", queries=queries, seed=seed, confirm=False)
    mining = Mining(Session(workspace, config, CallOptions()), workspace / "mine", settings)
    started = time.monotonic()
    for stage in STAGES:
        mining.run(stage)
    seconds = time.monotonic() - started
    verdicts = list(mining.files.read(VERDICTS, DraftVerdict))
    life, shots = read_history(folder / "life"), list(read_shots(folder / "life"))
    taken = [picture.id for history in mining.histories for picture in history]
    truth = Knowledge(truth_graph(life, shots, taken), life.owner, SURE, misread=False)
    return verdicts, [judge(verdict, truth) for verdict in choose(verdicts, queries)], seconds


def shown(name: str, judged: Sequence[Judged]) -> str:
    """One row of the table."""
    cells = []
    for values in (
        [float(each.right) for each in judged],
        [each.precision for each in judged],
        [each.recall for each in judged],
    ):
        found = estimate(np.array(values))
        cells.append(f"{found.mean:.2f} [{found.low:.2f}, {found.high:.2f}]")
    return f"| {name} | {len(judged)} | {' | '.join(cells)} |"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--pictures", type=int, default=300)
    options.add_argument("--lives", type=int, default=3)
    options.add_argument("--seed", type=int, default=20)
    options.add_argument("--queries", type=int, default=60)
    options.add_argument("--questions", action="store_true")
    options.add_argument("--work", type=Path, default=None)
    given = options.parse_args()
    verdicts: list[DraftVerdict] = []
    judged: list[Judged] = []
    outcomes: Counter[str] = Counter()
    true: list[bool] = []
    with tempfile.TemporaryDirectory() as temporary:
        for seed in range(given.seed, given.seed + given.lives):
            folder = (given.work or Path(temporary)) / str(seed)
            every, some, seconds = mine_life(folder, seed, given.pictures, given.queries)
            print(f"life {seed}: {len(every)} drafts, {len(some)} kept, mined in {seconds:.0f} s")
            verdicts += every
            judged += some
            if given.questions:
                counts, right = mine_web(folder, seed)
                outcomes += counts
                true += right
    print(f"drafts {len(verdicts)}, passed {sum(each.kept for each in verdicts)}")
    print("refused:", dict(Counter(each.reasons[0] for each in verdicts if each.reasons).most_common()))
    print("| requests | n | exactly right | precision | recall |\n|---|---|---|---|---|")
    print(shown("all", judged))
    for kind in ("intra-event", "inter-event", "no-answer"):
        print(shown(kind, [each for each in judged if type_of(each.verdict) == kind]))
    if given.questions:
        print(f"questions: {dict(outcomes)}; {sum(true)} of {len(true)} are right")
    print("wrong:", dict(Counter(each.problem or "other pictures" for each in judged if not each.right).most_common()))


if __name__ == "__main__":
    main()
