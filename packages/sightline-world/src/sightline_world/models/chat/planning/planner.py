"""What to do next: find the occasion that a request tells of, narrow down, look for the target, answer.

Questions about a whole album, none of whose pictures came with them (which of them, how many), are such requests too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from sightline.models.json_schema import json_values
from sightline_world.models.chat.answers import CANNOT, the_question
from sightline_world.models.chat.claims import Exists, Meant, Wanted, say_all
from sightline_world.models.chat.images import SeenImage
from sightline_world.models.chat.parser import understand
from sightline_world.models.chat.planning.calendar import (
    Calendar,
    around_move,
    beside,
    between,
    in_town,
    neighbour,
    same_days,
    whole,
)
from sightline_world.models.chat.planning.conversation import ToolConversation, facts_note, found_note, note
from sightline_world.models.chat.planning.occasions import ToldOccasion
from sightline_world.models.chat.planning.question_planner import anchor_notes
from sightline_world.models.chat.planning.requests import SearchRequest, lasting, read_search_request, same_as
from sightline_world.models.chat.planning.search import SCOPE, TARGET, VIEWED_WHOLE, Move, listed, verdict_notes
from sightline_world.models.chat.planning.tools import Facts, Toolbox, Use, argument
from sightline_world.models.chat.verification import check_all, matching
from sightline_world.scene import Figure, Thing

_MOST_CALLS = 80
_THING = "thing"
CANNOT_COUNT = "I can't count them: no tool here counts photos or filters them by time and place."
_SOME = r"(?:photos?|pictures?|photographs?|images?|shots?|snaps?)"
_THESE = r"(?:my|our|the|these|those)"
_WHICH = re.compile(rf"^\W*which (?:ones? )?of (?:these|those|them|{_THESE} {_SOME}) (?:is|are|looks?) ", re.IGNORECASE)
_HOW_MANY = re.compile(rf"^\W*how many (?:of )?(?:{_THESE} )?({_SOME}\b.*)", re.IGNORECASE | re.DOTALL)
_COUNTING: tuple[Use, Use] = ("filter", "count")


def next_move(history: ToolConversation, tools: Toolbox) -> Move:
    """The next step of an errand, from the conversation alone."""
    return SearchPlanner(history, tools.without(history.broken())).move()


class SearchPlanner(Calendar):
    """One decision; everything that it knows comes from the history."""

    def __init__(self, history: ToolConversation, tools: Toolbox) -> None:
        super().__init__(history, tools)
        self._errand: SearchRequest = read_search_request(history.asked)
        self._phases = _phases(self._errand.occasion)
        self._notes = self._new_notes()

    def move(self) -> Move:
        errand = self._errand
        if not errand.target.claims and errand.occasion is None and not errand.is_dated and not errand.moved:
            return self._answer((), "I understand nothing in the request that I could look for.")
        if self._history.must_answer or len(self._history.steps) >= _MOST_CALLS:
            return self._answer(self._found(), "No further step is possible, so this is what was found.")
        scope = self._scope()
        return scope if isinstance(scope, Move) else self._hunt(scope)

    # --- where the target must be ----------------------------------------------------------------------------------

    def _scope(self) -> Move | list[str] | None:
        """The ids that the target must be among; None for all. Or the step that is needed to know them."""
        errand = self._errand
        if errand.occasion is None and not errand.moved:
            return self._filtered(errand.named.filter(), SCOPE) if errand.is_dated else None
        facts = self._calendar(errand.target)
        if isinstance(facts, Move):
            return facts
        if errand.moved:
            return self._said(around_move(facts, errand.moved), facts) if facts else None
        assert errand.occasion is not None
        own = self._pictures(errand.occasion, facts)
        if isinstance(own, Move):
            return own
        if not facts:
            return None
        if not own:
            return []
        if errand.thing is not None:
            looked = self._look_for_thing(own)
            if looked is not None:
                return looked
        return self._said(self._tied(own, facts), facts)

    def _tied(self, own: Sequence[str], facts: Mapping[str, Facts]) -> list[str]:
        """The pictures that lie to an occasion as the request says."""
        match self._errand.when:
            case "after" | "before" as side:
                return beside(list(facts), facts, own, side)
            case "other":
                return [name for name in facts if name not in set(own)]
            case _:
                return list(own)

    def _said(self, names: Iterable[str], facts: Mapping[str, Facts]) -> list[str]:
        return [name for name in names if self._errand.named.holds(facts[name])]

    def _pictures(self, occasion: ToldOccasion, facts: Mapping[str, Facts]) -> Move | list[str]:
        """All pictures of an occasion; none where it can't be found."""
        inner = [] if occasion.of is None else self._pictures(occasion.of, facts)
        if isinstance(inner, Move) or (occasion.of is not None and not inner):
            return inner
        match occasion.how:
            case "first" | "next":
                pool = list(facts) if occasion.of is None else beside(list(facts), facts, inner, "after")
                return self._nearest(occasion, inner, pool, facts)
            case "last" | "previous":
                pool = list(facts) if occasion.of is None else beside(list(facts), facts, inner, "before")
                return self._nearest(occasion, inner, pool[::-1], facts)
            case "town":
                return in_town(inner, facts, occasion.other)
            case _:
                return self._shown(occasion, inner, facts)

    def _shown(self, occasion: ToldOccasion, inner: list[str], facts: Mapping[str, Facts]) -> Move | list[str]:
        """An occasion, or a part of one, by what was seen."""
        assert occasion.about is not None
        phase = self._phases[occasion]
        found = self.sought(phase, occasion.about, inner or None)
        if isinstance(found, Move):
            return found
        if occasion.how == "part":
            return beside(inner, facts, found, occasion.side)
        return same_days(found, facts) if occasion.how == "day" else whole(found, facts)

    def _nearest(
        self, occasion: ToldOccasion, inner: list[str], pool: Sequence[str], facts: Mapping[str, Facts]
    ) -> Move | list[str]:
        """The first occasion of the pool that shows something; its next neighbour, where nothing is told of it."""
        if occasion.about is None:
            return neighbour(inner, facts, occasion.how, occasion.trips)
        phase = self._phases[occasion]
        found = self._likely(occasion.about)
        if isinstance(found, Move):
            return found
        likely = set(found)
        ordered = [name for name in pool if name in likely]
        if not self._tools.has("view"):
            return whole(ordered[:1], facts)
        for at, name in enumerate(ordered):
            if not self._is_known(phase, name):
                views = self._views(phase, ordered[at:], occasion.about)
                if views is not None:
                    return views
            elif self._shows(phase, name, occasion.about):
                return whole([name], facts)
        return []

    # --- a thing that is looked for again --------------------------------------------------------------------------

    def _look_for_thing(self, own: list[str]) -> Move | None:
        """Look at the occasion until it is known how the thing looked there."""
        assert self._errand.thing is not None
        found = self.sought(_THING, self._errand.thing, own)
        return found if isinstance(found, Move) else None

    def _target(self) -> Meant:
        """The target, with `the same` replaced by how it looked at the occasion."""
        errand = self._errand
        if errand.thing is None:
            return errand.target
        return same_as(errand.target, (*self._looks(), *map(lasting, errand.thing.wanted[::-1])))

    def _looks(self) -> tuple[Wanted, ...]:
        """How the thing looks in the pictures that show it, most frequent first."""
        noted = self._history.notes.get("looks")
        found = {str(k): str(v) for k, v in noted.items()} if isinstance(noted, dict) else {}
        looks = list((found | self._seen_looks(self._history.seen)).values())
        ranked = sorted(set(looks), key=lambda look: (-looks.count(look), look))
        return tuple(wanted for look in ranked for wanted in understand(look).wanted)

    def _seen_looks(self, seen: Mapping[str, SeenImage]) -> dict[str, str]:
        """By picture, how the thing looks in it."""
        thing = self._errand.thing
        if thing is None or not thing.wanted:
            return {}
        yes = {k: each for k, each in seen.items() if check_all(thing, each.reading).holds}
        items = {k: matching(thing.wanted[-1], each.reading.graph) for k, each in yes.items()}
        return {k: say_all([Exists(_lasting_look(found[0]))]) for k, found in items.items() if found}

    # --- the target ------------------------------------------------------------------------------------------------

    def _hunt(self, scope: list[str] | None) -> Move:
        target = self._target()
        if scope is not None and not scope:
            return self._answer((), "No picture was taken then and there.")
        if not target.claims:
            return self._answer(scope or (), "All pictures of that occasion.")
        inside = self._saved(scope)
        found = inside if isinstance(inside, Move) else self.sought(TARGET, target, scope, inside)
        if isinstance(found, Move):
            return found
        return self._answer(found, f"These show {say_all(target.claims)}." if found else "None of them shows it.")

    def _saved(self, scope: list[str] | None) -> Move | str | None:
        """The name of a subset that holds a scope too large to be looked at, saved where that is possible."""
        if scope is None or len(scope) <= VIEWED_WHOLE or not self._tools.takes("search", "search_within"):
            return None
        facts = self._history.facts
        times = sorted(when for name in scope if name in facts and (when := facts[name].time) is not None)
        if not times or not self._tools.has("filter"):
            return None
        test = between(times[0], times[-1])
        kept = self._filtered(test, SCOPE)
        if isinstance(kept, Move):
            return kept
        return SCOPE if self._was_saved(test) else None

    # --- saying it -------------------------------------------------------------------------------------------------

    def _answer(self, ids: Iterable[str], thought: str) -> Move:
        if self._errand.not_understood:
            words = ", ".join(f'"{word}"' for word in self._errand.not_understood)
            thought = f"{thought} Not understood, and not checked: {words}."
        return Move(thought, ids=tuple(dict.fromkeys(ids)), notes=tuple(self._notes))

    def _found(self) -> list[str]:
        """The best answer without another step: what is known to show the target."""
        target = self._target()
        scope = self._scope()
        inside = set(scope) if isinstance(scope, list) else None
        if inside is not None and not target.claims:
            return list(scope) if isinstance(scope, list) else []
        names = dict.fromkeys((*self._history.seen, *self._history.noted(f"{TARGET} yes")))
        showing = [name for name in names if self._shows(TARGET, name, target)]
        return [name for name in showing if inside is None or name in inside]

    def _new_notes(self) -> list[str]:
        """What the last turn has shown, in lines that survive when the pictures are gone."""
        last = self._history.last_steps
        lines = self.verdicts(self._history.last_seen)
        asked = [name for step in last if step.use == "metadata" and not step.failed for name in listed(step.arguments)]
        told = {name: each for name, each in self._history.facts.items() if name in asked}
        return [*lines, facts_note(told)] if told else lines

    def verdicts(self, seen: Mapping[str, SeenImage]) -> list[str]:
        """What looking at these has shown, as notes."""
        lines: list[str] = []
        phases = [(phase, each.about) for each, phase in self._phases.items() if each.about is not None]
        if self._errand.thing is not None:
            phases.append((_THING, self._errand.thing))
        for phase, meant in (*phases, (TARGET, self._target())):
            lines += verdict_notes(phase, meant, seen)
        looks = self._seen_looks(seen)
        return [*lines, note("looks", looks)] if looks else lines


def compressed(history: ToolConversation, tools: Toolbox) -> str:
    """All that must be kept of a conversation, for a planner that sees nothing else of it."""
    planner = SearchPlanner(history, tools)
    lines = [f"Request: {history.asked}", *planner.verdicts(history.seen), *anchor_notes(history)]
    lines += [note(key, value) for key, value in history.notes.items() if key not in ("found", "times")]
    lines.append(found_note(history))
    if history.facts:
        lines.append(facts_note(history.facts))
    failed = sorted({step.name for step in history.steps if step.failed})
    if failed:
        lines.append(f"Tools that failed: {', '.join(failed)}.")
    return "\n".join(lines)


def final_words(ids: Sequence[str]) -> str:
    """The answer in the form that ImageSeeker's users parse."""
    return f"The final answer is: [{', '.join(ids)}]."


def _phases(occasion: ToldOccasion | None) -> dict[ToldOccasion, str]:
    """A name for each occasion of a request, under which verdicts are noted."""
    return {} if occasion is None else {each: f"occasion {'abcdefgh'[at % 8]}" for at, each in enumerate(occasion)}


def _lasting_look(item: object) -> Wanted:
    """How something looks on other days, too: a coat does not stay."""
    match item:
        case Figure():
            colours = (item.headgear_colour,) if item.headgear_colour else ()
            return Wanted(("person",), hair=(item.hair,), headgear=(item.headgear,), headgear_colours=colours)
        case Thing():
            return Wanted((item.kind,), (item.colour,))
        case _:
            return Wanted(("sign",))


def as_request(history: ToolConversation) -> ToolConversation:
    """A question about an album as the request for pictures that it comes to; everything else as it is.

    `Which of these is red?` asks for something red, `How many photos show a dog?` for photos of a dog, to be counted.
    """
    if history.shown:
        return history
    which, many = _WHICH.match(history.asked), _HOW_MANY.match(the_question(history.asked))
    if which is not None:
        return replace(history, asked=f"find something {history.asked[which.end() :]}")
    return history if many is None else replace(history, asked=f"find all {many[1]}")


def counts_pictures(history: ToolConversation) -> bool:
    """Are pictures to be counted, and not what one of them shows?"""
    return not history.shown and _HOW_MANY.match(the_question(history.asked)) is not None


def count(history: ToolConversation, tools: Toolbox) -> tuple[Move, str]:
    """The step that is needed first, or the pictures that count (`ids`, as far as they are known) and the answer."""
    found = _HOW_MANY.match(the_question(history.asked))
    assert found is not None
    working = tools.without(history.broken())
    errand = read_search_request(found[1])
    if errand.not_understood:
        return Move("There are words in the question that I don't know."), CANNOT
    if not errand.target.claims and errand.occasion is None and not errand.moved:
        return _by_metadata(errand, history, working)
    move = next_move(as_request(history), tools)
    if not move.calls and not move.ids and errand.is_dated and not history.found("filter"):
        return Move("Nothing here tells when and where they were taken."), CANNOT_COUNT
    return move, str(len(move.ids))


def _by_metadata(errand: SearchRequest, history: ToolConversation, tools: Toolbox) -> tuple[Move, str]:
    """What a filter lists or a tool counts; both say how many there are."""
    test = errand.named.filter() or None
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
