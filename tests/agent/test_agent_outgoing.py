"""What an agent may send to the web, rule by rule; and that usual work is not in its way."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from agent_tools import StubWeb, call, gallery, tool
from sightline.agent.outgoing import Outgoing
from sightline.agent.state import AgentState
from sightline.agent.tools.arguments import MistakeError
from sightline.agent.tools.base import Materials, Observation
from sightline.types import Picture

METADATA: Any = {
    "photos": [
        {
            "photo_id": "Anna/2019/IMG_4711.jpg",
            "time": "2019-07-17T14:03:22",
            "address": "12 Shijo Dori, Gion, Kyoto, Japan",
            "coordinates": [35.00374, 135.77838],
            "device": "Canon EOS R5",
        }
    ]
}


def knowing(question: str = "what is this festival?", **options: Any) -> Outgoing:
    """After a question, and a look at the metadata of a picture."""
    outgoing = Outgoing(**options)
    outgoing.hear_user(question)
    outgoing.hear(Observation("", data=METADATA, found=("Anna/2019/IMG_4711.jpg",)))
    return outgoing


@pytest.mark.parametrize(
    "query",
    ["festival with large wooden floats", "Japanese festival July", "float procession 2019", "Canon EOS R5 manual",
     "how old is the oldest boat", "temple gate red lanterns night", "祇園祭 山鉾",
     "Straße der Romanik", "2019-07-17 festival",
     "site:wikipedia.org float festival", "Boeing 747 wingspan", "top 10 museums", "naïve café",
     "comparison of rock types"],
)  # fmt: skip
def test_usual_queries_are_sent_as_they_are(query: str) -> None:
    assert knowing().query(query) == query


@pytest.mark.parametrize(
    "query",
    ["festival Kyoto", "festival kyōto", "GION festival", "Shijo Dori shops", "IMG_4711", "img 4711", "photos by Anna",
     "35.00374", "35.0 135.7", "35,00374", "35° 135°", "35 00374 135 77838", "S3lvdG8", "otoyK",
     "K y o t o", "K.y.o.t.o", "4b796f746f", "Xlbgb", "JN4W65DP", "%4B%79%6F%74%6F", "%254B%2579%256F%2574%256F",
     "Ｋｙｏｔｏ", "Ky\u200boto", "Куоto", "Ky0t0",
     "Kyo to temples", "Lzpup", "ᴋʏᴏᴛᴏ", "-.- -.-- --- - ---",
     "https://evil.test/?q=", "x7f9q2", "a" * 40, "12345"],
)  # fmt: skip
def test_what_tells_of_the_pictures_is_not(query: str) -> None:
    outgoing = knowing()
    with pytest.raises(MistakeError, match="not sent to the web"):
        outgoing.query(query)
    assert outgoing.refused == 1 and "--share-metadata" in (outgoing.note() or "")


@pytest.mark.parametrize("query", ["festival Kyoto", "35.00374", "IMG_4711"])
def test_what_the_user_said_or_allows_is_sent(query: str) -> None:
    assert knowing(f"is {query} known?").query(query) == query
    assert knowing(share=True).query(query) == query
    before = Outgoing()
    before.hear_user("?")
    assert before.query(query) == query, "nothing was seen yet"


def test_only_named_addresses_are_opened() -> None:
    outgoing = knowing("what does https://user.test/a(1) say?")
    page: Any = {"url": "https://page.test/", "text": "see [this](https://link.test/x?y=1) or http://bare.test/z."}
    outgoing.hear(Observation("", data=page, public=True))
    for url in ("https://user.test/a(1)", "HTTPS://Page.test", "https://link.test/x?y=1#part", "http://bare.test/z"):
        assert outgoing.address(url)
    for url in ("https://link.test/x?y=2", "https://link.test/", "http://page.test/", "https://new.test/"):
        with pytest.raises(MistakeError, match="named"):
            outgoing.address(url)


def test_addresses_in_pictures_errors_and_queries_name_nothing() -> None:
    outgoing = Outgoing()
    outgoing.hear(Observation("https://sign.test/", untrusted=True))
    outgoing.hear(Observation("", data={"error": "https://error.test/"}, error=True, public=True))
    for url in ("https://sign.test/", "https://error.test/"):
        with pytest.raises(MistakeError, match="named"):
            outgoing.address(url)
        with pytest.raises(MistakeError, match="leave the address out"):
            outgoing.query(f"what is {url}")


def test_an_open_web_opens_what_holds_nothing_private() -> None:
    outgoing = knowing(open_web=True)
    assert outgoing.address("https://en.wikipedia.test/wiki/Float_(parade)")
    for url in (
        "https://evil.test/?q=Kyoto",
        "https://S3lvdG8.evil.test/",
        "https://evil.test/K/y/o/t/o",
        "http://127.1/",
    ):
        with pytest.raises(MistakeError, match="not sent to the web"):
            outgoing.address(url)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1/", "http://①②⑦.1/", "http://10.0.0.1/", "http://localhost/", "http://[::1]/"]
)
def test_no_web_is_asked_for_a_private_address(url: str) -> None:
    """Also one that fetches by itself, as an MCP server does."""
    outgoing = Outgoing(open_web=True, share=True)
    outgoing.hear_user(url)
    with pytest.raises(MistakeError, match="public internet"):
        outgoing.address(url)


def test_bytes_and_digits_are_counted_over_all_queries() -> None:
    outgoing = knowing()
    for number in range(4):
        outgoing.query(f"part {'abcd'[number]} " + "word " * 90)
    with pytest.raises(MistakeError, match="2,048 bytes"):
        outgoing.query("word " * 90)
    assert outgoing.sent_bytes <= 2048
    outgoing = knowing()
    assert outgoing.query("year 1999") and outgoing.query("year 1998") and outgoing.query("1998 again")
    with pytest.raises(MistakeError, match="8 digits"):
        outgoing.query("year 1997")


def test_digits_are_put_together_over_queries() -> None:
    outgoing = knowing()
    outgoing.query("number 350")
    with pytest.raises(MistakeError, match="3500374"):
        outgoing.query("then 0374")


def test_what_can_be_read_in_too_many_ways_is_not_sent() -> None:
    words = " ".join(base64.b64encode(base64.b64encode(f"word{chr(97 + n)}".encode())).decode() for n in range(26))
    with pytest.raises(MistakeError, match="not sent"):
        knowing().query(f"{words} {words[::-1]}")


def test_tools_without_data_and_names_in_mistakes_count() -> None:
    outgoing = Outgoing()
    outgoing.hear(Observation("The card reads 4929-1111, mail anna@home.test"))
    for query in ("4929", "card 1111", "anna@home.test"):
        with pytest.raises(MistakeError, match="known from"):
            outgoing.query(query)
    state = AgentState()
    picture = Picture("a.png", "a.png", extra={"people": ["Anna Muller"]})
    mistaken = call(tool("People", Materials({"a.png": picture})), state, name="Bob")
    assert mistaken.error and mistaken.untrusted and "Anna Muller" in mistaken.text
    with pytest.raises(MistakeError, match="known from"):
        state.outgoing.query("who is Muller")


@pytest.mark.parametrize("name", ["a.png", "a.png#0,0,0.5,0.5", "a.png~rotate-90", "compare-1", "web-1~mark-1"])
def test_a_picture_of_the_users_leaves_only_if_they_said_so(tmp_path: Path, name: str) -> None:
    """Also one made of several, or marked with words."""
    made = gallery(tmp_path, a=Image.new("RGB", (64, 64), "blue"), b=Image.new("RGB", (64, 64), "red"))
    web = StubWeb({}, {"https://pages.test/dog.png": (tmp_path / "a.png").read_bytes()})
    web.offline = False
    materials = Materials(made.pictures, web=web, base=tmp_path)

    def searched(outgoing: Outgoing) -> tuple[Observation, AgentState]:
        state = AgentState(outgoing=outgoing)
        call(tool("WebImageSearch", materials), state, query="dog", show=1)
        call(tool("Rotate", materials), state, photo="a.png", degrees=90)
        call(tool("Compare", materials), state, photos=["a.png", "b.png"])
        call(tool("Mark", materials), state, photo="web-1", points=[[0.5, 0.5]], labels=["Kyoto"])
        return call(tool("WebImageSearch", materials), state, photo=name, show=0), state

    for kept in (Outgoing(), Outgoing(share=True)):
        refused, state = searched(kept)
        assert refused.error and "not sent to the web" in refused.text and state.outgoing.refused == 1
    assert "likeness" not in web.asked and "--share-pictures" in (state.outgoing.note() or "")
    assert not searched(Outgoing(share_pictures=True))[0].error and web.asked[-1] == "likeness"


def test_a_picture_from_the_web_may_go_back(tmp_path: Path) -> None:
    made = gallery(tmp_path, a=Image.new("RGB", (64, 64), "blue"))
    web = StubWeb({}, {"https://pages.test/dog.png": (tmp_path / "a.png").read_bytes()})
    web.offline = False
    materials, state = Materials(made.pictures, web=web, base=tmp_path), AgentState(outgoing=knowing())
    call(tool("WebImageSearch", materials), state, query="dog", show=1)
    before = state.outgoing.sent_bytes
    assert not call(tool("WebImageSearch", materials), state, photo="web-1", show=0).error
    assert not call(tool("WebImageSearch", materials), state, photo="web-1#0,0,0.5,0.5", show=0).error
    assert state.outgoing.sent_bytes == before + 2 + 8
