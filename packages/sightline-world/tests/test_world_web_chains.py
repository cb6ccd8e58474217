from __future__ import annotations

from dataclasses import replace

import pytest

from sightline.errors import UserError
from sightline_world.draw import draw
from sightline_world.web import Chain, FactBase, WorldWeb, chains, chains_from, world_web
from sightline_world.web.chains import aliases_of, is_clear, steps
from world_web_reader import recognised, solve

SEED = 3


@pytest.fixture(scope="module")
def web() -> WorldWeb:
    return world_web(SEED)


def reached(base: FactBase, chain: Chain) -> set[str]:
    """All values to which the chain's properties lead, by brute force over all facts."""
    here = {chain.start}
    for hop in chain.hops:
        kind = hop.fact.subject.partition("/")[0]
        facts = [
            fact
            for fact in base.facts
            if fact.property == hop.fact.property and fact.until is None and fact.subject.startswith(f"{kind}/")
        ]
        if hop.direction == "forward":
            here = {fact.object or fact.value for fact in facts if fact.subject in here}
        else:
            here = {fact.subject for fact in facts if fact.object in here}
    return {base.entities[id_].name if id_ in base.entities else id_ for id_ in here}


@pytest.mark.parametrize("hops", [1, 2, 3, 4, 5])
def test_every_chain_has_one_answer_and_a_reader_finds_it(web: WorldWeb, hops: int) -> None:
    found = chains(web.facts, 24, hops, seed=7)
    assert len({chain.id for chain in found}) == 24
    for chain in found:
        assert len(chain.hops) == hops
        assert reached(web.facts, chain) == {chain.answer}
        assert solve(web, chain).lower() == chain.answer.lower(), chain.question


@pytest.mark.parametrize("hops", [2, 3, 4])
def test_a_hop_may_lead_through_a_picture(web: WorldWeb, hops: int) -> None:
    with_picture = chains(web.facts, 12, hops, by_picture=True)
    without = chains(web.facts, 12, hops, by_picture=False)
    assert all(chain.by_picture for chain in with_picture)
    assert not any(chain.by_picture for chain in without)
    for chain in with_picture:
        assert solve(web, chain).lower() == chain.answer.lower(), chain.question
    if hops > 2:
        assert any(hop.by_picture for chain in with_picture for hop in chain.hops[:-1])


def test_starts_can_be_told_from_their_pictures(web: WorldWeb) -> None:
    found = chains(web.facts, 30, 2, seed=2)
    assert {chain.shows for chain in found} == {"sign", "looks", "colours"}
    for chain in found:
        kind = chain.start.partition("/")[0]
        assert recognised(web, chain.picture, chain.shows, kind) == web.facts.entities[chain.start].url
        if chain.shows != "sign":
            assert not draw(chain.picture).graph.signs


def test_the_answer_stands_on_no_page_before_the_last(web: WorldWeb) -> None:
    for chain in chains(web.facts, 40, 3, seed=4):
        last = chain.hops[-1]
        for hop in chain.hops[:-1]:
            page = web.pages[web.facts.entities[str(hop.origin)].url]
            said = {value for _, value in page.box} | {link.text for link in page.links}
            assert chain.answer not in said, chain.question
        assert chain.answer not in chain.question
        assert last.target != chain.start


def test_a_way_round_to_what_the_first_page_says_is_no_chain(web: WorldWeb) -> None:
    town = web.facts.of_kind("town")[0]
    found = {chain.id.removeprefix(f"{town.id}/") for chain in chains_from(web.facts, town, 80, 2, by_picture=False)}
    assert "region/governor" in found
    # The town's own page names its river, which is the main one of its region.
    assert "region/main_river" not in found


def test_a_picture_is_clear_only_if_its_sign_can_be_read(web: WorldWeb) -> None:
    (chain,) = chains(web.facts, 1, 1, shows=("sign",))
    assert is_clear(chain.picture)
    assert not is_clear(replace(chain.picture, size=(96, 72)))


def test_every_hop_is_stated_where_it_says(web: WorldWeb) -> None:
    for chain in chains(web.facts, 30, 3, seed=5):
        for hop in chain.hops:
            assert set(hop.pages) <= set(web.stating(hop.fact))
            assert hop.pages


def test_questions_and_steps_read_as_english(web: WorldWeb) -> None:
    for chain in chains(web.facts, 60, 3, seed=6):
        for text in (chain.question, *chain.steps):
            assert text[0].isupper() and text[-1] in "?."
            assert "{" not in text and "_" not in text and "the the" not in text
        assert len(chain.steps) == 1 + len(chain.hops)
        assert chain.steps[-1].endswith(f"{chain.answer}.")
        assert "the boat on the left" in chain.ask("the boat on the left")


def test_chains_start_where_they_are_told_to(web: WorldWeb) -> None:
    town = web.facts.of_kind("town")[0]
    found = chains_from(web.facts, town, 10, 2, seed=1)
    assert len(found) == 10
    assert {chain.start for chain in found} == {town.id}
    assert all(solve(web, chain).lower() == chain.answer.lower() for chain in found)
    assert chains_from(web.facts, web.facts.of_kind("river")[0], 3, 2) == ()


def test_a_second_value_makes_a_hop_ambiguous(web: WorldWeb) -> None:
    base = web.facts
    (chain,) = chains_from(base, base.of_kind("town")[0], 1, 1, by_picture=False)
    fact = chain.hops[0].fact
    twice = FactBase.of(base.seed, base.entities, (*base.facts, replace(fact, value="another")), base.pictures)
    assert fact in [hop.fact for hop in steps(base, chain.start)]
    assert fact not in [hop.fact for hop in steps(twice, chain.start)]


def test_impossible_wishes_are_refused(web: WorldWeb) -> None:
    with pytest.raises(UserError, match="1 to 6 hops"):
        chains(web.facts, 1, 7)
    with pytest.raises(UserError, match="were asked for"):
        chains(web.facts, 200, 1, shows=("colours",), by_picture=True)


@pytest.mark.parametrize(
    ("value", "alias"),
    [
        ("12,400", "12400"),
        ("2,310 m", "2310 metres"),
        ("the River Trask", "Trask"),
        ("Trask FC", "Trask"),
        ("3–1", "3-1"),
        ("“Rain, Trask”", "Rain, Trask"),
        ("the Trask Fair", "Trask Fair"),
    ],
)
def test_answers_have_other_right_forms(value: str, alias: str) -> None:
    assert alias in aliases_of(value)
    assert value not in aliases_of(value)
