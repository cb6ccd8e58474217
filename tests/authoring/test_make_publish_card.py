"""What is said of a published folder: the card, the citation, Croissant."""

from __future__ import annotations

from pathlib import Path

import pytest

from make_publishing import make_project, publish
from sightline.authoring.dataset.manifest import PublishTerms
from sightline.authoring.project import Project
from sightline.io.jsonl import read_json

pytest.importorskip("pyarrow")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path)


def test_the_card_is_read_by_a_yaml_reader(project: Project) -> None:
    yaml = pytest.importorskip("yaml")
    folder, _ = publish(project, PublishTerms(splits="train=0.5,test=0.5"))
    text = (folder / "README.md").read_text()
    head = yaml.safe_load(text.split("---\n")[1])
    assert head["license"] == "cc-by-4.0"
    assert [config["config_name"] for config in head["configs"]] == ["corpus", "queries", "qrels", "annotations"]
    for config in head["configs"]:
        for files in config["data_files"]:
            assert list(folder.glob(files["path"]))
    for part in ("Intended use", "Label quality", "People and places", "| cc-by-4.0 | Right | 10.1/x |", "4 pictures"):
        assert part in text
    assert "hf_very_secret" not in text
    citation = yaml.safe_load((folder / "CITATION.cff").read_text())
    assert citation["authors"] == [
        {"family-names": "Example", "given-names": "Ada", "orcid": "https://orcid.org/0000-0002-1825-0097"}
    ]
    assert citation["license"] == "CC-BY-4.0"


def test_words_of_others_can_not_break_the_card(project: Project) -> None:
    hostile = 'x"\n---\nlicense: mit\n<script>alert(1)</script> | a'
    config = project.config.model_copy(
        update={"benchmark": project.config.benchmark.model_copy(update={"name": hostile, "description": hostile})}
    )
    folder, _ = publish(project.with_config(config))
    yaml = pytest.importorskip("yaml")
    text = (folder / "README.md").read_text()
    assert yaml.safe_load(text.split("---\n")[1])["license"] == "cc-by-4.0"
    words = text.split("---\n", 2)[2].split("```bibtex")[0]
    assert "\\<script\\>" in words
    assert "<script>" not in words.replace("\\<script\\>", "")
    assert yaml.safe_load((folder / "CITATION.cff").read_text())["type"] == "dataset"


def test_the_authors_own_card_keeps_our_head(project: Project, tmp_path: Path) -> None:
    own = tmp_path / "card.md"
    own.write_text("---\nlicense: wrong\n---\n\n# Mine\n\nMy words.\n")
    paths = project.config.paths.model_copy(update={"card": own})
    folder, _ = publish(project.with_config(project.config.model_copy(update={"paths": paths})))
    text = (folder / "README.md").read_text()
    assert text.endswith("# Mine\n\nMy words.\n")
    assert "license: cc-by-4.0" in text
    assert "wrong" not in text


def test_croissant_names_every_column_of_every_table(project: Project) -> None:
    import pyarrow.parquet as pq

    folder, _ = publish(project)
    document = read_json(folder / "croissant.json")
    assert document["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    sets = {entry["@id"] for entry in document["distribution"]}
    for record in document["recordSet"]:
        columns = pq.read_schema(next((folder / record["name"]).glob("*.parquet"))).names
        fields = [field for field in record["field"] if field["name"] != "split"]
        assert [field["source"]["extract"]["column"] for field in fields] == columns
        assert all(field["source"]["fileSet"]["@id"] in sets for field in record["field"])
