"""What is true of tasks over lives, derived anew and slowly from `truth.jsonl` and `life.json` alone."""

from __future__ import annotations

import json
from datetime import date, datetime
from pathlib import Path
from typing import Any

from sightline_world.draw import PLACES

YES, MAYBE, NO = 2, 1, 0


class SlowLife:
    """The files of one life as plain JSON."""

    def __init__(self, folder: Path) -> None:
        shots = [json.loads(line) for line in (folder / "truth.jsonl").read_text().splitlines()]
        self.shots = sorted(shots, key=lambda shot: (datetime.fromisoformat(shot["when"]), shot["id"]))
        self.dated = [shot for shot in self.shots if shot["taken_at"] is not None]
        self.by_id = {shot["id"]: shot for shot in self.shots}
        self.life = json.loads((folder / "life.json").read_text())["lives"][0]
        self.events = sorted(self.life["events"], key=lambda event: event["first"])

    # --- select ---------------------------------------------------------------------------------------------

    def select(self, logic: dict[str, Any]) -> set[str]:
        """The pictures that a query means; fails where that is open to doubt."""
        base = logic["base"]
        pictures = self.base(base)
        traits = [*logic["target"], *([self.same(base)] if "same" in base else [])]
        states = {shot["id"]: min([YES, *(see(shot, trait) for trait in traits)]) for shot in pictures}
        assert MAYBE not in states.values(), "a picture of which one can't say whether it is meant"
        return {id_ for id_, state in states.items() if state == YES}

    def base(self, base: dict[str, Any]) -> list[dict[str, Any]]:
        kind = base["in"]
        if kind == "day":
            days = {(shot["event"], day(shot)) for shot in self.dated if all(see(shot, t) for t in base["traits"])}
            ((event, when),) = days
            assert any(all(see(shot, t) == YES for t in base["traits"]) for shot in self.of(event))
            return [shot for shot in self.of(event) if day(shot) == when]
        if kind in ("old home", "new home"):
            (move,) = (event for event in self.events if event["kind"] == "move")
            return self.outside(move["id"], "before" if kind == "old home" else "after")
        event = self.event(base["of"])
        if kind == "event":
            return self.of(event)
        if kind in ("before", "after"):
            seen = [moment(shot) for shot in self.of(event) if all(see(shot, t) == YES for t in base["traits"])]
            if kind == "before":
                return [shot for shot in self.of(event) if moment(shot) < min(seen)]
            return [shot for shot in self.of(event) if moment(shot) > max(seen)]
        if kind == "town":
            town = self.by_event(event)["town"]
            return [shot for shot in self.dated if shot["town"] == town and shot["event"] != event]
        if kind == "other":
            return [shot for shot in self.dated if shot["event"] != event]
        return self.outside(event, {"later": "after", "earlier": "before"}[kind])

    def same(self, base: dict[str, Any]) -> list[str]:
        """What turns out to be the look of someone, or the colour of something, that was at the event."""
        there, known = self.of(self.event(base["of"])), base["same"]
        if "thing" in known:
            things = [thing for shot in there for thing in shot["graph"]["things"] if thing["kind"] == known["thing"]]
            (colour,) = {thing["colour"] for thing in things}
            return ["thing", known["thing"], colour]
        figures = [
            figure
            for shot in there
            if shot["graph"]["place"] == known["place"]
            for figure in shot["graph"]["figures"]
            if figure["coat"] == known["coat"]
        ]
        (looks,) = {(figure["hair"], figure["headgear"], figure["headgear_colour"] or "") for figure in figures}
        return ["person", *looks, ""]

    def event(self, logic: dict[str, Any]) -> str:
        """The id of the one event that is meant."""
        kind = logic["event"]
        if kind == "seen":
            events = {shot["event"] for shot in self.dated if all(see(shot, trait) for trait in logic["traits"])}
            (event,) = events
            assert event is not None
            assert any(all(see(shot, trait) == YES for trait in logic["traits"]) for shot in self.of(event))
            return str(event)
        if kind in ("first", "last"):
            seen = [shot for shot in self.dated if see(shot, logic["trait"])]
            end = seen[0 if kind == "first" else -1]
            sure = [shot for shot in seen if see(shot, logic["trait"]) == YES and shot["event"]]
            assert end["event"] == sure[0 if kind == "first" else -1]["event"]
            return str(end["event"])
        anchor = self.event(logic["from"])
        if kind == "trip":
            trips = [event["id"] for event in self.events if self.is_trip(event)]
            order = [event["id"] for event in self.events]
            if logic["step"] == 1:
                return str(next(trip for trip in trips if order.index(trip) > order.index(anchor)))
            return str([trip for trip in trips if order.index(trip) < order.index(anchor)][-1])
        assert kind == "next with"
        return str(next(shot["event"] for shot in self.outside(anchor, "after") if see(shot, logic["trait"])))

    def of(self, event: str) -> list[dict[str, Any]]:
        return [shot for shot in self.dated if shot["event"] == event]

    def by_event(self, event: str) -> dict[str, Any]:
        return next(each for each in self.events if each["id"] == event)

    def outside(self, event: str, side: str) -> list[dict[str, Any]]:
        times = [moment(shot) for shot in self.of(event)]
        if side == "before":
            return [shot for shot in self.dated if moment(shot) < min(times)]
        return [shot for shot in self.dated if moment(shot) > max(times)]

    def is_trip(self, event: dict[str, Any]) -> bool:
        homes = self.life["homes"]
        lived = [
            home["town"] for home in homes if date.fromisoformat(home["since"]) <= date.fromisoformat(event["first"])
        ]
        return bool(event["town"] != (lived or [homes[0]["town"]])[-1])

    # --- answer ---------------------------------------------------------------------------------------------

    def answer(self, template: str, picture: str, about: dict[str, Any]) -> str:
        """The only answer to a question that does not need the web."""
        shot = self.by_id[picture]
        graph = shot["graph"]
        if template == "read a sign":
            ((words),) = (sign["words"] for sign in graph["signs"])
            return str(words)
        if template == "count":
            return str(sum(thing["kind"] == about["kind"] for thing in graph["things"]))
        if template in ("headgear", "in the hand"):
            (person,) = (figure for figure in graph["figures"] if figure["coat"] == about["coat"])
            if template == "headgear":
                return str(person["headgear_colour"])
            (held,) = (
                r["object"] for r in graph["relations"] if (r["subject"], r["predicate"]) == (person["id"], "holding")
            )
            return str(next(thing["kind"] for thing in graph["things"] if thing["id"] == held))
        if template == "on the same occasion":
            assert not see(shot, ["thing", about["kind"]]), "the picture itself tells"
            things = [
                t for each in self.of(shot["event"]) for t in each["graph"]["things"] if t["kind"] == about["kind"]
            ]
            (colour,) = {thing["colour"] for thing in things}
            return str(colour)
        if template == "another coat":
            return self._coat(shot, about)
        if template in ("first place", "first year"):
            (item,) = (thing for thing in graph["things"] if thing["colour"] == about["colour"])
            assert (item["kind"], item["colour"]) in {(own["kind"], own["colour"]) for own in self.life["belongings"]}
            first = next(each for each in self.dated if see(each, ["thing", item["kind"], item["colour"]]))
            assert first["event"] is None or first["event"] != shot["event"]
            return str(
                first["graph"]["place"] if template == "first place" else datetime.fromisoformat(first["when"]).year
            )
        assert template == "a sign nearby"
        others = [each for each in self.of(shot["event"]) if see(each, ["thing", about["kind"], about["colour"]])]
        (words,) = {sign["words"] for each in others for sign in each["graph"]["signs"]}
        assert shot not in others
        return str(words)

    def _coat(self, shot: dict[str, Any], about: dict[str, Any]) -> str:
        (person,) = (figure for figure in shot["graph"]["figures"] if figure["coat"] == about["coat"])
        looks = (person["hair"], person["headgear"], person["headgear_colour"])
        (coat,) = {
            figure["coat"]
            for each in self.dated
            if each["event"] != shot["event"] and each["graph"]["place"] == about["place"]
            for figure in each["graph"]["figures"]
            if (figure["hair"], figure["headgear"], figure["headgear_colour"]) == looks
        }
        return str(coat)


def day(shot: dict[str, Any]) -> date:
    return datetime.fromisoformat(shot["when"]).date()


def moment(shot: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(shot["when"])


def noticed(item: dict[str, Any]) -> bool:
    box = item["box"]
    return bool(item["hidden"] <= 0.5 and (box["right"] - box["left"]) * (box["bottom"] - box["top"]) >= 0.0015)


def readable(sign: dict[str, Any]) -> bool:
    return bool(sign["letter_px"] >= 7 and sign["hidden"] <= 0.1)


def see(shot: dict[str, Any], trait: list[str]) -> int:
    """Whether a picture has a trait: yes, maybe or no."""
    kind, *values = trait
    graph = shot["graph"]
    if kind in ("place", "light"):
        return YES if graph[kind] == values[0] else NO
    if kind in ("thing", "several"):
        colour = values[1] if kind == "thing" and len(values) == 2 else None
        least = int(values[1]) if kind == "several" else 1
        these = [t for t in graph["things"] if t["kind"] == values[0] and colour in (None, t["colour"])]
        return _enough(these, least, values[0] in PLACES[graph["place"]].scenery_kinds)
    if kind == "people":
        return _enough(graph["figures"], int(values[0]), False)
    if kind == "nobody":
        return YES if not graph["figures"] else NO if any(map(noticed, graph["figures"])) else MAYBE
    if kind == "person":
        names = ("hair", "headgear", "headgear_colour", "coat")
        fit = [f for f in graph["figures"] if all(v in ("", f[n] or "") for n, v in zip(names, values, strict=True))]
        return _enough(fit, 1, False)
    assert kind == "words"
    signs = [sign for sign in graph["signs"] if sign["words"] == values[0]]
    return NO if not signs else YES if any(map(readable, signs)) else MAYBE


def _enough(items: list[dict[str, Any]], least: int, scenery: bool) -> int:
    if sum(map(noticed, items)) >= least:
        return YES
    return MAYBE if len(items) >= least or scenery else NO


# --- rank -------------------------------------------------------------------------------------------------


def grade(graph: dict[str, Any], ask: dict[str, Any]) -> int:
    """0 to 3, by the rule of docs/world-tasks.md."""
    misses = [_MISS[subject["ask"]](graph, subject) for subject in ask["subjects"]]
    if all(miss == 2 for miss in misses):
        return 0
    total = sum(misses)
    if ask["places"] and graph["place"] not in ask["places"]:
        total += 2
    if ask["lights"] and graph["light"] not in ask["lights"]:
        total += 1
    return {0: 3, 1: 2, 2: 1}.get(total, 0)


def _things(graph: dict[str, Any], ask: dict[str, Any]) -> int:
    here = [thing for thing in graph["things"] if thing["kind"] in ask["kinds"]]
    seen = [thing for thing in here if noticed(thing)]

    def right(things: list[dict[str, Any]]) -> bool:
        coloured = [thing for thing in things if ask["colour"] in (None, thing["colour"])]
        return len(coloured) == ask["count"] if ask["count"] is not None else len(coloured) > 0

    if right(seen):
        return 0
    if right(here) or any(kind in PLACES[graph["place"]].scenery_kinds for kind in ask["kinds"]):
        return 1
    if not seen:
        return 2
    if ask["count"] is None or ask["colour"] is None:
        return 1
    return 1 if len(seen) == ask["count"] or ask["colour"] in [thing["colour"] for thing in seen] else 2


def _person(graph: dict[str, Any], ask: dict[str, Any]) -> int:
    asked = [name for name in ("hair", "headwear", "coat") if ask[name] is not None]
    best = 2
    for figure in graph["figures"]:
        has = {
            "hair": figure["hair"],
            "headwear": [figure["headgear"], figure["headgear_colour"]],
            "coat": figure["coat"],
        }
        wrong = sum(has[name] != ask[name] for name in asked)
        if wrong == 0:
            best = min(best, 0 if noticed(figure) else 1)
        elif wrong == 1 and len(asked) > 1 and noticed(figure):
            best = min(best, 1)
    return best


def _words(graph: dict[str, Any], ask: dict[str, Any]) -> int:
    signs = [sign for sign in graph["signs"] if sign["words"] == ask["words"]]
    return 2 if not signs else 0 if any(map(readable, signs)) else 1


def _relation(graph: dict[str, Any], ask: dict[str, Any]) -> int:
    names = {thing["id"]: [thing["kind"], thing["colour"]] for thing in graph["things"]}
    names |= {figure["id"]: ["person", figure["coat"]] for figure in graph["figures"]}
    held = [(names.get(r["subject"]), r["predicate"], names.get(r["object"])) for r in graph["relations"]]
    if (ask["subject"], ask["predicate"], ask["object"]) in held:
        return 0
    there = list(names.values())
    if ask["subject"] == ask["object"]:
        return 1 if there.count(ask["subject"]) > 1 else 2
    return 1 if ask["subject"] in there and ask["object"] in there else 2


_MISS = {"AskThings": _things, "AskPerson": _person, "AskWords": _words, "AskRelation": _relation}
