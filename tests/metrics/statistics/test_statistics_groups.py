from __future__ import annotations

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.metrics.statistics.significance import tie_letters


@st.composite
def systems_and_differences(draw: st.DrawFn) -> tuple[list[str], list[tuple[str, str]]]:
    systems = [f"s{number}" for number in range(draw(st.integers(0, 9)))]
    every = list(itertools.combinations(systems, 2))
    different = draw(st.lists(st.sampled_from(every), unique=True)) if every else []
    return draw(st.permutations(systems)), different


@given(systems_and_differences())
@settings(max_examples=200, deadline=None)
def test_a_letter_is_shared_exactly_when_there_is_no_difference(
    case: tuple[list[str], list[tuple[str, str]]],
) -> None:
    ranked, different = case
    letters = tie_letters(ranked, different)
    assert list(letters) == list(ranked)
    assert all(letters.values())
    apart = {frozenset(pair) for pair in different}
    for first, second in itertools.combinations(ranked, 2):
        assert bool(set(letters[first]) & set(letters[second])) == (frozenset({first, second}) not in apart)
    groups = {letter: {name for name in ranked if letter in letters[name]} for letter in set("".join(letters.values()))}
    assert not any(a < b for a, b in itertools.permutations(groups.values(), 2))


def test_letters_run_from_the_best_down() -> None:
    assert tie_letters(
        ["agent", "hybrid", "embedder", "blind"],
        [
            ("agent", "hybrid"),
            ("agent", "embedder"),
            ("agent", "blind"),
            ("hybrid", "blind"),
            ("embedder", "blind"),
        ],
    ) == {"agent": "a", "hybrid": "b", "embedder": "b", "blind": "c"}


def test_a_system_between_two_groups_has_both_letters() -> None:
    assert tie_letters(["x", "y", "z"], [("x", "z")]) == {"x": "a", "y": "ab", "z": "b"}


def test_more_groups_than_letters() -> None:
    ranked = [f"s{number}" for number in range(54)]
    letters = tie_letters(ranked, itertools.combinations(ranked, 2))
    assert len(set(letters.values())) == 54
    assert (letters["s25"], letters["s26"], letters["s53"]) == ("z", "A", "(54)")
