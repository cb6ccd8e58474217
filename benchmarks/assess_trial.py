"""From a CSV and two services to "settled" in a browser, by somebody who has read docs/assess.md and nothing else.

Run: python benchmarks/assess_trial.py [--difference 0.05] [--seed 0] [--seconds 4] [--interrupt 50]

The script is that person. It takes the commands and the words to click from the page; one that is wrong there stops it.
The photographs are the 600 of Flickr8k that are there as files, the queries captions with made-up counts, the services
an embedder (new) and the same embedder with noise (old), worse by `--difference` in nDCG@10, weighted by the counts.
What the person answers is what captions say (`caption_truth.py`). Printed are commands, clicks and decisions, seconds
of the machine for each step, and the answer. With `--interrupt` the app and the browser are killed in the middle, and
nothing may be lost.

Needs playwright and Chromium.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import numpy as np
from aiohttp import web
from numpy.typing import NDArray
from playwright.sync_api import Page, sync_playwright

from assess import World, load_world, top, tuned
from caption_truth import data_folder
from sightline.metrics.assessment.pool import discounts

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "assess.md"
Floats: TypeAlias = NDArray[np.float64]
Counts: TypeAlias = NDArray[np.int_]

CHROMIUM = "/usr/bin/chromium"
PORTS = {"old": 8801, "new": 8802}
"""Where the page has its two services."""
PERSON = "ann"
MOST = 3000
"""Decisions after which the person gives up."""


class Options(argparse.Namespace):
    """What `main` reads."""

    difference: float
    seed: int
    seconds: float
    screenshot: Path | None
    interrupt: int | None


@dataclass(slots=True)
class Told:
    """What the page says: the command that makes the benchmark, the one that opens the app, and what to click there."""

    make: str
    view: str
    clicks: list[str]

    @classmethod
    def read(cls) -> Told:
        text = PAGE.read_text("utf-8")
        make = re.search(r"\$ (sightline make .*?)\n +queries:", text, re.DOTALL)
        step = re.search(
            r"4\. \*\*Judge in the browser\.\*\* `([^`]+)` opens the app: (.*?), your name\.", text, re.DOTALL
        )
        if make is None or step is None:
            raise SystemExit(f"{PAGE.name} no longer has the steps of this trial.")
        return cls(re.sub(r"\\\n\s*", "", make[1]), step[1], re.findall(r"\*([^*]+)\*", step[2]))


@dataclass(slots=True)
class Trial:
    """What it took."""

    seconds: dict[str, float] = field(default_factory=dict)
    commands: int = 0
    clicks: int = 0
    waits: list[float] = field(default_factory=list)
    answer: str = ""

    @contextmanager
    def clock(self, name: str) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - began


def service(scores: Mapping[str, Floats], pictures: Sequence[str]) -> web.Application:
    """A search whose scores are known beforehand, by the words of the query; it answers as the page says."""

    async def search(request: web.Request) -> web.Response:
        asked = await request.json()
        found = scores[asked["query"]]
        best = np.argsort(-found, kind="stable")[: asked["k"]].tolist()
        return web.json_response({"hits": [{"id": pictures[at], "score": float(found[at])} for at in best]})

    made = web.Application()
    made.add_routes([web.post("/search", search)])
    return made


@contextmanager
def served(services: Mapping[str, web.Application]) -> Iterator[None]:
    """Each on the port that the page has for it, in one thread."""
    loop, runners = asyncio.new_event_loop(), [web.AppRunner(one) for one in services.values()]

    async def start() -> None:
        for name, runner in zip(services, runners, strict=True):
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", PORTS[name]).start()

    loop.run_until_complete(start())
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield
    finally:
        for runner in runners:
            asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)


def kept_files(world: World) -> World:
    """The part of a world whose photographs are there as files, with the queries that find one of them."""
    here = {path.name for path in (data_folder() / "dev").iterdir()}
    columns = np.array([at for at, name in enumerate(world.pictures) if name in here])
    relevant = world.relevant[:, columns]
    rows = np.flatnonzero(relevant.any(axis=1))
    systems = {name: scores[np.ix_(rows, columns)] for name, scores in world.systems.items()}
    names, texts = tuple(world.pictures[at] for at in columns.tolist()), tuple(world.texts[at] for at in rows.tolist())
    return World(relevant[rows], systems, names, texts)


def run_command(trial: Trial, command: str, home: Path) -> None:
    """Type a command of the page and wait for it."""
    trial.commands += 1
    subprocess.run(["bash", "-c", command], cwd=home, env=environment(home), check=True)


def environment(home: Path) -> dict[str, str]:
    """A home of its own, so that `~/Photos` is what the page means, and `sightline` is this Python's."""
    tools = home / "tools"
    tools.mkdir(exist_ok=True)
    script = tools / "sightline"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -m sightline "$@"\n')
    script.chmod(0o755)
    return os.environ | {"HOME": str(home), "PATH": f"{tools}:{os.environ['PATH']}"}


@contextmanager
def app(trial: Trial, command: str, home: Path) -> Iterator[str]:
    """The app, killed at the end of the block; gives its address, which it prints."""
    trial.commands += 1
    process = subprocess.Popen(
        ["bash", "-c", f"exec {command}"], cwd=home, env=environment(home), stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        yield next(line for line in process.stdout if "http" in line).strip()
    finally:
        process.kill()
        process.wait(20)


def go(trial: Trial, page: Page, words: str) -> None:
    """Click what the page calls by these words."""
    trial.clicks += 1
    named = page.get_by_role("link", name=words, exact=True).or_(page.get_by_role("button", name=words, exact=True))
    named.first.click()


def judge(trial: Trial, page: Page, fits: Mapping[str, set[str]], most: int) -> None:
    """Decide by keys until the app says that it is settled, or for so many decisions."""
    while page.locator(".settled").count() == 0 and len(trial.waits) < most:
        query = page.locator("h2.prompt").inner_text().strip()
        picture = page.locator("#decide input[name=picture]").get_attribute("value")
        began = time.perf_counter()
        with page.expect_navigation():
            page.keyboard.press("3" if picture in fits[query] else "0")
        trial.waits.append(time.perf_counter() - began)
    trial.answer = page.locator(".settled b").inner_text() if page.locator(".settled").count() else "not settled"


def sit_down(trial: Trial, told: Told, home: Path, fits: Mapping[str, set[str]], options: Options, most: int) -> None:
    """The page's step 4, until it is settled or so many decisions were made; then everything is killed."""
    with ExitStack() as stack:
        began = time.perf_counter()
        address = stack.enter_context(app(trial, told.view, home))
        driver = stack.enter_context(sync_playwright())
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(address)
        for words in told.clicks:
            go(trial, page, words)
        page.fill("input[name=person]", PERSON)
        with page.expect_navigation():
            page.keyboard.press("Enter")
        page.locator("#decide").wait_for()
        trial.seconds.setdefault("view, to the first picture", time.perf_counter() - began)
        if f"· {len(trial.waits)} decision" not in page.locator("header.row").inner_text():
            raise SystemExit(f"{len(trial.waits)} decisions were made, but the page says otherwise.")
        judge(trial, page, fits, most)
        if options.screenshot is not None:
            page.screenshot(path=options.screenshot)
        browser.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--difference", type=float, default=0.05, help="true difference in nDCG@10")
    parser.add_argument("--seed", type=int, default=0, help="of the noise and of the counts")
    parser.add_argument("--seconds", type=float, default=4, help="that a person takes for a decision")
    parser.add_argument("--screenshot", type=Path, help="the last page, as PNG")
    parser.add_argument("--interrupt", type=int, help="kill the app and the browser after so many decisions, and go on")
    options = parser.parse_args(namespace=Options())
    told, world, trial = Told.read(), kept_files(load_world("dev")), Trial()
    rng = np.random.default_rng((3, options.seed))
    best = world.systems["embedder"]
    noise = rng.normal(size=best.shape)
    counts = np.maximum(1, rng.pareto(1.2, len(world.texts)) * 5).astype(int)
    scores = {"old": best + tuned(world, best, noise, options.difference, counts / counts.sum()) * noise, "new": best}
    fits = {
        text: {world.pictures[at] for at in np.flatnonzero(row)}
        for text, row in zip(world.texts, world.relevant, strict=True)
    }
    services = {
        name: service(dict(zip(world.texts, table, strict=True)), world.pictures) for name, table in scores.items()
    }
    with tempfile.TemporaryDirectory() as folder, served(services):
        home = Path(folder)
        shutil.copytree(data_folder() / "dev", home / "Photos", copy_function=shutil.copyfile)
        write_log(home / "log.csv", world.texts, counts)
        with trial.clock("make"):
            run_command(trial, told.make, home)
        for most in (options.interrupt, MOST) if options.interrupt else (MOST,):
            sit_down(trial, told, home, fits, options, most)
    report(trial, world, scores, counts, options)
    return 0


def write_log(path: Path, texts: Sequence[str], counts: Counts) -> None:
    """The person's own queries, as the page wants them."""
    rows = (f'"{text.replace(chr(34), chr(34) * 2)}",{count}\n' for text, count in zip(texts, counts, strict=True))
    path.write_text("query,count\n" + "".join(rows), "utf-8")


def report(trial: Trial, world: World, scores: Mapping[str, Floats], counts: Counts, options: Options) -> None:
    gap = np.average(world.ndcg(scores["new"]) - world.ndcg(scores["old"]), weights=counts)
    found = {name: np.take_along_axis(world.relevant, top(table), axis=1) for name, table in scores.items()}
    target = np.average((found["new"].astype(float) - found["old"]) @ discounts(10), weights=counts)
    decisions, machine = len(trial.waits), sum(trial.waits)
    print(f"{len(world.pictures)} photographs, {len(world.texts)} captions as queries; new − old, by traffic:")
    print(f"  {gap:+.3f} in nDCG@10, {target:+.3f} in dcg@10")
    print(f"1 page read, {trial.commands} commands, {trial.clicks} clicks, a name, {decisions} decisions by key")
    for name, seconds in trial.seconds.items():
        print(f"  {name}: {seconds:.1f} s")
    print(
        f"  a decision, of the app: median {np.median(trial.waits):.2f} s, 95 % {np.quantile(trial.waits, 0.95):.2f} s"
    )
    person = decisions * options.seconds + sum(trial.seconds.values()) + machine
    print(f"  in all, at {options.seconds:g} s a decision: {person / 60:.0f} minutes")
    print(f"  {trial.answer} ({os.getloadavg()[0]:.1f} load)")


if __name__ == "__main__":
    sys.exit(main())
