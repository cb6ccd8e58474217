"""Questions about single pictures: chains over a web, a picture on the way, and the two filters."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from PIL import Image

from make_tools import colour_of, picture_in, words_in
from mine_tools import script
from models_server import Received, chat, respond_json, serving_in_thread
from sightline.agent.web import OfflineWeb, WebHit, WebPage, WebPicture
from sightline.benchmark.validation import validate_benchmark
from sightline.calls.session import CallOptions, Session
from sightline.config import Config
from sightline.errors import StoppedError, UserError
from sightline.mining.fact_chains import ChainSearch, FactChain, PageFact, listed_facts, same_name, told_facts
from sightline.mining.questions import (
    BLIND,
    CLOSED,
    LEAK,
    UNASKED,
    MinedQuestions,
    QuestionSettings,
    follow_clues,
    plan_questions,
    starts,
    worded,
    write_questions,
)
from sightline.mining.records import Clue
from sightline.types import Answer, Failure, Picture, PictureRef

SITE = "https://x.invalid"
PAGES = {
    "town": ("Aby", f"- Mayor: [Bo Day]({SITE}/bo)\n- Founded: 1200"),
    "bo": ("Bo Day", f"- Painting: [Dawn]({SITE}/dawn)\n- Towns: [Aby]({SITE}/town), [Cey]({SITE}/cey)"),
    "dawn": ("Dawn", f"- Year: 1900\n\n![Dawn]({SITE}/dawn.png)"),
    "cey": ("Cey", "- Founded: 1431\n- Height: 12 m"),
    "namesake": ("Dey", "- Founded: 1"),
    "namesake2": ("Dey", "- Founded: 2"),
}


def png(colour: str = "red") -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (32, 24), colour).save(buffer, "PNG")
    return buffer.getvalue()


class SmallWeb:
    """A handful of pages."""

    name = "small"

    def __init__(self, pages: Mapping[str, tuple[str, str]] = PAGES) -> None:
        self.pages = pages

    async def search(self, query: str, k: int) -> Sequence[WebHit] | Failure:
        found = [(key, title) for key, (title, _) in self.pages.items() if same_name(title, query)]
        return [WebHit(f"{SITE}/{key}", title, "") for key, title in found]

    async def open(self, url: str) -> WebPage | Failure:
        title, text = self.pages[url.removeprefix(f"{SITE}/")]
        return WebPage(url, title, f"# {title}\n\n{text}")

    async def search_pictures(self, query: str | bytes, k: int) -> Sequence[WebPicture] | Failure:
        return []

    async def picture(self, url: str) -> bytes | Failure:
        return png()

    async def close(self) -> None:
        """Nothing is open."""


def clue(words: str = "ABY") -> Clue:
    return Clue("p#0", "p.png", "text", "words", words, words, words, 0.9)


def walk(
    names: Sequence[str] = ("Cey",),
    pages: Mapping[str, tuple[str, str]] = PAGES,
    hops: int = 5,
    start: Clue | None = None,
) -> FactChain | None:
    async def facts(page: WebPage) -> Sequence[PageFact]:
        return listed_facts(page)

    async def read(_url: str, _data: bytes) -> Sequence[str]:
        return names

    return asyncio.run(ChainSearch(SmallWeb(pages), facts, read, hops, Random(0)).chain_from(start or clue()))


def test_a_chain_leads_through_a_picture_to_a_value_that_nobody_told_before() -> None:
    chain = walk()
    assert chain is not None
    assert [(hop.kind, hop.label, hop.value) for hop in chain.hops[:-1]] == [
        ("fact", "Mayor", "Bo Day"),
        ("fact", "Painting", "Dawn"),
        ("picture", "", "Cey"),
    ]
    assert chain.hops[-1].label in ("Founded", "Height") and chain.hops[-1].url == f"{SITE}/cey"


@pytest.mark.parametrize("names", [(), ("Aby",), ("Dawn",), ("Nowhere",), ("Dey",)])
def test_a_picture_that_leads_nowhere_back_or_to_namesakes_makes_no_chain(names: tuple[str, ...]) -> None:
    assert walk(names) is None


def test_a_picture_on_the_way_must_show_one_name_that_its_page_does_not_tell() -> None:
    assert walk(("Cey", "Dawn", "CEY")) is not None  # The page's own name, and the same one again.
    assert walk(("Cey", "Bey")) is None
    told = {**PAGES, "dawn": ("Dawn", f"- Year: 1900\n\n![Dawn, with Cey behind]({SITE}/dawn.png)")}
    assert walk(pages=told) is None


def test_a_landmark_starts_from_its_name() -> None:
    sight = Clue("p#0", "p.png", "landmark", "aby", "aby", "Aby", "an iron tower by a river", 0.9)
    chain = walk(start=sight)
    assert chain is not None and chain.names[0] == "Aby"
    assert "sight in this picture" in worded(chain)


def test_a_chain_is_no_longer_than_allowed() -> None:
    assert walk(hops=3) is None
    assert walk(hops=4) is not None


def test_what_a_page_on_the_way_tells_is_no_answer() -> None:
    told = {**PAGES, "dawn": ("Dawn", f"Painted in 1431, 12 m above the sea.\n\n![Dawn]({SITE}/dawn.png)")}
    assert walk(pages=told) is None


def test_only_labels_with_one_value_are_facts() -> None:
    page = WebPage(SITE, "t", f"- Aa: 1\n- Bb: [x]({SITE}/x), [y]({SITE}/y)\n- Cc: 2\n- Cc: 3\n- Dd: [z](/z)\nEe: 5")
    assert listed_facts(page) == (PageFact("Aa", "1"), PageFact("Dd", "z", f"{SITE}/z"))


def test_a_models_facts_must_stand_on_the_page() -> None:
    page = WebPage(SITE, "t", f"Its mayor is [Bo Day]({SITE}/bo), elected in 1990.")
    said = [("Mayor", "Bo Day"), ("Elected", "1990"), ("Height", "12 m"), ("", "1990")]
    rows = {"facts": [{"label": label, "value": value} for label, value in said]}
    assert told_facts(page, rows) == (PageFact("Mayor", "Bo Day", f"{SITE}/bo"), PageFact("Elected", "1990"))
    assert told_facts(page, None) == ()


def test_words_name_nothing_that_is_on_the_way() -> None:
    chain = walk()
    assert chain is not None
    assert not any(name.casefold() in worded(chain).casefold() for name in (*chain.names, chain.answer))


def answering(blind: str, closed: str) -> Any:
    """A server that reads the web's pictures, and knows or does not know the answers."""

    def answer(request: Received) -> Any:
        if "response_format" in request.json:
            read = {"summary": "s", "place": "p", "objects": [], "visible_text": ["CEY"], "people": []}
            return respond_json(chat(json.dumps(read)))
        assert "Start from the name" in words_in(request)
        shown = any(
            part.get("type") == "image_url"
            for message in request.json["messages"]
            if isinstance(message["content"], list)
            for part in message["content"]
        )
        return respond_json(chat(closed if shown else blind))

    return answer


@pytest.mark.parametrize(
    ("blind", "closed", "reasons"),
    [
        ("I don't know.", "I don't know.", ()),
        ("1431", "I don't know.", (BLIND,)),
        ("I don't know.", "1431", (CLOSED,)),
    ],
)
def test_what_is_known_without_the_picture_or_without_search_is_refused(
    tmp_path: Path, blind: str, closed: str, reasons: tuple[str, ...]
) -> None:
    pages = {**PAGES, "cey": ("Cey", "- Founded: 1431")}
    (tmp_path / "p.png").write_bytes(png("blue"))
    pictures = {"p.png": Picture("p.png", (tmp_path / "p.png").as_uri())}
    with serving_in_thread(answering(blind, closed)) as server:
        desk = Session(tmp_path / "ws", Config(), CallOptions(base_url=server.base_url))
        settings = QuestionSettings("vllm/seer", tries=2)
        mined = follow_clues([clue()], pictures, SmallWeb(pages), settings, desk)
    (question,) = mined.questions
    assert question.reasons == reasons and question.chain.answer == "1431"
    assert mined.counts["starts"] == 1
    if not reasons:
        made = write_questions(tmp_path / "bench", mined, pictures, 5, {})
        assert not validate_benchmark(tmp_path / "bench")
        assert made.tasks["question-001"].prompt[1] == PictureRef("p.png")
        truth = made.truth["question-001"]
        assert isinstance(truth, Answer) and truth.text == "1431" and len(truth.steps) == 5


def test_a_filter_that_can_not_be_asked_refuses_the_question_and_is_counted(tmp_path: Path) -> None:
    def silent(request: Received) -> Any:
        if "response_format" in request.json:
            return answering("", "")(request)
        return respond_json({"error": {"message": "no"}}, 400)

    (tmp_path / "p.png").write_bytes(png("blue"))
    pictures = {"p.png": Picture("p.png", (tmp_path / "p.png").as_uri())}
    with serving_in_thread(silent) as server:
        desk = Session(tmp_path / "ws", Config(), CallOptions(base_url=server.base_url))
        mined = follow_clues([clue()], pictures, SmallWeb(), QuestionSettings("vllm/seer"), desk)
    assert [question.reasons for question in mined.questions] == [(UNASKED,)]
    assert mined.counts[UNASKED] == 1 and sum(mined.failures.values()) == 1


def test_a_picture_that_shows_two_names_starts_nothing(tmp_path: Path) -> None:
    def reading(request: Received) -> Any:
        data = picture_in(request)
        assert data is not None
        words = ["ABY"] if colour_of(data) == "blue" else ["ABY", "CEY"]
        read = {"summary": "s", "place": "p", "objects": [], "visible_text": words, "people": []}
        return respond_json(chat(json.dumps(read)))

    for colour in ("blue", "red"):
        (tmp_path / f"{colour}.png").write_bytes(png(colour))
    pictures = [Picture(f"{colour}.png", (tmp_path / f"{colour}.png").as_uri()) for colour in ("red", "blue")]
    with serving_in_thread(reading) as server:
        found = starts(pictures, "vllm/seer", Session(tmp_path / "ws", Config(), CallOptions(base_url=server.base_url)))
    assert [(each.name, each.picture) for each in found.clues] == [("ABY", "blue.png")]


def test_where_no_picture_is_read_the_reason_is_told(tmp_path: Path) -> None:
    (tmp_path / "p.png").write_bytes(png())
    picture = Picture("p.png", (tmp_path / "p.png").as_uri())
    with serving_in_thread(lambda _: respond_json({"error": {"message": "not today"}}, 400)) as server:
        desk = Session(tmp_path / "ws", Config(), CallOptions(base_url=server.base_url))
        with pytest.raises(UserError, match="not today"):
            starts([picture], "vllm/seer", desk)


def test_a_budget_that_ends_it_before_a_question_is_kept_is_told_as_that(tmp_path: Path) -> None:
    with pytest.raises(StoppedError, match="used up"):
        write_questions(tmp_path / "bench", MinedQuestions((), stopped=StoppedError("used up", "more")), {}, 5, {})


def test_a_plan_asks_nobody(tmp_path: Path) -> None:
    (tmp_path / "p.png").write_bytes(png("blue"))
    desk = Session(tmp_path / "ws", Config(), CallOptions())
    picture = Picture("p.png", (tmp_path / "p.png").as_uri())
    plan = plan_questions([picture], QuestionSettings("openai/gpt-5-mini", count=4, tries=2), desk)
    assert [(stage.stage, stage.calls) for stage in plan.stages] == [("mine-parse", 1), ("mine-questions", 16)]


def test_a_question_that_tells_a_name_is_refused(tmp_path: Path) -> None:
    pages = {**PAGES, "town": ("Aby", f"- Mayor Bo Day: [Bo Day]({SITE}/bo)")}
    (tmp_path / "p.png").write_bytes(png())
    pictures = {"p.png": Picture("p.png", (tmp_path / "p.png").as_uri())}
    with serving_in_thread(answering("no", "no")) as server:
        desk = Session(tmp_path / "ws", Config(), CallOptions(base_url=server.base_url))
        mined = follow_clues([clue()], pictures, SmallWeb(pages), QuestionSettings("vllm/seer"), desk)
    assert mined.questions[0].reasons == (LEAK,) and not mined.kept


# --- the world's web ---------------------------------------------------------------------------------------------


class Undrawn(OfflineWeb):
    """Pages whose pictures need not be drawn, since the truth tells what they show."""

    async def picture(self, url: str) -> bytes | Failure:
        return b""


@pytest.mark.world
def test_chains_of_the_worlds_web_are_true() -> None:
    """With eyes without fault: the truth of a drawn picture stands for what is read in it."""
    from sightline_world.web import world_web

    web = world_web(seed=2, lives=())
    shown = {web.facts.entities[each.subject].url: each.value for each in web.facts.facts if each.property == "depicts"}

    async def facts(page: WebPage) -> Sequence[PageFact]:
        return listed_facts(page)

    async def read(url: str, _data: bytes) -> Sequence[str]:
        found = shown.get(url.rpartition("/")[0])
        return [] if found is None else [found.upper()]

    async def chains() -> list[FactChain]:
        found = []
        for number, town in enumerate(web.facts.of_kind("town")[:25]):
            way = ChainSearch(Undrawn(web), facts, read, 5, Random(number))
            chain = await way.chain_from(clue(town.name.upper()))
            found += [] if chain is None else [chain]
        return found

    made = asyncio.run(chains())
    assert made
    for chain in made:
        assert script().is_true(chain, web.facts), chain
        assert any(hop.kind == "picture" for hop in chain.hops[1:-1])
