"""Claims, agreement, and a trace beside what is known of its picture."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.reason.traces.claims import compare_claims, cover_caption, cover_facts, find_label, split_claims
from sightline.reason.traces.index import SIZE, bands_of, minhash_similarity, minhashes_of
from sightline.reason.traces.quality import WEIGHTS, check_replies, quality_of
from sightline.reason.traces.records import (
    CheckedTrace,
    CheckJob,
    PictureKnowledge,
    TeacherReplies,
    TeacherReply,
    TracePicture,
    TraceQuestion,
    TraceRules,
)

WORDS = st.lists(st.sampled_from([f"w{number}" for number in range(40)]), min_size=12, max_size=80)


def test_claims_are_declarative_sentences() -> None:
    text = "Let me look. **A dog** runs on sand.\n- Two people walk.\nIs it a wolf? Colours:\nA dog runs on sand."
    assert [claim.text for claim in split_claims(text)] == ["A dog runs on sand.", "Two people walk."]


def test_agreement_and_contradiction() -> None:
    first = split_claims("The red car stands in a street. Two people walk beside it. The sky is cloudy today.")
    second = split_claims("The blue car stands in a street. Three people walk beside it. The sky is cloudy today.")
    found = compare_claims(first, second)
    assert found.share == pytest.approx(1 / 3)
    assert {(one.kind, one.one, one.other) for one in found.conflicts} == {
        ("colour", "red car", "blue car"),
        ("number", "2 people", "3 people"),
    }
    same = compare_claims(first, first)
    assert same.share == 1.0 and same.conflicts == ()
    assert compare_claims(first, ()).share is None


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        ("He wears a glove on one hand.", "He wears a wristband on one hand.", None),
        ("The sky is cloudy.", "The sky is clear.", "opposite"),
        ("Both hands hold the ball.", "One hand holds the ball.", "number"),
        ("The dog is left of the cat.", "The cat is left of the dog.", "opposite"),
        ("A man holds a red umbrella.", "A woman holds a red umbrella.", "opposite"),
        ("The bus is behind the tree.", "The bus is behind the house.", None),
        ("The lamp is on.", "The lamp is off.", "opposite"),
        ("A red bicycle stands beside a bench.", "The bicycle is blue.", "colour"),
        ("There are two dogs.", "One dog lies under the old bench near the wall.", None),
        ("There is a red car.", "A blue car is parked near the old bridge at night.", None),
        ("The sky is cloudy and grey.", "The sky is clear and blue.", "opposite"),
        ("At least three people sit on the bench.", "Five people sit on the bench.", None),
        ("The man on the left wears a red hat.", "The man on the right wears a blue hat.", None),
        ("The man on the left wears a hat.", "The man on the right wears a hat.", None),
    ],
)
def test_what_differs_in_a_word_is_no_agreement(one: str, other: str, kind: str | None) -> None:
    found = compare_claims(split_claims(one), split_claims(other))
    assert found.share == 0.0
    assert [conflict.kind for conflict in found.conflicts] == ([] if kind is None else [kind])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The flag has red and white stripes.", "The flag has white and red stripes."),
        ("The dog is left of the cat.", "The cat is right of the dog."),
        ("There is no bird in the picture.", "A bird is not visible."),
        ("There are 2 dogs on the beach.", "There are two dogs on the beach."),
        ("3 people sit on a bench.", "Three people are sitting on a bench."),
        ("A dog lies on 1 mat.", "A dog lies on one mat."),
        ("The gray cat sleeps.", "The grey cat sleeps."),
        ("The color of the car is red.", "The colour of the car is red."),
        ("A dog sits next to the bench.", "A dog sits beside the bench."),
        (
            "A brown dog runs along the wet beach in the evening with two people behind it.",
            "A brown dog runs on the wet beach at dusk with two people in the background.",
        ),
    ],
)
def test_other_words_for_the_same_are_agreement(one: str, other: str) -> None:
    found = compare_claims(split_claims(one), split_claims(other))
    assert (found.share, found.conflicts) == (1.0, ())


def test_two_who_utter_anything_do_not_agree() -> None:
    rng, things = random.Random(1), ["dog", "cat", "tree", "house", "bus", "lamp", "ball", "kite", "boat", "bench"]
    first, second = (
        split_claims(" ".join(f"The {one} is behind the {other}." for one, other in _some_pairs(rng, things)))
        for _ in range(2)
    )
    share = compare_claims(first, second).share
    assert share is not None and share < 0.3


def _some_pairs(rng: random.Random, things: list[str]) -> list[list[str]]:
    return [rng.sample(things, 2) for _ in range(12)]


@pytest.mark.world
def test_agreement_and_contradiction_of_sentences_about_scenes_with_truth() -> None:
    from reason.think_pairs import pairs

    said: dict[tuple[str, str], int] = {}
    for pair in pairs(25):
        found = compare_claims(split_claims(pair.one), split_claims(pair.other))
        verdict = "conflict" if found.conflicts else "same" if found.share == 1.0 else "neither"
        said[pair.relation, verdict] = said.get((pair.relation, verdict), 0) + 1
    for relation, precise, complete in (("same", 0.95, 0.75), ("conflict", 0.95, 0.85)):
        right = said[relation, relation]
        assert right >= precise * sum(count for (_, verdict), count in said.items() if verdict == relation)
        assert right >= complete * sum(count for (truth, _), count in said.items() if truth == relation)


@given(st.lists(WORDS, max_size=6), st.lists(WORDS, max_size=6))
@settings(max_examples=50, deadline=None)
def test_agreement_is_symmetric_and_bounded(first: list[list[str]], second: list[list[str]]) -> None:
    one, other = (split_claims(". ".join(map(" ".join, lists)) + ".") for lists in (first, second))
    there, back = compare_claims(one, other).share, compare_claims(other, one).share
    assert (there is None) == (back is None)
    if there is not None and back is not None:
        assert 0 <= there <= 1 and 0 <= back <= 1


@pytest.mark.parametrize(
    ("labels", "thinking", "answer", "state"),
    [
        (("tench", "Tinca tinca"), "", "The fish is a tench.", "answer"),
        (("tench", "Tinca tinca"), "", "It is known as tinca TINCA.", "answer"),
        (("dog",), "", "Two dogs play.", "answer"),
        (("great white shark",), "", "A shark swims.", "partly"),
        (("tench",), "It may be a tench.", "A fish.", "thinking"),
        (("tench",), "", "This is not a tench.", "denied"),
        (("tench",), "", "It is a cat.", "missing"),
        (("cat",), "", "A category of its own.", "missing"),
    ],
)
def test_labels(labels: tuple[str, ...], thinking: str, answer: str, state: str) -> None:
    assert find_label(labels, thinking, answer) == state


def test_caption_and_facts() -> None:
    answer = "A red car stands in the street. Two people wait."
    claims = split_claims(answer)
    assert cover_caption("a red car in a street", claims, answer).score == 1.0
    against = cover_caption("a blue car stands in a street", claims, answer)
    assert against.score < 0.5 and against.against == ("blue car ≠ red car",)
    facts = cover_facts(("a red car in the street", "a tree"), claims)
    assert facts.score == 0.5 and facts.against == ()
    assert cover_facts(("three people wait",), claims).score == 0.0
    long = split_claims("Two red bicycles lean against a wooden bench at the market.")
    assert cover_facts(("The bicycles are blue.",), long).against == ("blue bicycle ≠ red bicycle",)


@given(WORDS, st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_likeness_estimates_the_share_of_common_shingles(words: list[str], seed: int) -> None:
    rng = random.Random(seed)
    other = [word if rng.random() > 0.1 else f"x{rng.randrange(99)}" for word in words]
    sets = [{tuple(text[place : place + 3]) for place in range(len(text) - 2)} for text in (words, other)]
    truth = len(sets[0] & sets[1]) / len(sets[0] | sets[1])
    one, two = minhashes_of((" ".join(words), " ".join(other)))
    assert len(one) == 4 * SIZE and abs(minhash_similarity(one, two) - truth) < 0.5
    assert minhash_similarity(one, one) == 1.0


def test_likeness_is_right_in_the_mean_and_copies_share_a_band() -> None:
    rng = random.Random(3)
    errors, found, many = [], 0, 200
    for _ in range(many):
        words = [f"w{rng.randrange(500)}" for _ in range(120)]
        other = [*words]
        other[rng.randrange(120)] = "changed"
        sets = [{tuple(text[place : place + 3]) for place in range(118)} for text in (words, other)]
        one, two = minhashes_of((" ".join(words), " ".join(other)))
        errors.append(minhash_similarity(one, two) - len(sets[0] & sets[1]) / len(sets[0] | sets[1]))
        found += not set(bands_of(one)).isdisjoint(bands_of(two))
    assert abs(sum(errors) / many) < 0.02
    assert found > 0.95 * many


def test_a_short_text_has_no_print() -> None:
    assert [*minhashes_of(["too short to say"])] == [b""]
    assert [*minhashes_of([])] == []


@given(st.lists(WORDS.map(" ".join) | st.sampled_from(["", "too short", "w1 w2 w3 w4 w5 w6 w7 w8"]), max_size=90))
@settings(max_examples=30, deadline=None)
def test_prints_of_many_are_those_of_each(texts: list[str]) -> None:
    assert [*minhashes_of(texts)] == [print_ for text in texts for print_ in minhashes_of([text])]


@given(st.dictionaries(st.sampled_from(sorted(WEIGHTS)), st.floats(0, 1), min_size=1))
@settings(max_examples=50, deadline=None)
def test_quality_lies_between_its_parts(parts: dict[str, float]) -> None:
    assert min(parts.values()) - 1e-9 <= quality_of(parts) <= max(parts.values()) + 1e-9


THOUGHT = "The boat is red. A dog sits on the bench and looks at the water for a while."


def _checked(known: PictureKnowledge, thinking: str, answer: str) -> CheckedTrace:
    question = TraceQuestion("a", TracePicture("a", "a.jpg", known), "What is this?")
    job = CheckJob(question, TeacherReplies((TeacherReply(thinking, answer),)), TraceRules(language=None))
    (trace,) = check_replies(job).traces
    return trace


def test_what_contradicts_the_label_or_a_fact_is_not_kept() -> None:
    known = PictureKnowledge(labels=("tench",), facts=("The boat is red.",))
    kept = _checked(known, THOUGHT, "A tench lies in a boat. The boat is red and lies at the quay.")
    assert kept.state == "kept"
    denied = _checked(known, THOUGHT, "This is not a tench. The boat is red and lies at the quay.")
    against = _checked(known, "", "A tench lies here at the quay in the sun. The boat is blue.")
    for trace in (denied, against):
        assert trace.state == "rejected" and "contradicted" in trace.reasons


def test_claims_about_something_else_than_the_class_are_not_kept_unless_something_speaks_for_them() -> None:
    truck = "A large red fire truck is parked on a city street beside two tall lamp posts."
    known = PictureKnowledge(labels=("tench", "Tinca tinca"))
    assert _checked(known, THOUGHT, truck).reasons == ("unsupported",)
    assert _checked(known, "It could be a tench that somebody holds up there.", truck).state == "kept"
    captioned = PictureKnowledge(labels=("tench",), caption="A red truck on a street.")
    assert _checked(captioned, THOUGHT, truck).state == "kept"
    assert _checked(PictureKnowledge(), THOUGHT, truck).state == "kept"


def test_an_answer_that_its_own_thinking_contradicts_is_not_kept() -> None:
    sound = _checked(PictureKnowledge(), THOUGHT, "The boat is red. The dog sits on the bench by the water.")
    assert sound.state == "kept" and sound.parts is not None and "consistency" not in sound.parts
    split = _checked(PictureKnowledge(), THOUGHT, "The boat is blue. The dog sits on the bench by the water.")
    assert split.state == "kept" and split.parts is not None and split.parts["consistency"] == 0.5
    torn = _checked(PictureKnowledge(), THOUGHT, "The boat is blue and nothing else can be seen near it.")
    assert torn.reasons == ("inconsistent",) and torn.notes is not None and torn.notes["against_thinking"]
