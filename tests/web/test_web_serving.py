"""`sightline view` as a command: it says where it is, and stops when it is told to."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import orjson
import pytest

import sightline
from sightline.cli.app import main
from sightline.errors import UserError
from small_folders import make_folders
from web_samples import make_large


def test_the_command_serves_a_workspace(tmp_path: Path) -> None:
    workspace = make_large(tmp_path, 30)
    line = [sys.executable, "-m", "sightline", "view", str(workspace), "--port", "0", "--json"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path) as running:
        try:
            assert running.stdout is not None
            told = b"".join(iter(running.stdout.readline, b"}\n")) + b"}"
            address = orjson.loads(told)["address"]
            assert address.startswith("http://127.0.0.1:") and "token" not in address
            assert "30</b> pictures" in httpx.get(address, timeout=60).text
        finally:
            running.send_signal(signal.SIGINT)
        assert running.wait(timeout=60) == 0


def test_an_address_that_others_reach_has_a_token(tmp_path: Path) -> None:
    make_large(tmp_path, 30)
    line = [sys.executable, "-m", "sightline", "view", str(tmp_path), "--host", "0.0.0.0", "--port", "0"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=tmp_path) as running:
        try:
            assert running.stdout is not None
            address = running.stdout.readline().decode().strip()
            bare, token = address.split("?token=")
            assert "0.0.0.0" not in bare  # A colleague can open it.
            local = f"http://127.0.0.1:{bare.rpartition(':')[2]}"
            with httpx.Client(timeout=60) as outside:
                assert outside.get(local).status_code == 403
                assert outside.get(f"{local}?token={token}").status_code == 200
                assert "30</b> pictures" in outside.get(local).text
        finally:
            running.send_signal(signal.SIGINT)
        running.wait(timeout=60)


def test_a_port_that_is_taken_and_a_folder_that_is_not_there_are_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import socket

    monkeypatch.setenv("SIGHTLINE_WORKSPACE", str(tmp_path / "none"))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(SystemExit) as stopped:
            main(["view", "--port", str(taken.getsockname()[1])])
    assert stopped.value.code == 2 and "Choose another --port" in capsys.readouterr().err
    with pytest.raises(SystemExit) as stopped:
        main(["view", os.fspath(tmp_path / "nothing"), "--port", "0"])
    assert stopped.value.code == 2 and "There is no folder" in capsys.readouterr().err


def test_in_python_it_serves_in_the_background_until_it_is_stopped(tmp_path: Path) -> None:
    make_folders(tmp_path)
    told: list[str] = []
    with sightline.view(
        tmp_path / "bench", workspace=tmp_path / "ws", ready=lambda app: told.append(app.address)
    ) as app:
        assert "shapes" in httpx.get(app.address, timeout=60).text
        assert told == [app.address] == list(app.to_json().values()) and str(app) == f"  {app.address}"
        assert app.address in repr(app) and app.address in app._repr_html_()
    with pytest.raises(httpx.ConnectError):
        httpx.get(app.address, timeout=60)
    app.stop()  # Once more does no harm.


def test_in_python_a_wrong_path_leaves_no_socket_behind(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for _ in range(2):  # The port is free again.
        with pytest.raises(UserError, match="nothing"):
            sightline.view(tmp_path / "nothing", port=port, workspace=tmp_path / "ws")
