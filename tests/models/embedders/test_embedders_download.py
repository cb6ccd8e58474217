"""Known models: downloaded once from a hub (a real HTTP server here), checked, and explained when they can't be had."""

from __future__ import annotations

import hashlib
import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from sightline.calls.session import Session
from sightline.config import Config
from sightline.errors import MissingExtraError, UserError
from sightline.models.embedders import known_models, registry
from sightline.models.embedders.known_models import KnownModel, PinnedFile, fetch, models_folder
from sightline.models.embedders.registry import find_embedder
from tiny_clip import write_tiny_clip

pytest.importorskip("huggingface_hub")
SETTINGS = ("preprocessor_config.json", "tokenizer_config.json")
REVISION = "0123456789abcdef0123456789abcdef01234567"


class Hub(ThreadingHTTPServer):
    """As much of the hub as a download needs: files of one repository at one revision."""

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.folder = folder
        self.asked: list[tuple[str, str]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Hub

    def do_HEAD(self) -> None:
        self._answer(send=False)

    def do_GET(self) -> None:
        self._answer(send=True)

    def _answer(self, *, send: bool) -> None:
        prefix = f"/tiny/clip/resolve/{REVISION}/"
        file = self.server.folder / self.path.removeprefix(prefix)
        if not self.path.startswith(prefix) or not file.is_file():
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.server.asked.append((self.command, self.path.removeprefix(prefix)))
        data = file.read_bytes()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("ETag", f'"{hashlib.sha256(data).hexdigest()}"')
        self.send_header("X-Repo-Commit", REVISION)
        self.send_header("Accept-Ranges", "bytes")
        self.end_headers()
        if send:
            self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Not into the test's output."""


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    server = Hub(write_tiny_clip(tmp_path / "hub"))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.setenv("HF_ENDPOINT", server.url)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def pinned(folder: Path, **change: Any) -> KnownModel:
    names = ("onnx/vision_model.onnx", "onnx/text_model.onnx", "tokenizer.json")
    data = {name: (folder / name).read_bytes() for name in names}
    files = tuple(PinnedFile(name, len(body), hashlib.sha256(body).hexdigest()) for name, body in data.items())
    settings = {name: json.loads((folder / name).read_text("utf-8")) for name in SETTINGS}
    fields = {"name": "tiny", "repo": "tiny/clip", "revision": REVISION, "licence": "ours", "files": files}
    return KnownModel(**{**fields, "settings": settings, **change})


def test_downloaded_once_and_used(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = pinned(hub.folder)
    monkeypatch.setattr(registry, "find_known", {"tiny": model}.get)
    config = Config.model_validate({"models": {"folder": str(tmp_path / "models")}})
    embedder = find_embedder("tiny", Session(config=config))
    assert (embedder.name, embedder.revision) == ("tiny", REVISION[:12])
    assert embedder.texts(["red"]).shape == (1, 8)
    gets = [path for method, path in hub.asked if method == "GET"]
    assert sorted(gets) == sorted(file.path for file in model.files)
    find_embedder("tiny", Session(config=config))
    assert [path for method, path in hub.asked if method == "GET"] == gets


def test_put_there_by_hand_works_without_a_network(hub: Hub, tmp_path: Path) -> None:
    model = pinned(hub.folder)
    for file in model.files:
        target = tmp_path / "models" / "tiny" / file.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((hub.folder / file.path).read_bytes())
    assert fetch(model, tmp_path / "models", local_only=True) == tmp_path / "models" / "tiny"
    assert hub.asked == []


@pytest.mark.parametrize("why", ["--local-only", "HF_HUB_OFFLINE", "refused"])
def test_offline_says_what_to_put_where(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, why: str) -> None:
    model = pinned(hub.folder)
    if why == "HF_HUB_OFFLINE":
        monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    elif why == "refused":
        monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(UserError) as told:
        fetch(model, tmp_path / "models", local_only=why == "--local-only")
    message = str(told.value)
    assert why in message
    for file in model.files:
        assert str(tmp_path / "models" / "tiny" / file.path) in message
        assert f"https://huggingface.co/tiny/clip/resolve/{REVISION}/{file.path}" in message
        assert file.sha256 in message


def test_other_bytes_than_the_pinned_are_never_used(hub: Hub, tmp_path: Path) -> None:
    model = pinned(hub.folder)
    original = (hub.folder / "tokenizer.json").read_bytes()
    (hub.folder / "tokenizer.json").write_bytes(original[:-1] + b" ")
    with pytest.raises(UserError, match=r"is not the expected file: its SHA-256 is [0-9a-f]{64}, not"):
        fetch(model, tmp_path / "models")
    (hub.folder / "tokenizer.json").write_bytes(original)
    (tmp_path / "models" / "tiny" / "tokenizer.json").unlink()
    fetch(model, tmp_path / "models")
    spoilt = tmp_path / "models" / "tiny" / "onnx" / "text_model.onnx"
    spoilt.write_bytes(spoilt.read_bytes()[:-5])
    with pytest.raises(UserError, match="is not the expected file"):
        fetch(model, tmp_path / "models")


def test_a_file_that_the_hub_lacks(hub: Hub, tmp_path: Path) -> None:
    model = pinned(hub.folder)
    (hub.folder / "onnx" / "text_model.onnx").unlink()
    with pytest.raises(UserError, match="could not be downloaded") as told:
        fetch(model, tmp_path / "models")
    assert "text_model.onnx" in str(told.value) and "vision_model.onnx\n" not in str(told.value)


def test_without_the_hub_package(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingExtraError, match=r"sightline\[hub\]"):
        fetch(pinned(hub.folder), tmp_path / "models")


def test_where_models_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert models_folder(tmp_path) == tmp_path
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert models_folder(None) == tmp_path / "cache" / "sightline" / "models"
    assert known_models.KNOWN["clip-vit-b32"].size > 600_000_000
