"""Files appear whole or not at all; JSONL says which line is wrong."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.errors import UserError
from sightline.io.files import whole_folder, write_whole
from sightline.io.jsonl import CutOffError, LineError, dump, read_json, read_jsonl, write_json, write_jsonl
from sightline.io.temporary_files import remove_temporary_files
from strategies import json_values


def names(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir()}


# --- write_whole


def test_a_file_is_replaced_whole_with_ordinary_permissions(tmp_path: Path) -> None:
    path = tmp_path / "file.bin"
    path.write_bytes(b"old")
    write_whole(path, (bytes([n]) * 1000 for n in range(3)))
    assert path.read_bytes() == b"\0" * 1000 + b"\1" * 1000 + b"\2" * 1000
    plain = tmp_path / "plain"
    plain.write_bytes(b"")
    assert path.stat().st_mode == plain.stat().st_mode


def test_a_failure_while_writing_keeps_the_old_file_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file.bin"
    path.write_bytes(b"old")

    def chunks() -> Iterator[bytes]:
        yield b"new"
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        write_whole(path, chunks())
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == {"file.bin"}


def test_writing_through_a_link_keeps_the_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real" / "file")
    write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "file").read_bytes() == b"new"


def test_a_folder_that_is_not_there_is_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nowhere"):
        write_whole(tmp_path / "nowhere" / "file", b"")
    (tmp_path / "plain").touch()
    with pytest.raises(UserError, match="can't be written"):
        write_whole(tmp_path / "plain" / "file", b"")


def test_what_a_killed_writer_leaves_is_recognised_and_removed(tmp_path: Path) -> None:
    code = (
        "import os, sys\nfrom sightline.io.files import write_whole\n"
        "def chunks():\n    yield b'half'\n    os.kill(os.getpid(), 9)\n"
        "write_whole(sys.argv[1], chunks())\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "file")], check=False)
    assert done.returncode == -9
    assert not (tmp_path / "file").exists()
    assert len(names(tmp_path)) == 1
    (tmp_path / ".keep.tmp").touch()
    remove_temporary_files(tmp_path)
    assert names(tmp_path) == {".keep.tmp"}


# --- whole_folder


def test_a_folder_appears_when_the_block_ends(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "out"
    with whole_folder(target, marker="m") as fresh:
        (fresh / "m").write_text("1")
        assert not target.exists()
    assert names(target) == {"m"}
    assert names(tmp_path / "deep") == {"out"}


def test_a_failure_leaves_the_old_folder_as_it_was(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.mkdir()
    (target / "m").write_text("old")
    with pytest.raises(RuntimeError), whole_folder(target, marker="m") as fresh:
        (fresh / "m").write_text("new")
        raise RuntimeError
    assert (target / "m").read_text() == "old"
    assert names(tmp_path) == {"out"}


def test_without_owned_names_the_old_folder_goes_entirely(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.mkdir()
    (target / "m").write_text("old")
    (target / "stale").write_text("old")
    with whole_folder(target, marker="m") as fresh:
        (fresh / "m").write_text("new")
    assert names(target) == {"m"}
    assert names(tmp_path) == {"out"}


def test_with_owned_names_everything_else_is_carried_over(tmp_path: Path) -> None:
    target = tmp_path / "out"
    (target / "pictures" / "deep").mkdir(parents=True)
    (target / "pictures" / "deep" / "a.jpg").write_bytes(b"pixels")
    (target / "pictures" / "link").symlink_to("deep")
    (target / "README").write_text("mine")
    (target / "m").write_text("old")
    (target / "stale").write_text("old")
    with whole_folder(target, marker="m", owned={"m", "stale"}) as fresh:
        (fresh / "m").write_text("new")
    assert names(target) == {"m", "README", "pictures"}
    assert (target / "m").read_text() == "new"
    assert (target / "pictures" / "link" / "a.jpg").read_bytes() == b"pixels"
    assert (target / "pictures" / "link").is_symlink()


def test_folders_that_are_in_both_are_merged_and_what_is_new_wins(tmp_path: Path) -> None:
    target = tmp_path / "out"
    (target / "world" / "deep").mkdir(parents=True)
    for name in ("m", "world/life.json", "world/notes", "world/deep/a", "world/deep/b"):
        (target / name).write_text("old")
    with whole_folder(target, marker="m", owned={"m"}) as fresh:
        (fresh / "world" / "deep").mkdir(parents=True)
        for name in ("m", "world/life.json", "world/deep/b"):
            (fresh / name).write_text("new")
    found = {path.relative_to(target).as_posix(): path.read_text() for path in target.rglob("*") if path.is_file()}
    assert {name for name, text in found.items() if text == "new"} == {"m", "world/life.json", "world/deep/b"}
    assert {name for name, text in found.items() if text == "old"} == {"world/notes", "world/deep/a"}


def test_a_folder_of_another_kind_is_refused_unless_told(tmp_path: Path) -> None:
    (tmp_path / "photo.jpg").write_bytes(b"precious")
    with pytest.raises(UserError, match="holds other things"), whole_folder(tmp_path, marker="m"):
        pass
    assert (tmp_path / "photo.jpg").read_bytes() == b"precious"
    with whole_folder(tmp_path, marker="m", force=True) as fresh:
        (fresh / "m").touch()
    assert names(tmp_path) == {"m"}


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(UserError, match="is a file"), whole_folder(tmp_path / "out", marker="m", force=True):
        pass


def test_a_kill_in_the_middle_of_the_swap_is_mended(tmp_path: Path) -> None:
    (tmp_path / ".out.sightline-before" / "pictures").mkdir(parents=True)
    (tmp_path / ".out.sightline-before" / "m").write_text("old")
    with whole_folder(tmp_path / "out", marker="m", owned={"m"}) as fresh:
        (fresh / "m").write_text("new")
    assert names(tmp_path) == {"out"}
    assert names(tmp_path / "out") == {"m", "pictures"}


def test_a_swap_that_fails_half_way_puts_the_old_folder_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "out"
    target.mkdir()
    (target / "m").write_text("old")
    rename = Path.rename

    def fail_for_the_new_one(self: Path, other: Path) -> Path:
        if self.suffix == ".tmp":
            raise OSError(5, "Input/output error")
        return rename(self, other)

    monkeypatch.setattr(Path, "rename", fail_for_the_new_one)
    with pytest.raises(OSError, match="Input/output"), whole_folder(target, marker="m") as fresh:
        (fresh / "m").write_text("new")
    assert (target / "m").read_text() == "old"
    assert names(tmp_path) == {"out"}


# --- JSONL


@settings(deadline=None, max_examples=60)
@given(st.lists(json_values, max_size=5), st.sampled_from(["rows.jsonl", "rows.jsonl.gz"]))
def test_rows_come_back_with_their_line_numbers(rows: list[object], name: str) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        write_jsonl(path, rows)
        assert list(read_jsonl(path)) == list(enumerate(rows, 1))


def test_gzip_is_real_and_has_stable_bytes(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "a.gz", [1, 2])
    write_jsonl(tmp_path / "b.gz", [1, 2])
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == b"1\n2\n"
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


def test_gzip_is_known_by_content_not_by_name(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_bytes(gzip.compress(b"1\n"))
    (tmp_path / "rows.gz").write_bytes(b"1\n")
    assert list(read_jsonl(tmp_path / "rows.jsonl")) == list(read_jsonl(tmp_path / "rows.gz")) == [(1, 1)]


def test_blank_lines_a_bom_and_windows_line_ends_are_survived(tmp_path: Path) -> None:
    (tmp_path / "rows").write_bytes(b'\xef\xbb\xbf{"a": 1}\r\n\n  \t\r\n{"a": 2}')
    assert list(read_jsonl(tmp_path / "rows")) == [(1, {"a": 1}), (4, {"a": 2})]


def test_an_empty_file_has_no_rows(tmp_path: Path) -> None:
    (tmp_path / "rows").touch()
    assert list(read_jsonl(tmp_path / "rows")) == []


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"a": NaN}\n', "NaN and infinity are not JSON"),
        (b'{"a": -Infinity}\n', "column 8; NaN and infinity are not JSON"),
        (b"{'a': 1}\n", "expected a string key at column 2"),
        (b'{"a": \n', "unexpected end of data"),
        (b'{"a": 1} {"b": 2}', "unexpected content after document"),
        (b'{"a": "\xff"}\n', "expected UTF-8 text, found the byte 0xff at column 8"),
    ],
)
def test_a_wrong_line_is_named_with_what_was_expected(tmp_path: Path, line: bytes, reason: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"1\n\n" + line)
    rows = read_jsonl(path)
    assert next(rows) == (1, 1)
    with pytest.raises(LineError, match=f"{path}, line 3: ") as caught:
        next(rows)
    assert reason in caught.value.reason
    assert not isinstance(caught.value, CutOffError)


def test_a_cut_at_any_byte_of_the_last_line_is_called_so(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    last = '{"a": [1, -2.5e3, "xé\\u00e9😀", true, null], "b": {}}'.encode()
    for length in range(1, len(last)):
        path.write_bytes(b"1\n" + last[:length])
        with pytest.raises(CutOffError, match="line 2: the file ends in the middle of a line"):
            list(read_jsonl(path))


def test_a_cut_gzip_file_is_called_so(tmp_path: Path) -> None:
    path = tmp_path / "rows.gz"
    path.write_bytes(gzip.compress(os.urandom(50_000).hex().encode())[:-9])
    with pytest.raises(CutOffError, match="ends in the middle"):
        list(read_jsonl(path))


def test_a_damaged_gzip_file_is_called_so(tmp_path: Path) -> None:
    content = bytearray(gzip.compress(os.urandom(5_000).hex().encode()))
    content[100:120] = bytes(20)
    (tmp_path / "rows.gz").write_bytes(content)
    with pytest.raises(LineError, match="damaged"):
        list(read_jsonl(tmp_path / "rows.gz"))


def test_a_missing_file_is_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"none\.jsonl can't be read"):
        list(read_jsonl(tmp_path / "none.jsonl"))
    with pytest.raises(UserError, match=r"none\.json can't be read"):
        read_json(tmp_path / "none.json")


def test_a_document_says_on_which_line_it_is_wrong(tmp_path: Path) -> None:
    write_json(tmp_path / "ok.json", {"b": 1, "a": [None]})
    assert read_json(tmp_path / "ok.json") == {"b": 1, "a": [None]}
    (tmp_path / "bad.json").write_text('{\n  "a": 1,\n}')
    with pytest.raises(LineError, match=r"bad\.json, line [23]: expected JSON"):
        read_json(tmp_path / "bad.json")


@pytest.mark.parametrize("value", [float("nan"), {"a": [1, float("inf")]}, [None, (float("-inf"),)]])
def test_what_is_not_finite_is_never_written_as_null(value: object) -> None:
    with pytest.raises(UserError, match="NaN or infinity"):
        dump(value)


@pytest.mark.parametrize("value", [2**64, "\ud800", {1: 2}, object()])
def test_what_json_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(UserError, match="can't be written as JSON"):
        dump(value)


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
def test_what_a_workspace_holds_is_for_its_owner_alone(tmp_path: Path) -> None:
    from sightline.calls.in_flight import LostCall
    from sightline.calls.journal import Journal

    before = os.umask(0o022)
    try:
        with Journal(tmp_path / "deep" / "ws") as journal:
            journal.sending(LostCall(b"k" * 32, "s", None, "m", 1.0))
            found = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "deep").rglob("*")}
            journal.unpaid(b"k" * 32)
        assert (tmp_path / "deep").stat().st_mode & 0o777 == 0o700
        assert found.pop("ws") == found.pop("asking") == 0o700
        assert len(found) >= 2 and set(found.values()) == {0o600}, found
    finally:
        os.umask(before)
