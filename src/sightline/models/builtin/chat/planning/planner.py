"""What to do next: search the anchor, look, ask for times, narrow down, look for the target, answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from sightline.models.builtin.chat.checking import check_all, matching
from sightline.models.builtin.chat.claims import Exists, Meant, Wanted, say_all
from sightline.models.builtin.chat.grammar import understand
from sightline.models.builtin.chat.planning.episodes import Errand, lasting, read_errand, same_as
from sightline.models.builtin.chat.planning.finding import SCOPE, Finder, Move, Phase, listed
from sightline.models.builtin.chat.planning.history import History, facts_note, found_note, note
from sightline.models.builtin.chat.planning.results import Facts
from sightline.models.builtin.chat.planning.scopes import beside_moment, expression, group, next_to, within
from sightline.models.builtin.chat.planning.toolbox import Toolbox, argument
from sightline.models.builtin.chat.seeing import Seen
from sightline.types import Figure, Thing

_MOST_CALLS = 26


def next_move(history: History, tools: Toolbox) -> Move:
    """The next step of an errand, from the conversation alone."""
    return Planner(history, tools.without(history.broken())).move()


class Planner(Finder):
    """One decision; everything that it knows comes from the history."""

    def __init__(self, history: History, tools: Toolbox) -> None:
        super().__init__(history, tools)
        self._errand: Errand = read_errand(history.asked)
        self._notes = self._new_notes()

    def move(self) -> Move:
        forced = self._history.must_answer or len(self._history.steps) >= _MOST_CALLS
        errand = self._errand
        if not errand.target.claims and errand.anchor is None and not errand.is_filtered:
            return self._answer((), "I understand nothing in the request that I could look for.")
        if forced:
            return self._answer(self._found(), "No further step is possible, so this is what was found.")
        found = self._narrow()
        return found if isinstance(found, Move) else self._hunt(found)

    # --- the episode -----------------------------------------------------------------------------------------------

    def _narrow(self) -> Move | list[str] | None:
        """The ids that the target must be among; None for all. Or the step that is needed to know them."""
        errand = self._errand
        if errand.anchor is None:
            return self._filtered({}) if errand.is_filtered else None
        anchor = self._anchor()
        if isinstance(anchor, Move):
            return anchor
        if not anchor:
            return self._answer((), f"Nothing shows {say_all(errand.anchor.claims)}, so there is nothing to find.")
        if not errand.bond and not errand.other and not errand.is_filtered:
            return None
        facts = self._asked_facts(anchor, "When and where was that?")
        if isinstance(facts, Move):
            return facts
        if not any(found.time or found.address for found in facts.values()):
            return None
        own = self._one_episode(facts)
        if errand.via is None:
            return self._filtered(own)
        return (
            self._next_with(own, errand.via) if errand.bond in ("next", "previous") else self._moment(own, errand.via)
        )

    def _moment(self, own: Mapping[str, Facts], via: Meant) -> Move | list[str] | None:
        """The part of an episode before or after something else was seen there."""
        scope = self._filtered(own)
        if not isinstance(scope, list):
            return scope
        showing = self.sought("via", via, scope)
        if isinstance(showing, Move):
            return showing
        facts = self._asked_facts(scope, "In which order was that?")
        if isinstance(facts, Move):
            return facts
        return beside_moment(scope, facts, {k: v for k, v in facts.items() if k in showing}, self._errand.side)

    def _next_with(self, own: Mapping[str, Facts], via: Meant) -> Move | list[str] | None:
        """The next episode that shows something again takes the anchor's place."""
        showing = self.sought("via", via, None)
        if isinstance(showing, Move):
            return showing
        facts = self._asked_facts(showing, "When was it seen?")
        if isinstance(facts, Move):
            return facts
        chosen = next_to(own, facts, self._errand.bond)
        self._errand = replace(self._errand, bond="event", via=None)
        return self._filtered(chosen) if chosen else []

    def _anchor(self) -> Move | list[str]:
        """The pictures that show the anchor, by looking where that is possible."""
        meant = self._errand.anchor
        assert meant is not None
        return self.sought("anchor", meant, None)

    def _one_episode(self, facts: Mapping[str, Facts]) -> dict[str, Facts]:
        """Of several episodes the first or the last, if that was said; else the one with most of the pictures."""
        episodes = group(facts)
        if not episodes:
            return dict(facts)
        if self._errand.pick == "last":
            chosen = episodes[-1]
        elif self._errand.pick == "first":
            chosen = episodes[0]
        else:
            chosen = max(episodes, key=len)
        return {name: facts[name] for name in chosen}

    def _filtered(self, anchor: Mapping[str, Facts]) -> Move | list[str] | None:
        """What the metadata leaves over."""
        test = expression(self._errand, list(anchor.values()))
        if not test and self._errand.other:
            return None
        if not test or not self._tools.has("filter"):
            return self._searched_scope(anchor)
        done = [ids for asked, ids in self._history.found("filter") if argument(asked, "expression") == test]
        if not done:
            call = self._call("filter", expression=test, save_as=SCOPE)
            return (
                self._step(call, "Narrow it down by time and place.")
                if call is not None
                else self._searched_scope(anchor)
            )
        return self._exact(anchor, done[-1])

    def _searched_scope(self, anchor: Mapping[str, Facts]) -> Move | list[str] | None:
        """Without a filter: what the target's search finds, kept by its metadata."""
        found = self._search("target", self._target(), None)
        if isinstance(found, Move):
            return found
        return self._exact(anchor, found)

    def _exact(self, anchor: Mapping[str, Facts], ids: Sequence[str]) -> Move | list[str] | None:
        """A wide window has more in it than the episode; times and towns tell which."""
        plain = self._errand.bond in ("", "day", "town", "after", "before") and not self._errand.other
        plain = plain and not self._errand.side and not self._errand.moved
        if plain and (self._tools.has("filter") or not self._tools.has("metadata")):
            return list(ids)
        known = self._asked_facts(ids, "Which of these belong to the same episode?")
        if isinstance(known, Move):
            return known
        return within(self._errand, anchor, known) if known else list(ids)

    # --- the target ------------------------------------------------------------------------------------------------

    def _hunt(self, scope: list[str] | None) -> Move:
        target = self._target()
        if scope is not None and not scope:
            return self._answer((), "No picture was taken then and there.")
        if not target.claims:
            return self._answer(scope or (), "All pictures of that episode.")
        found = self.sought("target", target, scope)
        if isinstance(found, Move):
            return found
        if self._errand.pick and self._errand.anchor is None:
            return self._picked(found)
        if self._errand.other and scope is None:
            return self._elsewhere(found)
        return self._answer(found, f"These show {say_all(target.claims)}." if found else "None of them shows it.")

    def _picked(self, found: Sequence[str]) -> Move:
        """The first or the last time that something was seen."""
        known = self._asked_facts(found, f"Which of these came {self._errand.pick}?")
        if isinstance(known, Move):
            return known
        chosen = self._one_episode(known)
        return self._answer([name for name in found if name in chosen], f"The {self._errand.pick} time.")

    def _elsewhere(self, found: Sequence[str]) -> Move:
        """What was found, without the anchor's own episode."""
        anchor = self._anchor()
        if isinstance(anchor, Move):
            return anchor
        asked = self._asked_facts([*anchor, *found], "Which of these are from another time?")
        if isinstance(asked, Move):
            return asked
        own = self._one_episode({name: each for name, each in asked.items() if name in anchor})
        kept = within(self._errand, own, {name: each for name, each in asked.items() if name in found})
        return self._answer([name for name in found if name in kept or name not in asked], "Those of other times.")

    def _asked_facts(self, names: Sequence[str], thought: str) -> Move | dict[str, Facts]:
        """Times and addresses of these, or the call that asks for those that are missing."""
        missing = list(dict.fromkeys(name for name in names if name not in self._history.facts))
        call = self._call("metadata", photos=missing, fields=["time", "address"]) if missing else None
        if call is not None:
            return self._step(call, thought)
        return {name: self._history.facts[name] for name in names if name in self._history.facts}

    def _target(self) -> Meant:
        """The target, with `the same` replaced by how it looked at the anchor."""
        errand = self._errand
        if errand.anchor is None or not any(wanted.same for wanted in errand.target.wanted):
            return errand.target
        return same_as(errand.target, (*self._looks(), *map(lasting, errand.anchor.wanted)))

    def _looks(self) -> tuple[Wanted, ...]:
        """How the anchor's things look in the pictures that show it, or as it was noted."""
        noted = self._history.notes.get("looks")
        if isinstance(noted, str):
            return understand(noted).wanted
        anchor = self._errand.anchor
        if anchor is None:
            return ()
        looks: list[Wanted] = []
        for seen in self._history.seen.values():
            if check_all(anchor, seen.reading).holds:
                for wanted in anchor.wanted:
                    looks += [
                        _lasting_look(item)
                        for item in matching(wanted, seen.reading.graph)
                        if not hasattr(item, "words")
                    ]
        return tuple(sorted(set(looks), key=lambda look: (-looks.count(look), str(look))))

    # --- saying it -------------------------------------------------------------------------------------------------

    def _answer(self, ids: Iterable[str], thought: str) -> Move:
        return Move(thought, ids=tuple(dict.fromkeys(ids)), notes=tuple(self._notes))

    def _found(self) -> list[str]:
        """The best answer without another step: what is known to show the target."""
        target = self._target()
        names = dict.fromkeys((*self._history.seen, *self._history.noted("target yes")))
        scope = [ids for _, ids in self._history.found("filter")]
        inside = set(scope[-1]) if scope else None
        showing = [name for name in names if self._shows("target", name, target) and (inside is None or name in inside)]
        if not showing and not target.claims and inside is not None:
            return scope[-1]
        return showing

    def _new_notes(self) -> list[str]:
        """What the last steps have shown, in lines that survive when the pictures are gone."""
        last = self._history.steps[-1:]
        lines: list[str] = []
        for step in last:
            lines += self.verdicts(step.seen)
            if step.use == "metadata" and not step.failed:
                told = {k: v for k, v in self._history.facts.items() if k in listed(step.arguments)}
                lines += [facts_note(told)] if told else []
        return lines

    def verdicts(self, seen: Mapping[str, Seen]) -> list[str]:
        """What looking at these has shown, as notes."""
        lines: list[str] = []
        phases: list[tuple[Phase, Meant]] = [("target", self._target())]
        if self._errand.anchor is not None:
            phases.insert(0, ("anchor", self._errand.anchor))
        if self._errand.via is not None:
            phases.insert(0, ("via", self._errand.via))
        for phase, meant in phases:
            verdicts = {name: check_all(meant, each.reading).holds for name, each in seen.items()}
            for word, wanted in (("yes", True), ("no", False)):
                names = [name for name, holds in verdicts.items() if holds == wanted]
                lines += [note(f"{phase} {word}", names)] if names and meant.claims else []
        looks = self._looks()
        if looks and seen and any(wanted.same for wanted in self._errand.target.wanted):
            lines.append(note("looks", say_all([Exists(looks[0])])))
        return lines


def compressed(history: History, tools: Toolbox) -> str:
    """All that must be kept of a conversation, for a planner that sees nothing else of it."""
    planner = Planner(history, tools)
    lines = [f"Request: {history.asked}", *planner.verdicts(history.seen)]
    lines += [note(key, value) for key, value in history.notes.items() if key != "found"]
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


def _lasting_look(item: object) -> Wanted:
    match item:
        case Figure():
            colours = (item.headgear_colour,) if item.headgear_colour else ()
            return Wanted(("person",), hair=(item.hair,), headgear=(item.headgear,), headgear_colours=colours)
        case Thing():
            return Wanted((item.kind,), (item.colour,))
        case _:
            return Wanted(("sign",))
