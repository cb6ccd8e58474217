"""Queries by templates: natural English, no word twice, what is shown first; and what of them can be measured."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st

from sightline.authoring.query_checks import content
from sightline.authoring.query_templates import Measurable, Templates, measurable, part_of, place_of, with_article
from sightline.config.settings import Difficulty, QueryStyle
from sightline.types import Annotation

COLOURS = ["black", "blue", "brown", "green", "grey", "red", "white", "yellow"]
WORDS = ["dog", "owl", "snow", "soccer ball", "soccer", "climbing", "man", "night", "sunny", "boats", "on the beach"]


def note(id_: str = "a.jpg", *tags: str, colours: Any = (), **facets: str) -> Annotation:
    return Annotation(id_, None, facets, {}, tags, extra={"colours": list(colours)})


def first(one: Annotation, style: QueryStyle, difficulty: Difficulty = "hard", others: Any = None) -> str:
    """The best wording, in a collection of several such pictures."""
    alike = [replace(one, picture_id=f"{number}.jpg") for number in range(5)]
    return next(Templates(others or [one, *alike]).versions([one], style, difficulty))


@pytest.mark.parametrize(
    ("noun", "said"),
    [
        ("dog", "a dog"), ("owl", "an owl"), ("hour glass", "an hour glass"), ("unicorn", "a unicorn"),
        ("umbrella", "an umbrella"), ("dogs", "dogs"), ("bus", "a bus"), ("glass", "a glass"), ("people", "people"),
        ("soccer", "soccer"), ("swimming trunks", "swimming trunks"), ("two dogs", "two dogs"), ("tennis", "tennis"),
    ],
)  # fmt: skip
def test_articles(noun: str, said: str) -> None:
    assert with_article(noun) == said


@pytest.mark.parametrize(
    ("said", "role", "words"),
    [
        ("climbing", "act", "climbing"), ("swing", "thing", "a swing"), ("building", "thing", "a building"),
        ("night", "moment", "at night"), ("sunny", "quality", "sunny"), ("on the beach", "place", "on the beach"),
        ("grey tones", "colour", "grey"), ("darkness", "light", "in the dark"),
    ],
)  # fmt: skip
def test_what_a_piece_does_in_a_sentence(said: str, role: str, words: str) -> None:
    part = part_of(said)
    assert (part.role, part.words) == (role, words)


def test_values_of_a_place_say_where() -> None:
    assert place_of("market").words == "at a market"
    assert place_of("forest").words == "in a forest"
    assert place_of("outdoors").words == "outdoors"


@pytest.mark.parametrize(
    ("style", "text"),
    [
        ("keyword", "horse man night, mostly brown"),
        ("sentence", "A photo of a horse and a man at night, mostly brown."),
        ("question", "Which photos show a horse and a man at night and are mostly brown?"),
    ],
)
def test_every_style_reads_as_english(style: QueryStyle, text: str) -> None:
    one = note("a.jpg", "horse", "man", "night", tones="brown tones", lighting="even light", colours=["brown"])
    # Sixty pictures share the words: only with the colour are they few enough.
    alike = [replace(one, picture_id=f"{number}.jpg") for number in range(5)]
    others = [note(f"o{number}.jpg", "horse", "man", "night") for number in range(60)]
    assert first(one, style, others=[one, *alike, *others]) == text


def test_somebody_who_does_something_does_it() -> None:
    assert first(note("a.jpg", "smiling", "man"), "sentence") == "A photo of a man smiling."


def test_nobody_asks_for_a_picture_by_its_looks_alone() -> None:
    one = note(tones="white tones", lighting="bright light", colours=["white", "grey"])
    for style in ("keyword", "sentence", "question", "vague"):
        assert list(Templates([one]).versions([one], style, "hard")) == []
    assert first(note("a.jpg", "red", "plain"), "sentence") == "A red, plain photo."


def test_colours_are_left_out_where_the_rest_is_enough() -> None:
    one = note("a.jpg", "dog", "kite", tones="brown tones", colours=["brown"])
    assert first(one, "sentence") == "A photo of a dog and a kite."


def test_what_is_shown_comes_before_how_it_looks_and_what_some_share_before_what_none_does() -> None:
    one = note("a.jpg", "dog", "rare", colours=["grey"])
    others = [one, *(note(f"{number}.jpg", "dog") for number in range(4)), note("b.jpg", colours=["grey"])]
    assert first(one, "sentence", "easy", others) == "A photo of a dog."


def test_copies_of_the_seed_are_no_other_pictures() -> None:
    copies = [
        Annotation(f"{number}.jpg", None, {}, {}, ("dog", "kite"), extra={"look_alike": "like-0.jpg"})
        for number in range(5)
    ]
    others = [note(f"d{number}.jpg", "dog") for number in range(4)]
    assert first(copies[0], "keyword", "easy", [*copies, *others]) == "dog"


def test_what_half_of_the_collection_has_is_no_query() -> None:
    notes = [note(f"{at}.jpg", "tree", *(["kite"] if at < 5 else [])) for at in range(60)]
    assert first(notes[0], "vague", "easy", notes) == "something with a kite"


def test_several_seeds_are_asked_for_by_what_they_share() -> None:
    pair = [note("a.jpg", "dog", "kite"), note("b.jpg", "dog", "boat")]
    written = list(Templates([*pair, note("c.jpg", "dog")]).versions(pair, "keyword", "medium"))
    assert written == ["dog"]


@given(
    tags=st.lists(st.sampled_from(WORDS), unique=True, max_size=6),
    colours=st.lists(st.sampled_from(COLOURS), unique=True, max_size=3),
    light=st.sampled_from(["darkness", "even light", "bright light"]),
    style=st.sampled_from(["keyword", "sentence", "question", "vague"]),
    difficulty=st.sampled_from(["easy", "medium", "hard"]),
)
@hypothesis(deadline=None, max_examples=60)
def test_no_word_is_said_twice_and_what_can_be_measured_is_read_back(
    tags: list[str], colours: list[str], light: str, style: QueryStyle, difficulty: Difficulty
) -> None:
    one = note("a.jpg", *tags, lighting=light, colours=colours)
    for text in list(Templates([one]).versions([one], style, difficulty))[:20]:
        words = [word for word in re.findall(r"[a-z]+", text.casefold()) if content(word)]
        assert max(Counter(words).values(), default=1) == 1, text
        assert "  " not in text
        found = measurable(text)
        assert found.colours == tuple(colours)[: len(found.colours)] or set(found.colours[1:]) <= set(colours[1:])
        assert ("mostly" in text) == bool(found.colours)
        assert found.light in (None, {"darkness": "dark", "bright light": "bright"}.get(light))
        assert "mostly" not in found.rest


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("A dog in a bright room", Measurable("A dog in a bright room")),
        ("mostly harmless, mostly red", Measurable("mostly harmless", ("red",))),
        ("boat in the dark", Measurable("boat", (), "dark")),
        (
            "Which photos show a boat in bright light and are mostly white with some blue, grey and black?",
            Measurable("Which photos show a boat?", ("white", "blue", "grey", "black"), "bright"),
        ),
    ],
)
def test_only_what_names_colours_or_light_is_measured(query: str, found: Measurable) -> None:
    assert measurable(query) == found
