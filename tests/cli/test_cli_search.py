"""`sightline search` from end to end on real photographs."""

from __future__ import annotations

import json
import shutil
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

from command_line import Cli
from search_tools import paint
from sightline.models.photos.weights import CLASSIFIER, ENCODER
from sightline.retrieval.methods import METHODS
from sightline.retrieval.search import search


@pytest.fixture(scope="module")
def photographs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    skimage = pytest.importorskip("skimage")
    for name in ("onnxruntime", "tokenizers", CLASSIFIER.package.name, ENCODER.package.name):
        try:
            distribution(name)
        except PackageNotFoundError:
            pytest.skip(f"{name} is not installed")
    folder = tmp_path_factory.mktemp("photographs")
    for name in ("chelsea.png", "coffee.png", "rocket.jpg", "motorcycle_left.png"):
        shutil.copy(Path(skimage.__file__).parent / "data" / name, folder)
    return folder


def test_words_find_photographs(cli: Cli, photographs: Path) -> None:
    first = cli("search", "a cat looking at the camera", "--in", photographs, "--workspace", "ws", "-k", "2")
    assert first.returncode == 0, first.stderr
    best, second = first.stdout.splitlines()
    assert best.split()[1] == str(photographs / "chelsea.png") and float(best.split()[0]) > float(second.split()[0])
    again = cli("search", "a cup of coffee", "--in", photographs, "--workspace", "ws", "--json")
    found = json.loads(again.stdout)
    assert found["hits"][0]["id"] == "coffee.png" and (found["searched"], found["embedded"]) == (4, 0)
    assert found["embedder"] == "photos" and again.stderr == ""


def test_index_then_every_way_to_ask(cli: Cli, photographs: Path, tmp_path: Path) -> None:
    annotations = tmp_path / "annotations.jsonl"
    annotations.write_text(
        '{"picture": "coffee.png", "summary": "a cup on a saucer", "tags": ["drink", "spoon"]}\n{"picture": "x.png"}\n'
    )
    built = cli(
        "index", photographs, "--workspace", "ws2", "--annotations", annotations, "--captions", "embed", "--json"
    )
    assert built.returncode == 0, built.stderr
    shown = json.loads(built.stdout)
    assert (shown["pictures"], shown["embedded"], shown["captions"], shown["unmatched_annotations"]) == (4, 4, 1, 1)
    assert "annotations of pictures that are not in the index: 1" in built.stderr
    again = cli("index", "--workspace", "ws2")
    assert again.returncode == 0 and "4 pictures · 0 added, 0 changed, 0 removed" in again.stdout

    def ask(*words: object) -> str:
        done = cli("search", *words, "--workspace", "ws2")
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert ask("saucer", "--method", "words").split()[1:] == [str(photographs / "coffee.png"), "drink,", "spoon"]
    hybrid = json.loads(ask("a cup on a saucer", "--method", "hybrid", "--rrf", "--captions", "--json"))
    best = hybrid["hits"][0]
    assert best["id"] == "coffee.png" and best["parts"].keys() == {"picture", "caption", "words"}
    assert hybrid["method"]["fusion"] == "rrf" and hybrid["method"]["captions"] is True
    alike = ask("--like", photographs / "chelsea.png", "-k", "1", "--where", "width > 100")
    assert alike.split()[:2] == ["1.000", str(photographs / "chelsea.png")]
    assert "nothing matches" in ask("an aircraft carrier", "--threshold", "0.99")


@pytest.mark.parametrize(
    ("given", "message", "fix"),
    [
        (("cat", "--where", "tiem > 2020"), 'Unknown field "tiem" at character 1', 'Did you mean "time"?'),
        (("cat", "--where", "time > 2019-02-30"), "does not exist", "Write 2019"),
        (("cat", "--owner", "ana"), 'There is no owner "ana"', "--owner-pattern"),
        (("cat", "-k", "1.5"), "-k", "is not a whole number"),
        (("cat", "--group", "event/x"), 'There is no group "event/x"', ""),
        (("cat", "--index", "mine"), 'has no index "mine"', "sightline index"),
        (("cat", "--threshold", "high"), '--threshold "high" is not a number', "auto"),
        (("cat", "--threshold", "auto"), "A threshold needs vectors", "--method"),
        (("cat", "--threshold", "0.2"), "A threshold needs vectors", "--method"),
        ((), "The query is empty", "Say what to look for"),
    ],
)
def test_slips_are_told_with_their_fix(
    cli: Cli, pictures_of_words: Path, given: tuple[str, ...], message: str, fix: str
) -> None:
    done = cli("search", *given, "--method", "words", "--workspace", pictures_of_words)
    assert (done.returncode, done.stdout) == (2, "") and message in done.stderr and fix in done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture(scope="module")
def pictures_of_words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace whose index holds no vectors, so that no model is needed."""
    folder = tmp_path_factory.mktemp("words")
    paint(folder / "pictures" / "cat.png", "red")
    search("cat", folder / "pictures", workspace=folder / "ws", method=METHODS["words"])
    return folder / "ws"


def test_a_hit_is_a_path_that_opens_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paint(tmp_path / "pictures" / "a cat.png", "red")
    found = search("cat", tmp_path / "pictures", workspace=tmp_path / "ws", method=METHODS["words"])
    assert found.ids == ("a cat.png",) and found.to_json()["hits"][0]["id"] == "a cat.png"
    for here, shown in ((tmp_path, "pictures/a cat.png"), (tmp_path / "ws", f"{tmp_path}/pictures/a cat.png")):
        monkeypatch.chdir(here)
        assert str(found).strip().endswith(f"  {shown}") and Path(shown).is_file()


def test_mistakes_end_with_their_fix(cli: Cli, tmp_path: Path) -> None:
    empty = cli("search", " ", "--in", tmp_path / "none", "--workspace", "ws")
    assert (empty.returncode, empty.stdout) == (2, "") and "The query is empty" in empty.stderr
    nowhere = cli("search", "a cat", "--workspace", "ws")
    assert nowhere.returncode == 2 and "--in DIR" in nowhere.stderr


def test_without_the_extra(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "without").mkdir()
    (tmp_path / "pictures").mkdir()
    (tmp_path / "without" / "sitecustomize.py").write_text('import sys\nsys.modules["onnxruntime"] = None\n')
    done = cli("search", "a cat", "--in", tmp_path / "pictures", PYTHONPATH=str(tmp_path / "without"))
    assert done.returncode == 2 and "pip install 'sightline[photos]'" in done.stderr
