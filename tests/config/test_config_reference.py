"""`docs/configuration.md` says what the settings say."""

from __future__ import annotations

from pathlib import Path

from configuration_tables import fill

from sightline.config.benchmaker import COUNTERPARTS, NO_COUNTERPART
from sightline.config.schema import leaves

PAGE = Path(__file__).parents[2] / "docs" / "configuration.md"


def test_the_page_is_up_to_date() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == fill(page), "run: make docs"


def test_a_stale_block_is_made_anew_and_the_rest_is_left_alone() -> None:
    page = "# Title\n<!-- settings: begin -->\nstale words\n<!-- settings: end -->\nafter\n"
    filled = fill(page)
    assert "stale words" not in filled
    assert filled.startswith("# Title\n") and filled.endswith("\nafter\n")
    assert "| `max_pixels` | whole number | `180000000` |" in filled


def test_every_setting_has_a_description_and_stands_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for leaf in leaves().values():
        assert leaf.field.description, leaf.dotted
        assert leaf.field.description.endswith("."), leaf.dotted
        assert f"| `{'.'.join(leaf.path[1:])}` |" in page


def test_every_benchmaker_key_stands_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for key in (*COUNTERPARTS, *NO_COUNTERPART):
        assert f"| `{key}` |" in page
