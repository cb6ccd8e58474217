"""The one registry: names without imports, errors that name the package, and a core that does without the world."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sightline import plugins
from sightline.agent.tools.base import Materials
from sightline.agent.tools.registry import chosen_names, known_tools
from sightline.agent.web import offline_web
from sightline.authoring.plan import own_embedder
from sightline.cli.demo import demo
from sightline.cli.doctor import doctor
from sightline.errors import UserError
from sightline.metrics.context import Context
from sightline.metrics.registry import _REGISTRY, kinds_of, metric
from sightline.models.built_in import find_built_in
from sightline.models.embedders.registry import embedder_names, find_embedder
from sightline.models.transport_factory import open_transport
from sightline.types import Annotation, Answer, Text

METRICS = """
def length(truth, prediction, context):
    return float(len(prediction.text))
"""


def install(folder: Path, package: str, entries: str, **modules: str) -> None:
    """A distribution as pip leaves it."""
    facts = folder / f"{package}-1.0.dist-info"
    facts.mkdir(parents=True)
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text(entries)
    for name, code in modules.items():
        (folder / f"{name}.py").write_text(code)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


@pytest.fixture
def no_world(monkeypatch: pytest.MonkeyPatch) -> None:
    installed = plugins.entry_points
    monkeypatch.setattr(
        plugins,
        "entry_points",
        lambda *, group: [point for point in installed(group=group) if point.dist.name != "sightline-world"],
    )


@pytest.mark.parametrize("group", plugins.GROUPS)
def test_every_plug_in_of_ours_can_be_loaded(group: str) -> None:
    missing = {name for name in plugins.names(group) if plugins.find(group, name) is None}
    assert not missing
    if group != "chat":  # Those that need torch and vLLM are opened in tests of their own.
        assert set(plugins.load_all(group)) == set(plugins.names(group))


def test_listing_names_imports_nothing() -> None:
    code = (
        "import sys; from sightline import plugins; [plugins.names(group) for group in plugins.GROUPS];"
        "print(sorted(name for name in sys.modules if name.startswith('sightline')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(["sightline", "sightline.errors", "sightline.plugins"])


def test_a_metric_loads_no_other() -> None:
    code = (
        "import sys; from sightline.metrics.registry import metric; metric('accuracy');"
        "print([name for name in ('sightline.metrics.text', 'sightline.metrics.ranked', 'sightline.metrics.steps')"
        " if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_metric_of_another_package(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(site, "lengths", "[sightline.metrics]\nlength = lengths_metrics:length\n", lengths_metrics=METRICS)
    monkeypatch.setattr("sightline.metrics.registry._REGISTRY", dict(_REGISTRY))
    assert metric("length")(Answer("x"), Text("four"), Context()) == 4.0
    assert "answer" in kinds_of("length") and "rank" in kinds_of("length")
    with pytest.raises(UserError, match="no options and no cut-off"):
        metric("length@10")
    with pytest.raises(UserError, match=r'unknown metric "lenght"(.|\n)*Did you mean "length"'):
        metric("lenght")


def test_a_broken_plug_in_is_named_and_breaks_no_other(site: Path, caplog: pytest.LogCaptureFixture) -> None:
    install(site, "bad-tools", "[sightline.tools]\nShout = bad_tools:KIND\n", bad_tools="import no_such_thing\n")
    with pytest.raises(UserError, match=r'"Shout" of bad-tools .*No module named .no_such_thing.') as error:
        plugins.load("tools", "Shout")
    assert error.value.fix == "Update bad-tools, or remove it: pip uninstall bad-tools"
    known_tools.cache_clear()
    try:
        kinds = known_tools()
        assert "Crop" in kinds and "Shout" not in kinds and "bad-tools" in caplog.text
        with pytest.raises(UserError, match="bad-tools"):
            chosen_names(kinds, ["Shout"], (), ["answer"])
    finally:
        known_tools.cache_clear()


@pytest.mark.parametrize(
    ("code", "fix"),
    [
        ("from sightline.score.gone import Metric", "sightline.score is now in sightline.metrics"),
        ("from sightline.oracles import Kind", "sightline.oracles is no longer there; plug-ins of sightline.systems"),
        ("from sightline.errors import Kind", "plug-ins of sightline.systems are made with sightline.run"),
    ],
)
def test_a_plug_in_that_imports_what_has_moved_is_told_where_to(site: Path, code: str, fix: str) -> None:
    install(site, "old", "[sightline.systems]\nold = old_system:KIND\n", old_system=f"{code}\n")
    sys.modules.pop("old_system", None)
    with pytest.raises(UserError) as error:
        plugins.load("systems", "old")
    assert fix in (error.value.fix or "") and "Update old" in (error.value.fix or "")


@pytest.mark.parametrize("group", plugins.GROUPS)
def test_an_old_target_is_told_in_every_group(site: Path, group: str) -> None:
    install(site, f"old-{group}", f"[sightline.{group}]\nancient = sightline.search.gone:THING\n")
    with pytest.raises(UserError, match=f"old-{group}") as error:
        plugins.load(group, "ancient")
    assert "is now in sightline.retrieval" in (error.value.fix or "")
    assert any("ancient" in line for line in plugins.problems())


def test_a_name_that_is_gone_from_a_module_that_is_there(site: Path) -> None:
    code = "from sightline.runs.systems import NoSuchThing\n"
    install(site, "stale", "[sightline.systems]\nstale = stale_system:KIND\n", stale_system=code)
    with pytest.raises(UserError, match="stale") as error:
        plugins.load("systems", "stale")
    assert "sightline.runs.systems no longer has that name" in (error.value.fix or "")


@pytest.mark.parametrize("body", ["raise ValueError('no')", "return 'four'", "return 10**400", "return float('nan')"])
def test_a_metric_that_fails_is_named(site: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    code = f"def broken(truth, prediction, context):\n    {body}\n"
    install(site, "broken-metrics", "[sightline.metrics]\nbroken = broken_metrics:broken\n", broken_metrics=code)
    monkeypatch.delitem(sys.modules, "broken_metrics", raising=False)
    monkeypatch.setattr("sightline.metrics.registry._REGISTRY", dict(_REGISTRY))
    with pytest.raises(UserError, match='metric "broken"'):
        metric("broken")(Answer("x"), Text("four"), Context())


def test_a_target_that_is_no_longer_there(site: Path) -> None:
    install(site, "older", "[sightline.systems]\nolder = sightline.run.systems.no_more:KIND\n")
    with pytest.raises(UserError, match="older") as error:
        plugins.load("systems", "older")
    assert "is now in sightline.runs" in (error.value.fix or "")


def test_something_else_than_a_plug_in_of_the_group(site: Path) -> None:
    install(site, "odd", "[sightline.models]\nodd = odd_model:MODEL\n", odd_model="MODEL = 3\n")
    with pytest.raises(UserError, match=r"of odd .* is not a sightline\.models\.built_in\.BuiltInModel"):
        find_built_in("builtin/odd")


def test_two_packages_with_one_name(site: Path) -> None:
    for package in ("one", "two"):
        install(site / package, package, "[sightline.formats]\nmine = json:dumps\n")
        sys.path.insert(0, str(site / package))
    try:
        with pytest.raises(
            UserError, match=r'"mine" of the group sightline\.formats comes from several packages'
        ) as error:
            plugins.load("formats", "mine")
        assert "pip uninstall" in (error.value.fix or "")
        assert plugins.load("formats", "beir").name == "beir"
    finally:
        del sys.path[:2]


def test_our_names_are_ours_and_doctor_says_what_is_wrong(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    install(site, "taker", "[sightline.metrics]\nndcg = json:dumps\nbroken = no_such_module:x\n")
    assert plugins.find("metrics", "ndcg").package is None  # type: ignore[union-attr]
    doctor()
    told = capsys.readouterr().err
    assert '"ndcg" of taker' in told and "is ignored" in told and "no_such_module" in told


@pytest.mark.usefixtures("no_world")
def test_without_the_world_its_package_is_named(tmp_path: Path) -> None:
    assert "world" not in embedder_names()
    for wanted in (
        lambda: find_embedder("world"),
        lambda: open_transport("builtin/world"),
        lambda: offline_web("world"),
        lambda: demo(out=tmp_path / "demo"),
    ):
        with pytest.raises(UserError, match="package sightline-world, which is not installed") as error:
            wanted()
        assert "pip install sightline-world" in (error.value.fix or "")
    assert "demo --pictures" in (error.value.fix or "")
    assert own_embedder([Annotation("a", by="builtin/world")]) is None
    assert own_embedder([Annotation("a", by="builtin/photos")]) == "photos"


@pytest.mark.usefixtures("no_world")
def test_without_the_world_and_ocr_no_words_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "sightline.agent.tools.measure_tools.find_spec", lambda name: None if name == "rapidocr" else object()
    )
    assert "sightline[ocr]" in (known_tools()["ReadText"].lacks(Materials()) or "")


@pytest.mark.usefixtures("no_world")
def test_without_the_world_there_is_no_such_command(capsys: pytest.CaptureFixture[str]) -> None:
    from sightline.cli.app import main

    main(["--help"])
    assert "│ mine " in (shown := capsys.readouterr().out) and "│ world " not in shown
