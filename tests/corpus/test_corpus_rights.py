"""benchmaker's rights map: which level speaks for a picture, and what is said of a wrong file."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.corpus.rights import RightsMap
from sightline.errors import UserError
from sightline.types import Rights


def parse(content: object) -> RightsMap:
    return RightsMap.parse(json.dumps(content), "rights_map.json")


MAP = parse(
    {
        "default": {"license": "CC-BY-4.0", "doi": "10.1/default", "dataset_name": "UNKNOWN"},
        "files": {"fig/a.jpg": {"license": "CC0-1.0"}, "fig/none.jpg": {"license": None, "doi": "UNKNOWN"}},
        "prefixes": [
            {"prefix": "fig/", "license": "MIT", "dataset_name": "FigLib"},
            {"prefix": "fig/2020/", "doi": "10.1/2020"},
            {"prefix": "cloud", "license": "CC-BY-SA-4.0", "doi": "", "dataset_name": "unknown"},
        ],
    }
)


@pytest.mark.parametrize(
    ("picture", "expected"),
    [
        ("other/a.jpg", Rights("CC-BY-4.0", "10.1/default", "other")),
        ("a.jpg", Rights("CC-BY-4.0", "10.1/default", None)),
        ("fig/b.jpg", Rights("MIT", "10.1/default", "FigLib")),
        ("fig/a.jpg", Rights("CC0-1.0", "10.1/default", "FigLib")),
        ("fig/2020/c.jpg", Rights("MIT", "10.1/2020", "FigLib")),
        ("fig/none.jpg", Rights(None, None, "FigLib")),
        ("cloudy/d.jpg", Rights("CC-BY-SA-4.0", None, "cloudy")),
        ("Fig/b.jpg", Rights("CC-BY-4.0", "10.1/default", "Fig")),
    ],
)
def test_file_then_longest_prefix_then_default(picture: str, expected: Rights) -> None:
    assert MAP.of(picture) == expected


def test_an_empty_map_knows_the_folder() -> None:
    assert parse({}).of("set/a.jpg") == RightsMap().of("set/a.jpg") == Rights(source="set")
    assert RightsMap().of("/a.jpg") == Rights()


def test_names_are_compared_as_picture_ids_are_written() -> None:
    decomposed = unicodedata.normalize("NFD", "Brücke")
    rights = parse(
        {"files": {f"./{decomposed}.jpg": {"license": "x"}}, "prefixes": [{"prefix": f"{decomposed}/", "doi": "y"}]}
    )
    assert rights.of("Brücke.jpg").license == "x"
    assert rights.of("Brücke/a.jpg").doi == "y"


def test_an_empty_prefix_is_for_all() -> None:
    assert parse({"prefixes": [{"prefix": "", "license": "x"}]}).of("a.jpg").license == "x"


names = st.text("ab/", max_size=6)
entries = st.fixed_dictionaries({}, optional=dict.fromkeys(("license", "doi", "dataset_name"), st.sampled_from("xyz")))


@given(
    default=entries,
    files=st.dictionaries(names, entries, max_size=3),
    prefixes=st.dictionaries(names, entries, max_size=6),
    picture=names,
)
@settings(max_examples=200, deadline=None)
def test_agrees_with_the_plain_definition(
    default: dict[str, str], files: dict[str, dict[str, str]], prefixes: dict[str, dict[str, str]], picture: str
) -> None:
    listed = [{"prefix": prefix, **entry} for prefix, entry in prefixes.items()]
    found = parse({"default": default, "files": files, "prefixes": listed}).of(picture)
    matching = sorted((prefix for prefix in prefixes if picture.startswith(prefix)), key=len, reverse=True)
    levels = [files.get(picture, {}), *(prefixes[prefix] for prefix in matching), default]
    expected = {name: value for level in reversed(levels) for name, value in level.items()}
    assert (found.license, found.doi) == (expected.get("license"), expected.get("doi"))
    assert found.source == expected.get("dataset_name") or "dataset_name" not in expected


KNOWN = "Known here: license, doi, dataset_name, attribution."


@pytest.mark.parametrize(
    ("content", "message", "fix"),
    [
        ({"defaults": {}}, "rights_map.json: unknown key defaults.", 'Did you mean "default"?'),
        ({"default": {"licence": "x"}}, "unknown key default.licence", 'Did you mean "license"?'),
        ({"default": {"prefix": "x"}}, "unknown key default.prefix", KNOWN),
        (
            {"prefixes": [{"prefix": "a"}, {"prefx": "a"}]},
            "prefixes[1].prefix is missing; unknown key prefixes[1].prefx",
            None,
        ),
        ({"prefixes": [{"prefix": "a", "DOI": "x"}]}, "unknown key prefixes[0].DOI", 'Did you mean "doi"?'),
        ({"files": {"a b.jpg": {"doi": 1}}}, 'files["a b.jpg"].doi is 1; expected text', None),
        ({"files": []}, "files is []; expected an object", None),
        ({"prefixes": {}}, "prefixes is {}; expected a list", None),
        ([], "the file is []; expected an object", None),
        (
            {"prefixes": [{"prefix": "a"}, {"prefix": "./a"}]},
            'prefixes[1]: the prefix "a" is there twice',
            "remove one",
        ),
        ({"files": {f"{n}": {"x": 1} for n in range(7)}}, "and 2 more", KNOWN),
    ],
)
def test_wrong_maps_are_explained(content: object, message: str, fix: str | None) -> None:
    with pytest.raises(UserError) as error:
        parse(content)
    assert message in error.value.message
    assert error.value.message.startswith("rights_map.json: ")
    assert error.value.fix == fix


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "rights_map.json"
    path.write_text('\ufeff{"default": {"license": "ü"}}', "utf-8")
    assert RightsMap.read(path).of("a.jpg") == Rights("ü")


@pytest.mark.parametrize(
    ("content", "message"),
    [(b'{"default":\n{,}}', ", line 2: not JSON"), (b"\xff", "is not UTF-8 text"), (None, "can't be read")],
)
def test_wrong_files_are_explained(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "rights_map.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UserError, match=r"rights_map\.json") as error:
        RightsMap.read(path)
    assert message in error.value.message


def test_the_example_in_the_documentation() -> None:
    page = (Path(__file__).parents[2] / "docs" / "metadata.md").read_text("utf-8")
    rights = RightsMap.parse(page.split("```json\n")[1].split("```")[0], "docs/metadata.md")
    assert rights.of("figlib/a.jpg") == Rights("CC0-1.0", None, "FigLib", "Ada Byron")
    assert rights.of("other/b.jpg") == Rights("CC-BY-4.0", None, "other")
