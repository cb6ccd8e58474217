"""A taxonomy for those who have none: proposed by a model or by `photos`, and written into their configuration."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from make_tools import COLOURS, colour_of, describing, draw, picture_in, project_in, rows, seeing, with_calls
from models_server import Received
from sightline.authoring.annotate import AnnotateStage, TaxonomyStage
from sightline.authoring.annotate_photos import facets
from sightline.authoring.pictures import PicturesStage
from sightline.authoring.project import ANNOTATIONS, Project
from sightline.authoring.taxonomy import FacetProposal, Proposal, cleaned, with_taxonomy
from sightline.calls.session import CallOptions
from sightline.config import Config, load
from sightline.errors import SightlineError, UserError
from sightline.models.built_in import Taxonomy
from sightline.models.photos.annotator import known_words

PROPOSED = {
    "facets": [{"name": "Colour", "values": [*COLOURS, "red "]}, {"name": "lonely", "values": ["one"]}],
    "flags": ["is warm", "colour"],
    "vocabulary": [*COLOURS, "Plain", "flat", "plain"],
}
TAXONOMY = Taxonomy({"colour": ("red", 'b"lue'), "what is it": ("é", "b")}, ("is_warm",), ("red", "sky"))


def replying(request: Received) -> Any:
    """A proposal when many pictures are shown at once, else what it sees."""
    if "facets" in str(request.json.get("response_format", "")):
        return PROPOSED
    data = picture_in(request)
    assert data is not None
    return describing(colour_of(data))


def begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, config: Config | None = None) -> Project:
    monkeypatch.chdir(tmp_path)
    project = project_in(tmp_path, config or Config.model_validate({"annotate": {"model": "vllm/seer"}}))
    PicturesStage(draw(tmp_path / "pictures", *COLOURS)).run(project)
    return project


def test_a_taxonomy_is_proposed_written_and_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = begun(tmp_path, monkeypatch)
    with seeing(replying) as server:
        done = AnnotateStage().run(with_calls(project, CallOptions(base_url=server.base_url)))
        written = load(Path("sightline.toml"), environment={}).config.annotate
        assert written.taxonomy == {"colour": tuple(COLOURS)}
        assert (written.flags, written.vocabulary) == (("is_warm",), (*COLOURS, "plain", "flat"))
        assert done.counts["annotated"] == 4
        assert any("written to sightline.toml" in said for said in done.warnings)
        assert rows(project.path(ANNOTATIONS))[0]["colour"] == "red"
        # The file says what was asked: with it, nothing is asked again.
        config = load(Path("sightline.toml"), environment={}, overrides={"annotate.model": "vllm/seer"}).config
        again = AnnotateStage().run(with_calls(project_in(tmp_path, config), CallOptions(base_url=server.base_url)))
        assert again.counts == {"annotated": 0, "kept": 4}
        assert len(server.requests) == 5


def test_the_stage_alone_proposes_and_annotates_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = begun(tmp_path, monkeypatch)
    with seeing(replying) as server:
        asking = CallOptions(base_url=server.base_url)
        assert (
            TaxonomyStage().run(with_calls(project, CallOptions(base_url=server.base_url, plan=True))).price is not None
        )
        done = TaxonomyStage().run(with_calls(project, asking))
        assert done.counts == {"facets": 1, "flags": 1, "words": 6}
        assert len(server.requests) == 1
        assert not project.path(ANNOTATIONS).exists()
        config = load(Path("sightline.toml"), environment={}).config
        with pytest.raises(UserError, match="has a taxonomy already"):
            TaxonomyStage().run(with_calls(project_in(tmp_path, config), asking))


def test_a_model_that_proposes_nothing_is_an_error_with_a_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = begun(tmp_path, monkeypatch)
    with seeing(lambda _: "no idea") as server, pytest.raises(SightlineError, match="proposed no taxonomy") as error:
        TaxonomyStage().run(with_calls(project, CallOptions(base_url=server.base_url)))
    assert error.value.fix is not None
    with pytest.raises(SightlineError, match="is empty"):
        cleaned(Proposal(facets=[FacetProposal(name="!", values=["a", "b"])], flags=[], vocabulary=[]))


@pytest.mark.parametrize(
    "before",
    [
        "",
        "[plan]\nseeds = 3",
        "# mine\n[annotate]  # here\nmin_tags = 2\n\n[plan]\nseeds = 3\n",
        '[annotate]\nflags = ["mine"]',
        'benchmark_name = "x"\nquery_plan_num_seeds = 4\n[vision_config]\nmodel = "m"\nadapter = "openai"\n',
        '[annotate]\nmodel = "a/b"\n[annotate.taxonomy]\nown = ["x", "y"]\n',
    ],
)
def test_what_the_file_says_stays_as_it_is(before: str) -> None:
    after = with_taxonomy(before, TAXONOMY, 1)
    said, now = tomllib.loads(before), tomllib.loads(after)
    for table, value in said.items():
        assert now[table] == ({**now[table], **value} if isinstance(value, dict) else value)
    annotate = now["annotate"]
    own = said.get("annotate", {})
    assert annotate["vocabulary"] == ["red", "sky"]
    assert annotate["flags"] == own.get("flags", ["is_warm"])
    assert annotate["min_tags"] == own.get("min_tags", 1)
    proposed = {"colour": ["red", 'b"lue'], "what is it": ["é", "b"]}
    assert annotate["taxonomy"] == own.get("taxonomy", proposed)
    assert all(line in after for line in before.splitlines())


def test_what_photos_can_tell_is_made_of_words_that_it_knows_by_heart() -> None:
    known = set(known_words().words)
    assert set(facets()) == {"subject", "activity", "setting", "vehicle"}
    for values in facets().values():
        assert len(set(values)) == len(values) > 1 and set(values) <= known
