"""Requests by templates: over the ground truth of a life, every set is the one that its words ask for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import pytest

from mine_tools import graph_of, script
from sightline.mining.drafts import drafts_by_templates, make, subgraphs
from sightline.mining.graph import MemoryGraph, structure
from sightline.mining.knowledge import Knowledge
from sightline.mining.project import MiningSettings
from sightline.mining.records import Clue, Draft

pytest.importorskip("sightline_world", reason="needs sightline-world")

from sightline_world.histories import read_history, read_shots, write_history
from sightline_world.scene import Figure, Thing
from sightline_world.truth import ShotTruth, SyntheticHistory

SETTINGS = MiningSettings("builtin/world", queries=15, seed=4)


class Told:
    """A life as its truth tells it, read by plain code: nothing of the graph is used."""

    def __init__(self, life: SyntheticHistory, shots: list[ShotTruth]) -> None:
        self.life = life
        self.shots = [shot for shot in shots if shot.taken_at is not None]
        self.shots.sort(key=lambda shot: (shot.when, shot.id))

    def shows(self, shot: ShotTruth, key: str) -> bool:
        kind, look = key.split(":")
        if kind == "text":
            signs = shot.graph.signs
            return any(sign.words.upper() == look and sign.letter_px >= 7 and sign.hidden <= 0.1 for sign in signs)
        if kind == "person":
            return any(self._looks(figure) == look and _seen(figure) for figure in shot.graph.figures)
        return any(f"{thing.colour} {thing.kind}" == look and _seen(thing) for thing in shot.graph.things)

    def event(self, shot: ShotTruth) -> str:
        return shot.event or f"between events, {shot.when.date()}"

    def wanted(self, draft: Draft) -> set[str]:
        logic = draft.logic
        (anchor,) = {self.event(shot) for shot in self._showing(logic.anchor)}
        where = set(self._where(draft, anchor))
        return {shot.id for shot in self._showing(logic.target) if self.event(shot) in where}

    def _where(self, draft: Draft, anchor: str) -> Iterator[str]:
        logic = draft.logic
        if logic.relation == "same-event":
            yield anchor
            return
        order = list(dict.fromkeys(self.event(shot) for shot in self.shots))
        if logic.relation == "same-place":
            towns = {self.event(shot): shot.town for shot in self.shots}
            yield from (event for event in order if towns[event] == towns[anchor] and event != anchor)
            return
        assert logic.link is not None
        linked = [event for event in order if event in {self.event(shot) for shot in self._showing((logic.link,))}]
        at = linked.index(anchor)
        if logic.relation == "other-events":
            yield from (event for event in linked if event != anchor)
        else:
            yield linked[at + 1] if logic.relation == "next-event" else linked[at - 1]

    def _showing(self, keys: tuple[str, ...]) -> list[ShotTruth]:
        return [shot for shot in self.shots if all(self.shows(shot, key) for key in keys)]

    def _looks(self, figure: Figure) -> str:
        worn = "bare head" if figure.headgear == "none" else f"{figure.headgear_colour} {figure.headgear}"
        return f"{figure.hair} hair, {worn}"


def _seen(item: Thing | Figure) -> bool:
    box = item.box
    return item.hidden <= 0.5 and (box.right - box.left) * (box.bottom - box.top) >= 0.0015


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    folder = tmp_path_factory.mktemp("mined") / "life"
    write_history(folder, seed=6, pictures=180, size=(64, 48))
    return Told(read_history(folder), list(read_shots(folder)))


@pytest.fixture(scope="module")
def truth(told: Told) -> MemoryGraph:
    found: MemoryGraph = script().truth_graph(told.life, told.shots, [shot.id for shot in told.shots])
    return found


@pytest.fixture(scope="module")
def drafts(truth: MemoryGraph) -> list[Draft]:
    return list(drafts_by_templates(truth, SETTINGS))


def test_every_set_is_the_one_that_the_words_ask_for(told: Told, drafts: list[Draft]) -> None:
    assert len(drafts) > 30
    for draft in drafts:
        assert set(draft.targets) == told.wanted(draft), draft.query


def test_there_are_all_types_and_every_relation(drafts: list[Draft]) -> None:
    relations = Counter(draft.logic.relation for draft in drafts)
    assert set(relations) == {"same-event", "other-events", "next-event", "previous-event", "same-place"}
    assert relations["same-event"] == pytest.approx(len(drafts) / 2, abs=1)
    assert 0 < sum(not draft.targets for draft in drafts) < len(drafts) / 3


def test_the_same_seed_gives_the_same_requests_and_another_seed_others(truth: MemoryGraph, drafts: list[Draft]) -> None:
    assert list(drafts_by_templates(truth, SETTINGS)) == drafts
    others = drafts_by_templates(truth, MiningSettings("builtin/world", queries=15, seed=5))
    assert [draft.query for draft in others] != [draft.query for draft in drafts]


def test_words_tell_the_anchor_and_the_target_and_of_a_link_only_its_noun(drafts: list[Draft]) -> None:
    def look(key: str) -> str:
        return key.split(":")[1]

    for draft in drafts:
        for key in (*draft.logic.anchor, *draft.logic.target):
            if key.startswith(("object", "text")):
                assert look(key) in draft.query
        link = draft.logic.link
        if link is not None and link.startswith("object"):
            colour, _, noun = look(link).partition(" ")
            assert noun in draft.query and f"{colour} {noun}" not in draft.query


def test_no_anchor_and_no_set_comes_twice(drafts: list[Draft]) -> None:
    anchors = [draft.logic.anchor for draft in drafts]
    sets = [frozenset(draft.targets) for draft in drafts if draft.targets]
    assert len(set(anchors)) == len(anchors) and len(set(sets)) == len(sets)


def test_somebody_whom_metadata_name_links_events_and_is_not_named() -> None:
    life = {
        "a": [["red kite", "grey dog"], ["red kite"], ["old tent"]],
        "b": [["old tent"], ["old tent"], ["big bus"]],
        "c": [["old tent"], ["big bus"]],
    }
    graph = graph_of(life)
    names = [Clue(f"{photo}@1", photo, "name", "name", "Bo", "Bo", "Bo", 1.0) for photo in ("a0", "b2")]
    graph = replace(graph, clues={**graph.clues, **{clue.id: clue for clue in names}})
    graph = replace(graph, edges=tuple(structure(graph.events, graph.clues, {})))
    how = MiningSettings("m")
    sources = islice(subgraphs(Knowledge(graph, "ana", 0.5), graph.around(), how), 60)
    made = [one for source in sources if (one := make(source, how, "next-event")) is not None]
    linked = [one for one in made if one.logic.link == "name:Bo"]
    assert linked and all("that same person" in one.query and "Bo" not in one.query for one in linked)
    assert all(set(one.targets) <= {"b0", "b1", "b2"} for one in linked)
    used = {key.partition(":")[0] for one in made for key in (*one.logic.anchor, *one.logic.target)}
    assert used == {"object"}
