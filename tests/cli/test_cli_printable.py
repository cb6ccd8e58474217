"""Names of files reach the terminal without moving its cursor."""

from __future__ import annotations

import logging

import pytest

from sightline.cli.options import Common, set_up_logging
from sightline.plain_text import printable, signed


def test_what_a_terminal_would_obey_is_written_out() -> None:
    assert printable("a\x1b[31mb\nc.png") == "a\\x1b[31mb\\nc.png"
    assert printable("été 東京 🐈.jpg") == "été 東京 🐈.jpg"


def test_so_it_is_in_messages(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logging(verbose=True)
    logging.getLogger("sightline.somewhere").info("skipped %s\nand went on", "x\x1b]0;y\x07.jpg")
    assert capsys.readouterr().err == "skipped x\\x1b]0;y\\x07.jpg\nand went on\n"


@pytest.mark.parametrize(
    ("value", "shown"),
    [(-0.041, "-0.04"), (0.0003, "+0.0003"), (-0.004, "-0.004"), (0.0049, "+0.005"), (0.0, "+0.00"), (-1e-17, "+0.00")],
)
def test_a_difference_that_is_not_zero_never_looks_like_it(value: float, shown: str) -> None:
    assert signed(value, 2) == shown


def test_a_name_is_printed_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    """`:dog:` is no emoji, `[red]` no colour, and a long line stays whole."""
    name = f":dog: [red] {'long ' * 60}.jpg"
    Common().print(name)
    assert capsys.readouterr().out == f"{name}\n"
