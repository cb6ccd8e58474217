"""SPEC: every form of it, and what is said about a wrong one."""

from __future__ import annotations

from pathlib import Path

import pytest

from sightline.errors import UserError
from sightline.runs.system_spec import make_spec, masked, parse_spec
from sightline.runs.systems.base import Kind, Options, find_kind, kind_names


def test_defaults_are_filled_in_and_only_what_differs_is_in_the_name() -> None:
    plain, told = parse_spec("hybrid"), parse_spec("hybrid:fusion=rrf, k=20 ,captions")
    assert plain.name == "hybrid" and plain.parameters["k"] == 100 and plain.parameters["vector_weight"] == 0.6
    assert told.name == "hybrid:k=20,captions=true,fusion=rrf"
    assert told.parameters["captions"] is True and told.parameters["kind"] == "hybrid"
    assert parse_spec(told.name).options == told.options


def test_a_value_with_options_keeps_its_commas() -> None:
    spec = parse_spec("retriever:backend=faiss:nlist=64,nprobe=8,k=50,embedder=http:http://localhost:8000/v1#m")
    assert spec.parameters["backend"] == "faiss:nlist=64,nprobe=8"
    assert spec.parameters["k"] == 50 and spec.parameters["embedder"] == "http:http://localhost:8000/v1#m"


def test_a_switch_may_be_named_alone() -> None:
    assert parse_spec("hybrid:captions,k=3").name == parse_spec("hybrid:captions=true,k=3").name


def test_a_file_declares_the_same_system(tmp_path: Path) -> None:
    bare, in_table = tmp_path / "a.toml", tmp_path / "b.toml"
    bare.write_text('kind = "retriever"\nk = 7\nbackend = "exact:quantised"\nname = "mine"\n')
    in_table.write_text('[system]\nkind = "retriever"\nk = 7\nbackend = "exact:quantised"\n')
    assert parse_spec(bare).options == parse_spec(in_table).options
    assert parse_spec(str(bare)).name == "mine"
    assert parse_spec(in_table).name == "retriever:backend=exact:quantised,k=7"


@pytest.mark.parametrize(
    ("spec", "message", "fix"),
    [
        ("", "the system is empty", "kind:key=value"),
        ("retriver", 'unknown kind of system "retriver"', 'Did you mean "retriever"?'),
        ("nothing:a=b", 'unknown kind of system "nothing"', "Known: retriever, hybrid, http, blind, oracle, cut"),
        ("retriever:embeder=photos", 'no option "embeder"', 'Did you mean "embedder"?'),
        ("retriever:embedder=photos,bakend=exact", 'no option "bakend"', 'Did you mean "backend"?'),
        ("retriever:k=0", "option k", "Options:"),
        ("retriever:k=ten", "option k", "valid integer"),
        ("retriever:k=1,k=2", "given k twice", "say it once"),
        ("hybrid:fusion=sum", "option fusion", "'weighted' or 'rrf'"),
        ("hybrid:vector_weight=1.5", "option vector_weight", "less than or equal to 1"),
        ("http", "needs url", "http:url="),
        ("http:url=localhost:80", "option url", "begins with http:// or https://"),
        ("http:url=http://me:abc123@host", "option url", "key_env"),
        ("blind:by=magic", "option by", "'captions'"),
        ("missing.toml", "there is no file missing.toml", "kind:key=value"),
        ("retriever:name=", "name is empty", "leave it out"),
        ("retriever:embedder", '"embedder" of the system "retriever" has no value', "retriever:embedder=VALUE"),
        ("retriever:k=3,name", '"name" of the system "retriever" has no value', "retriever:name=VALUE"),
    ],
)
def test_a_wrong_one_is_told_with_its_fix(spec: str, message: str, fix: str) -> None:
    with pytest.raises(UserError) as caught:
        parse_spec(spec)
    assert message in str(caught.value) and fix in str(caught.value)
    assert "abc123" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [("k = 3", "names no kind"), ("kind = ", "is not TOML"), ('kind = "hybrid"\nalpha = 1', 'no option "alpha"')],
)
def test_a_wrong_file_is_named(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "system.toml"
    path.write_text(content)
    with pytest.raises(UserError, match=r"system\.toml") as caught:
        parse_spec(path)
    assert message in str(caught.value)


def test_secrets_are_masked_by_name_and_inside_addresses() -> None:
    said = masked(
        {
            "api_key": "abc123",
            "password": "abc123",
            "key_env": "MY_KEY",
            "backend": "postgres:postgresql://me:abc123@host/db",
            "inner": {"token": "abc123", "list": ["http://u:abc123@h"]},
        }
    )
    assert "abc123" not in str(said) and said["key_env"] == "MY_KEY" and "host/db" in str(said["backend"])
    spec = parse_spec("retriever:backend=postgres:postgresql://me:abc123@host/db")
    assert "abc123" not in spec.name and "abc123" not in str(spec.parameters)


class _Plugged(Options):
    depth: int = 3
    api_key: str | None = None


def test_another_package_can_bring_a_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = Kind("mine", "a test", _Plugged, lambda options, setting: options)

    class Point:
        name, value = "mine", "package:KIND"

        @staticmethod
        def load() -> Kind:
            return kind

    def points(group: str) -> list[Point]:
        return [Point()] if group == "sightline.systems" else []

    monkeypatch.setattr("sightline.plugins.entry_points", points)
    assert "mine" in kind_names() and find_kind("mine") is kind
    spec = parse_spec("mine:depth=5,api_key=abc123")
    assert spec.parameters == {"kind": "mine", "depth": 5, "api_key": "***"}
    assert make_spec(kind, {}).name == "mine"


def test_a_file_that_is_called_like_a_kind_is_no_spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("blind").write_text('kind = "oracle"')
    assert parse_spec("blind").kind.name == "blind"
    assert parse_spec("./blind").kind.name == parse_spec(Path("blind")).kind.name == "oracle"
