"""How often what is billed lies in the range that `--plan` prints: simulated jobs, priced from a pilot in the journal.

Run: python benchmarks/plans.py [--jobs 400]. Each verb asks in its own way (one call, repairs, turns, samples, early
stops, attempts that failed and were billed); the pilot is so many items of the same job that were done before.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Callable
from typing import Any

from sightline.calls.journal import PilotChain
from sightline.calls.plan import plan_stage
from sightline.calls.prices import Prices
from sightline.config.settings import Price, PriceSettings
from sightline.types import ChatRequest, Message, Usage

MODEL = "vllm/own"
PRICES = Prices(PriceSettings(models={MODEL: Price(input=1.0, output=5.0)}))
REQUEST = ChatRequest(MODEL, (Message("user", ("What is this?",)),))

Item = Callable[[random.Random], PilotChain]


def reply(rng: random.Random, sent: float = 900, mean: float = 300, spread: float = 0.7) -> Usage:
    """One call: input that varies by a fifth, output that is lognormal."""
    output = math.exp(rng.gauss(math.log(mean), spread))
    return Usage(round(sent * rng.uniform(0.8, 1.2)), output=round(output))


def annotate(rng: random.Random) -> PilotChain:
    """One call for each picture; one in twenty is billed twice, because its first attempt broke off."""
    made = reply(rng)
    return PilotChain([made + reply(rng) if rng.random() < 0.05 else made], [])


def steps(rng: random.Random) -> PilotChain:
    """A call, and up to three repairs."""
    chain = PilotChain([reply(rng, 1500, 500)], [])
    while len(chain.following) < 3 and rng.random() < 0.45:
        chain.following.append(reply(rng, 2300, 500))
    return chain


def think(rng: random.Random) -> PilotChain:
    """Four samples of long thinking; those that fail a check are asked once more."""
    first = [reply(rng, 1200, 2500, 0.9) for _ in range(4)]
    return PilotChain(first, [reply(rng, 4000, 400) for _ in first if rng.random() < 0.3])


def agent(rng: random.Random) -> PilotChain:
    """Turns until it answers, each with a longer history."""
    chain = PilotChain([reply(rng, 2500, 200)], [])
    while len(chain.following) < 19 and rng.random() < 0.8:
        chain.following.append(reply(rng, 2500 + 1400 * (1 + len(chain.following)), 200))
    return chain


def mine(rng: random.Random) -> PilotChain:
    """Tries until one is accepted, at most eight: most stop early."""
    chain = PilotChain([reply(rng, 800, 150)], [])
    while len(chain.following) < 7 and rng.random() < 0.6:
        chain.following.append(reply(rng, 900, 150))
    return chain


VERBS: dict[str, Item] = {"make": annotate, "steps": steps, "think": think, "agent": agent, "mine": mine}


class Pilot:
    """What `plan_stage` asks a journal for."""

    def __init__(self, chains: list[PilotChain]) -> None:
        self._chains = chains

    def pilot(self, *_: object) -> list[PilotChain]:
        return self._chains

    def find(self, _: bytes) -> None:
        return None


def cost(chain: PilotChain) -> float:
    tariff = PRICES.tariff(MODEL, "stage")
    assert tariff is not None
    return sum(map(tariff.cost, chain.first + chain.following))


def simulate(item: Item, pilot: int, items: int, jobs: int, seed: int = 0) -> tuple[float, float]:
    """The share of jobs whose cost lay in the range, and the median of likely over billed."""
    rng = random.Random(f"{item.__name__} {pilot} {seed}")
    inside, ratios = 0, []
    for _ in range(jobs):
        journal: Any = Pilot([item(rng) for _ in range(pilot)])
        todo = [item(rng) for _ in range(items)]
        firsts = sum(len(chain.first) for chain in todo)
        found = plan_stage("stage", [REQUEST], prices=PRICES, journal=journal, calls=firsts)
        billed = sum(map(cost, todo))
        assert found.usd is not None
        inside += found.usd.low <= billed <= found.usd.high
        ratios.append(found.usd.likely / billed)
    return inside / jobs, sorted(ratios)[jobs // 2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=400)
    jobs = parser.parse_args().jobs
    print("| verb | pilot of 10: covered | likely / billed | pilot of 50: covered | likely / billed |")
    print("|---|---|---|---|---|")
    for name, item in VERBS.items():
        cells = [f"{share:.1%} | {ratio:.2f}" for share, ratio in (simulate(item, n, 300, jobs) for n in (10, 50))]
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
