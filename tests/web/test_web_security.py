"""Who may ask: every way in that is closed is tried."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image
from starlette.testclient import TestClient

from sightline.web.app import build
from sightline.web.security import UPLOAD_BYTES, Guard, is_loopback
from sightline.web.server import open_app
from web_samples import client, forgery_token, make_large


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_large(tmp_path_factory.mktemp("few"), 40)


@pytest.fixture
def local(workspace: Path) -> Iterator[TestClient]:
    yield client(open_app(workspace, port=8377))


@pytest.fixture
def shared(workspace: Path) -> Iterator[tuple[TestClient, str]]:
    desk = open_app(workspace, host="192.168.1.5", port=8377)
    assert desk.guard.token is not None and len(desk.guard.token) >= 32
    yield TestClient(build(desk), base_url="http://192.168.1.5:8377"), desk.guard.token


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8377", "127.0.0.1.evil.example", "localhost.evil", "", "[::1", "a b"]
)
def test_a_name_that_others_point_at_us_is_refused(local: TestClient, host: str) -> None:
    assert local.get("/", headers={"host": host}).status_code == 421


@pytest.mark.parametrize("host", ["127.0.0.1:8377", "localhost:8377", "[::1]:8377"])
def test_our_own_names_are_not(local: TestClient, host: str) -> None:
    assert local.get("/", headers={"host": host}).status_code == 200


def test_an_address_of_the_network_is_none_of_ours_without_a_token(local: TestClient) -> None:
    assert local.get("/", headers={"host": "192.168.1.5:8377"}).status_code == 421


@pytest.mark.parametrize(
    ("host", "only_here"), [("127.0.0.1", True), ("localhost", True), ("::1", True), ("0.0.0.0", False), ("pc", False)]
)
def test_what_counts_as_this_machine(host: str, only_here: bool) -> None:
    assert is_loopback(host) is only_here


def test_nothing_is_shown_without_the_token(shared: tuple[TestClient, str]) -> None:
    outside, token = shared
    for path in ("/", "/search", "/api/pictures", "/static/app.css", "/?token=", "/?token=wrong", f"/?token={token}x"):
        reply = outside.get(path)
        assert reply.status_code == 403 and token not in reply.text and "0000001" not in reply.text
    assert outside.post("/review", data={"person": "x"}).status_code == 403


def test_the_first_address_lets_one_in_for_good(shared: tuple[TestClient, str]) -> None:
    outside, token = shared
    reply = outside.get(f"/?token={token}")
    assert reply.status_code == 200 and "0000001" not in reply.text
    cookie = reply.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
    inside = outside.get("/search")
    assert inside.status_code == 200 and token not in inside.text


@pytest.mark.parametrize(
    ("address", "leads"),
    [
        ("/search?owner=ana&token={}&order=name", "/search?owner=ana&amp;order=name"),
        ("/picture?id=a%22%3E%3Cb%3E&token={}", "/picture?id=a%22%3E%3Cb%3E"),
        ("//elsewhere.example/x?token={}", "/elsewhere.example/x"),
        ("/%5Celsewhere.example?token={}", "/elsewhere.example"),
        ("/?token={}", "/"),
    ],
)
def test_a_token_leads_to_the_page_that_it_was_given_with(
    shared: tuple[TestClient, str], address: str, leads: str
) -> None:
    outside, token = shared
    page = outside.get(f"http://192.168.1.5:8377{address.format(token)}").text
    assert f'content="0; url={leads}"' in page and token not in page


def test_tokens_are_new_each_time(workspace: Path) -> None:
    tokens = {open_app(workspace, host="0.0.0.0").guard.token for _ in range(3)}
    assert len(tokens) == 3 and open_app(workspace).guard.token is None


def test_a_form_needs_the_token_of_its_own_page(local: TestClient) -> None:
    good = forgery_token(local.get("/review").text)
    send = {"person": "ana", "back": ""}
    assert local.post("/review", data=send).status_code == 403
    assert local.post("/review", data={**send, "csrf": "0" * 64}).status_code == 403
    assert local.post("/review", data={**send, "csrf": good}, follow_redirects=False).status_code == 303
    local.cookies.clear()  # Another session, with the token of the first.
    assert local.post("/review", data={**send, "csrf": good}).status_code == 403


@pytest.mark.parametrize(
    "header", [{"origin": "http://evil.example"}, {"sec-fetch-site": "cross-site"}, {"origin": "null"}]
)
def test_a_form_of_another_site_is_refused(local: TestClient, header: dict[str, str]) -> None:
    good = forgery_token(local.get("/review").text)
    reply = local.post("/review", data={"person": "ana", "csrf": good}, headers=header)
    assert reply.status_code == 403


def test_every_post_is_guarded(local: TestClient) -> None:
    for path in ("/ask", "/review", "/review/x", "/review/x/undo", "/api/upload"):
        assert local.post(path, content=b"").status_code == 403, path


def test_headers_stand_on_every_answer(local: TestClient) -> None:
    for path in ("/", "/nothing", "/static/app.js", "/api/pictures", "/thumb/x"):
        headers = local.get(path).headers
        policy = headers["content-security-policy"]
        assert "script-src 'self'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff" and headers["x-frame-options"] == "DENY"
    refused = local.get("/", headers={"host": "evil.example"})
    assert "default-src 'none'" in refused.headers["content-security-policy"]


def test_pages_hold_no_script_of_their_own(local: TestClient) -> None:
    page = local.get("/search").text
    assert "<script>" not in page and "onclick" not in page and "style=" not in page


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e/security.py",
        "/static/app.py",
        "/thumb/../../etc/passwd",
        "/thumb/..%2f..%2fetc%2fpasswd",
        "/thumb/" + "0" * 64,
        "/thumb/" + "0" * 63 + "G",
        "/picture?id=../../../etc/passwd",
        "/picture?id=/etc/passwd",
        "/bench/..%2f..",
        "/runs/..%2f..",
        "/runs/asked/replay?task=../../corpus",
        "/traces/..%2f..",
    ],
)
def test_nothing_but_what_the_corpus_holds_can_be_had(local: TestClient, path: str) -> None:
    reply = local.get(path)
    assert reply.status_code in (400, 404) and "root:" not in reply.text and "import" not in reply.text


def test_only_known_sizes(local: TestClient, workspace: Path) -> None:
    key = local.get("/api/pictures").json()[0][0]
    assert local.get(f"/thumb/{key}?size=256").headers["content-type"] == "image/jpeg"
    assert local.get(f"/thumb/{key}?size=99999").status_code == 404


def test_small_copies_hold_no_metadata(tmp_path: Path) -> None:
    from sightline.web.thumbnails import shrink

    exif = Image.Exif()
    exif[0x010E] = "a secret place"
    exif[0x0112] = 6  # Lies on its side.
    out = io.BytesIO()
    Image.new("RGB", (600, 300), "red").save(out, "JPEG", exif=exif)
    small = shrink(out.getvalue(), 256)
    assert isinstance(small, bytes) and b"secret" not in small
    with Image.open(io.BytesIO(small)) as image:
        assert image.size == (128, 256) and not image.getexif()


def upload(local: TestClient, data: bytes) -> tuple[int, str]:
    good = forgery_token(local.get("/search").text)
    reply = local.post("/api/upload", content=data, headers={"x-csrf-token": good})
    return reply.status_code, reply.text


def test_uploads_are_limited_in_bytes(local: TestClient) -> None:
    status, said = upload(local, b"\xff\xd8\xff" + b"0" * UPLOAD_BYTES)
    assert status == 413 and "KiB" in said


def test_uploads_are_limited_in_pixels(local: TestClient) -> None:
    header = io.BytesIO()
    Image.new("1", (8, 8)).save(header, "PNG")
    bomb = bytearray(header.getvalue())
    bomb[16:24] = (60_000).to_bytes(4, "big") * 2
    bomb[29:33] = zlib.crc32(bomb[12:29]).to_bytes(4, "big")
    status, said = upload(local, bytes(bomb))
    assert status == 415 and "bomb" in said


def test_what_is_no_picture_is_refused(local: TestClient) -> None:
    assert upload(local, b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>")[0] == 415
    assert upload(local, b"")[0] == 415


def test_an_error_names_no_path_of_this_machine(workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "secret" / "broken").mkdir(parents=True)
    (tmp_path / "secret" / "broken" / "run.json").write_text("{")
    outside = client(open_app(None, (tmp_path / "secret",), port=8377))
    reply = outside.get("/runs/broken")
    assert reply.status_code == 400 and "run.json" in reply.text and str(tmp_path) not in reply.text
    board = outside.get("/runs")
    assert board.status_code == 200 and "broken" in board.text and str(tmp_path) not in board.text


def test_a_fault_of_ours_says_nothing_of_its_cause(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sightline.web.corpus_view import CorpusView

    def broken(*_: object) -> int:
        raise RuntimeError("the password is swordfish")

    monkeypatch.setattr(CorpusView, "total", broken)
    reply = client(open_app(workspace, port=8377)).get("/search")
    assert reply.status_code == 500 and "swordfish" not in reply.text and "x-frame-options" in reply.headers


def test_what_pictures_are_called_is_only_text(tmp_path: Path) -> None:
    from sightline.pictures import scan

    name = "<img src=x onerror=alert(1)>.png"
    (tmp_path / "in").mkdir()
    Image.new("RGB", (20, 20), "red").save(tmp_path / "in" / name)
    scan(tmp_path / "in", workspace=tmp_path / "ws")
    inside = client(open_app(tmp_path / "ws", port=8377))
    for path in ("/", "/search", f"/picture?id={name}"):
        reply = inside.get(path)
        assert reply.status_code == 200 and "<img src=x" not in reply.text and "&lt;img src=x" in reply.text


def test_two_apps_on_one_machine_do_not_share_a_session() -> None:
    assert Guard("127.0.0.1", 1).cookie != Guard("127.0.0.1", 2).cookie
    assert Guard("127.0.0.1", 1).forgery_token("s") != Guard("127.0.0.1", 1).forgery_token("s")
