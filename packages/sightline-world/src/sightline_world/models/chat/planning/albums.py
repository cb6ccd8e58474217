"""Questions about a whole album, none of whose pictures came with them: which of them, and how many."""

from __future__ import annotations

import re
from dataclasses import replace

from sightline.models.json_schema import json_values
from sightline_world.models.chat.answers import CANNOT, the_question
from sightline_world.models.chat.planning.episodes import Errand, read_errand
from sightline_world.models.chat.planning.finding import Move
from sightline_world.models.chat.planning.history import History
from sightline_world.models.chat.planning.planner import next_move
from sightline_world.models.chat.planning.scopes import said_filter
from sightline_world.models.chat.planning.toolbox import Toolbox, Use, argument

CANNOT_COUNT = "I can't count them: no tool here counts photos or filters them by time and place."
_SOME = r"(?:photos?|pictures?|photographs?|images?|shots?|snaps?)"
_THESE = r"(?:my|our|the|these|those)"
_WHICH = re.compile(rf"^\W*which (?:ones? )?of (?:these|those|them|{_THESE} {_SOME}) (?:is|are|looks?) ", re.IGNORECASE)
_HOW_MANY = re.compile(rf"^\W*how many (?:of )?(?:{_THESE} )?({_SOME}\b.*)", re.IGNORECASE | re.DOTALL)
_COUNTING: tuple[Use, Use] = ("filter", "count")


def as_request(history: History) -> History:
    """A question about an album as the request for pictures that it comes to; everything else as it is.

    `Which of these is red?` asks for something red, `How many photos show a dog?` for photos of a dog, to be counted.
    """
    if history.shown:
        return history
    which, many = _WHICH.match(history.asked), _HOW_MANY.match(the_question(history.asked))
    if which is not None:
        return replace(history, asked=f"find something {history.asked[which.end() :]}")
    return history if many is None else replace(history, asked=f"find all {many[1]}")


def counts_pictures(history: History) -> bool:
    """Are pictures to be counted, and not what one of them shows?"""
    return not history.shown and _HOW_MANY.match(the_question(history.asked)) is not None


def count(history: History, tools: Toolbox) -> tuple[Move, str]:
    """The step that is needed first, or the pictures that count (`ids`, as far as they are known) and the answer."""
    found = _HOW_MANY.match(the_question(history.asked))
    assert found is not None
    working = tools.without(history.broken())
    errand = read_errand(found[1])
    if not all(_is_metadata(word, errand) for word in errand.target.unknown):
        return Move("There are words in the question that I don't know."), CANNOT
    if not errand.target.claims and errand.occasion is None and not errand.moved:
        return _by_metadata(errand, history, working)
    move = next_move(as_request(history), tools)
    if not move.calls and not move.ids and errand.is_dated and not history.found("filter"):
        return Move("Nothing here tells when and where they were taken."), CANNOT_COUNT
    return move, str(len(move.ids))


def _is_metadata(word: str, errand: Errand) -> bool:
    """Is a word that no picture shows one of time and place?"""
    return word in " ".join(errand.towns).lower() or bool(read_errand(f"in {word}").months)


def _by_metadata(errand: Errand, history: History, tools: Toolbox) -> tuple[Move, str]:
    """What a filter lists or a tool counts; both say how many there are."""
    test = said_filter(errand) or None
    for use in _COUNTING:
        for step in history.done(use):
            if argument(step.arguments, "expression") == test:
                said = next(json_values(step.text or ""), None)
                told = said.get("count") if isinstance(said, dict) else None
                number = told if isinstance(told, int) else len(step.ids)
                return Move("They are counted by their metadata.", ids=tuple(step.ids)), str(number)
    tried = {step.use for step in history.steps}
    for use in _COUNTING if test else _COUNTING[1:]:
        call = None if use in tried else tools.call(use, len(history.steps) + 1, expression=test)
        if call is not None and not history.must_answer:
            return Move("Count them by their metadata.", (call,)), ""
    return Move("Nothing here counts them."), CANNOT_COUNT
