"""Teams, stadiums, players, and what they played for year after year."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta

from sightline_world.truth import SyntheticHistory
from sightline_world.web.facts import Entity
from sightline_world.web.geography import Land
from sightline_world.web.maker import TODAY, FactMaker, number
from sightline_world.web.pictures import team_picture

_TEAMS = 48
_PLAYERS = 5
_ARCHITECTS = 30
_FIRST_SEASON = 2009
_MATCHES_A_SEASON = 20


def make_sport(make: FactMaker, land: Land, lives: Sequence[SyntheticHistory]) -> tuple[Entity, ...]:
    """Teams of the lives first, at home where their owners first lived if no other is; then others.

    Of two lives whose teams have the same name, the first one's is told.
    """
    free = {town.name: town for town in land.towns}
    squads: dict[str, list[Entity]] = {}
    architects = [make.add_person("architect") for _ in range(_ARCHITECTS)]
    teams: dict[str, Entity] = {}
    for life in lives:
        if life.team.name not in teams:
            town = free.pop(life.homes[0].town, None) or free.pop(next(iter(free)))
            team = make.add_team(life.team.name.title(), life.team.colour)
            teams[life.team.name] = team
            squads[team.id] = _team(make, team, town, architects)
    towns = make.rng.sample(list(free.values()), max(0, _TEAMS - len(teams)))
    for town in towns:
        word = make.names.word()
        teams[word] = team = make.add_team(word)
        squads[team.id] = _team(make, team, town, architects)
    _rivals(make, list(teams.values()))
    _seasons(make, list(teams.values()), squads)
    return tuple(teams.values())


def _team(make: FactMaker, team: Entity, town: Entity, architects: Sequence[Entity]) -> list[Entity]:
    rng = make.rng
    word = make.names.word()
    ground = make.add("stadium", f"{word} {rng.choice(('Park', 'Field', 'Arena', 'Ground'))}", note="stadium")
    make.tell(team, "town", town)
    make.tell(team, "stadium", ground)
    make.change(team, "coach", make.add_forgotten("coach"), make.add_person("coach"))
    make.tell(team, "founded", make.year(1888, 1979))
    seats = rng.randrange(4_000, 38_000, 50)
    make.change(ground, "capacity", number(round(seats * rng.uniform(0.5, 0.9))), number(seats))
    make.tell(ground, "opened", make.year(1921, 1949))
    make.tell(ground, "architect", rng.choice(architects))
    players = [make.add_person("player") for _ in range(_PLAYERS)]
    for player, shirt in zip(players, rng.sample(range(2, 30), _PLAYERS), strict=True):
        make.tell(player, "team", team)
        make.tell(player, "number", str(shirt))
    make.tell(team, "captain", rng.choice(players))
    make.pictures[team.id] = team_picture(team)
    return players


def _rivals(make: FactMaker, teams: Sequence[Entity]) -> None:
    """Each team's rival is the next in a ring, so nobody's rival is a matter of opinion."""
    ring = make.rng.sample(teams, len(teams))
    for team, rival in zip(ring, (*ring[1:], ring[0]), strict=True):
        make.tell(team, "rival", rival)


def _seasons(make: FactMaker, teams: Sequence[Entity], squads: Mapping[str, list[Entity]]) -> None:
    won: dict[str, tuple[Entity, Entity]] = {}
    for year in range(_FIRST_SEASON, TODAY):
        season = make.add("season", f"the {year} Cup", short="the cup", note="season")
        pairs = [make.rng.sample(teams, 2) for _ in range(_MATCHES_A_SEASON)]
        days = sorted(make.rng.sample(range(250), _MATCHES_A_SEASON))
        first = date(year, 3, 1)
        matches = [
            _match(make, season, home, away, first + timedelta(days=day), squads)
            for (home, away), day in zip(pairs, days, strict=True)
        ]
        final, winner = matches[-1]
        won[winner.id] = winner, season
        make.tell(season, "winner", winner)
        make.tell(season, "final", final)
        make.tell(season, "top_scorer", make.rng.choice(squads[make.rng.choice(pairs)[0].id]))
    for winner, season in won.values():
        make.tell(winner, "last_cup", season)


def _match(
    make: FactMaker, season: Entity, home: Entity, away: Entity, day: date, squads: Mapping[str, list[Entity]]
) -> tuple[Entity, Entity]:
    """A match that somebody won, and who it was."""
    rng = make.rng
    goals = rng.sample(range(6), 2)
    match = make.add("match", f"{home.short} v {away.short}, {day.day} {day:%B %Y}", short="the match", note="match")
    scored = [team for team, count in zip((home, away), goals, strict=True) if count]
    make.tell(match, "season", season)
    make.tell(match, "home", home)
    make.tell(match, "away", away)
    make.tell(match, "score", f"{goals[0]}–{goals[1]}")
    make.tell(match, "day", f"{day.day} {day:%B %Y}")
    make.tell(match, "attendance", number(rng.randint(1_200, 19_000)))
    make.tell(match, "first_goal", rng.choice(squads[rng.choice(scored).id]))
    return match, home if goals[0] > goals[1] else away
