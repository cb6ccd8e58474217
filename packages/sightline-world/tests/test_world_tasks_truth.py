"""Tasks over lives: their truth, derived anew from the files of the life by slow code that shares nothing with it."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from sightline.types import Answer, PictureSet, Relevance, Traces
from sightline_world.histories import read_history, read_shots, write_history
from sightline_world.tasks import KINDS, MadeTask, TaskAlbum, make_tasks
from sightline_world.tasks.benchmark import _MAKERS
from sightline_world.tasks.scopes import BASES
from sightline_world.tasks.select import Filters, f1
from sightline_world.web.fact_base import make_facts
from sightline_world.web.facts import FactBase
from world_tasks_reference import YES, SlowLife, grade, see

SEEDS = (0, pytest.param(11, marks=pytest.mark.slow))


class Written:
    """A life with the tasks made from it, at all difficulties."""

    def __init__(self, folder: Path, seed: int) -> None:
        write_history(folder, seed=seed, pictures=400, size=(160, 120))
        life = read_history(folder)
        self.slow = SlowLife(folder)
        self.album = TaskAlbum(life, read_shots(folder))
        self.web = make_facts(seed, [life])
        self.tasks = {kind: make_tasks(self.album, kind, 80, seed, web=self.web) for kind in KINDS}


@pytest.fixture(scope="module", params=SEEDS)
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Written:
    return Written(tmp_path_factory.mktemp("tasks") / "life", request.param)


# --- rank ---------------------------------------------------------------------------------------------------


def test_every_picture_is_graded_by_the_rule(written: Written) -> None:
    styles: Counter[str] = Counter()
    for made in written.tasks["rank"]:
        assert isinstance(made.truth, Relevance)
        ask = json.loads(json.dumps(made.task.extra["ask"]))
        again = {shot["id"]: grade(shot["graph"], ask) for shot in written.slow.shots}
        assert made.truth.grades == again
        assert 3 in again.values()
        styles[made.task.labels["style"][0]] += 1
    assert set(styles) == {"keyword", "sentence", "question", "vague"}


# --- select -------------------------------------------------------------------------------------------------


def test_a_set_is_exactly_what_the_query_means(written: Written) -> None:
    for made in written.tasks["select"]:
        assert isinstance(made.truth, PictureSet)
        logic = json.loads(json.dumps(made.task.extra["logic"]))
        assert set(made.truth.pictures) == written.slow.select(logic), made.task.text
        assert (made.task.labels["targets"] == ("none",)) == (not made.truth.pictures)


def test_what_is_sought_in_vain_is_found_elsewhere(written: Written) -> None:
    empty = [made for made in written.tasks["select"] if made.task.labels["targets"] == ("none",)]
    for made in empty:
        logic = json.loads(json.dumps(made.task.extra["logic"]))
        traits = [*logic["target"], *([written.slow.same(logic["base"])] if "same" in logic["base"] else [])]
        assert any(all(see(shot, trait) == YES for trait in traits) for shot in written.slow.dated)


def test_no_single_filter_gives_a_set_and_the_evidence_lies_elsewhere(written: Written) -> None:
    filters = Filters(written.album)
    for made in written.tasks["select"]:
        proof = made.task.extra["proof"]
        if not isinstance(made.truth, PictureSet) or not isinstance(proof, dict):
            continue
        wanted = sum(1 << written.album.number[id_] for id_ in made.truth.pictures)
        assert set(made.task.extra["evidence"]) - set(made.truth.pictures)  # type: ignore[arg-type]
        limit = float(str(proof["limit"]))
        # Every single condition and every pair of them, with no pruning.
        conditions = [each.pictures for each in filters.content if each.pictures & wanted]
        best = max(f1(one & other, wanted) for number, one in enumerate(conditions) for other in conditions[number:])
        content = proof["content"]
        assert isinstance(content, dict)
        assert best <= float(str(content["f1"])) + 1e-4 < limit


def test_no_span_of_time_comes_nearer_than_the_proof_says(written: Written) -> None:
    album = written.album
    told = [made for made in written.tasks["select"] if isinstance(made.task.extra["proof"], dict)]
    for made in told[:12]:
        assert isinstance(made.truth, PictureSet)
        wanted = sum(1 << album.number[id_] for id_ in made.truth.pictures)
        count = len(album.shots)
        spans = ((2 << last) - (1 << first) for first in range(count) for last in range(first, count))
        best = max(f1(span & album.dated, wanted) for span in spans)
        proof = json.loads(json.dumps(made.task.extra["proof"]))
        assert best <= proof["metadata"]["f1"] + 1e-4 < proof["limit"] + 1e-4


def test_both_kinds_of_events_and_every_template_come_up(written: Written) -> None:
    types = Counter(made.task.labels["event_type"][0] for made in written.tasks["select"])
    assert min(types["intra-event"], types["inter-event"]) > 15
    assert len({made.task.labels["template"][0] for made in written.tasks["select"]}) >= len(BASES) - 1


# --- answer -------------------------------------------------------------------------------------------------


def test_answers_are_the_only_ones(written: Written) -> None:
    templates: Counter[str] = Counter()
    for made in written.tasks["answer"]:
        assert isinstance(made.truth, Answer)
        template = made.task.labels["template"][0]
        templates[template] += 1
        about = json.loads(json.dumps(made.task.extra["about"]))
        picture = made.task.pictures[0].id
        if made.task.labels["needs_web"] == ("yes",):
            again = researched(written, template, picture, about)
        else:
            again = written.slow.answer(template, picture, about)
        assert made.truth.text == again, made.task.text
    assert len(templates) >= 9


def researched(written: Written, template: str, picture: str, about: dict[str, list[list[str]]]) -> str:
    """From the words of the sign along the named properties."""
    shot = written.slow.by_id[picture]
    shots = [shot] if template == "sign, then web" else written.slow.of(shot["event"])
    words = {sign["words"] for each in shots for sign in each["graph"]["signs"]}
    starts = {entity.id for each in words for entity in written.web.named(each) if entity.kind in ("town", "team")}
    (here,) = starts
    return followed(written.web, here, about["hops"])


def followed(web: FactBase, here: str, hops: list[list[str]]) -> str:
    said = ""
    for direction, kind, name in hops:
        known = [fact for fact in web.facts if fact.property == name and fact.until is None]
        if direction == "forward":
            (fact,) = (fact for fact in known if fact.subject == here)
            here, said = fact.object or "", fact.value
        else:
            (fact,) = (fact for fact in known if fact.object == here and web.entities[fact.subject].kind == kind)
            here, said = fact.subject, web.entities[fact.subject].name
    return said


def test_the_question_never_says_the_answer_and_steps_end_with_it(written: Written) -> None:
    for made in written.tasks["answer"]:
        assert isinstance(made.truth, Answer)
        words = f" {' '.join(re.findall(r'[a-z0-9]+', made.task.text.lower()))} "
        assert f" {made.truth.text.lower()} " not in words
        steps = made.truth.steps
        assert steps[-1].kind == "conclusion" and steps[-1].text == made.truth.text
        for ref in (ref for step in steps for ref in step.pictures):
            assert ref.id in written.slow.by_id
            if ref.region is not None:
                assert 0 <= ref.region.left < ref.region.right <= 1 and 0 <= ref.region.top < ref.region.bottom <= 1


def test_a_search_is_needed_where_it_is_said(written: Written) -> None:
    for made in written.tasks["answer"]:
        assert isinstance(made.truth, Answer)
        outside = {ref.id for step in made.truth.steps for ref in step.pictures} - {made.task.pictures[0].id}
        web = made.task.labels["needs_web"] == ("yes",)
        assert (made.task.labels["needs_search"] == ("yes",)) == (bool(outside) or web)


# --- describe -----------------------------------------------------------------------------------------------


def test_facts_hold_and_what_is_absent_is_not_there(written: Written) -> None:
    for made in written.tasks["describe"]:
        shot = written.slow.by_id[made.task.pictures[0].id]
        facts = json.loads(json.dumps(made.task.extra["facts"]))
        for fact in facts:
            if fact["fact"] == "thing":
                seen = [
                    t for t in shot["graph"]["things"] if (t["kind"], t["colour"]) == (fact["kind"], fact["colour"])
                ]
                assert see(shot, ["thing", fact["kind"], fact["colour"]]) == YES
                assert len(fact["boxes"]) == fact["count"] <= len(seen)
            elif fact["fact"] == "person":
                looks = [fact["hair"], fact["headgear"], fact["headgear_colour"] or "", fact["coat"]]
                assert see(shot, ["person", *looks]) == YES
            elif fact["fact"] in ("place", "light", "words"):
                assert see(shot, [fact["fact"], fact["value"]]) == YES
        absent = json.loads(json.dumps(made.task.extra["absent"]))
        assert len(absent) == 5 and all(not see(shot, ["thing", kind]) for kind in absent)


def test_two_references_of_different_style_name_everything(written: Written) -> None:
    for made in written.tasks["describe"]:
        assert isinstance(made.truth, Traces)
        one, other = made.truth.references
        assert one.answer != other.answer and one.thinking != other.thinking
        facts = json.loads(json.dumps(made.task.extra["facts"]))
        for fact in facts:
            if fact["fact"] == "person":
                assert fact["text"] in one.answer and fact["text"] in other.answer
            elif fact["fact"] == "words":
                assert fact["value"] in one.answer and fact["value"] in other.answer
            elif fact["fact"] == "thing":
                assert fact["text"] in one.answer and fact["kind"] in other.answer


def test_every_kind_has_a_maker_and_all_tasks_are_of_the_owner(written: Written) -> None:
    assert set(_MAKERS) == set(KINDS)
    every: list[MadeTask] = [made for kind in KINDS for made in written.tasks[kind]]
    assert len({made.task.id for made in every}) == len({made.task.prompt for made in every}) == 4 * 80
    assert {made.task.scope.owner for made in every} == {written.album.life.owner}
