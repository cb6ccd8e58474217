"""Numbers parsed out of bytes against Python's own float and int."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sightline.metrics.trec.fields import PAD, FieldTokens, NotANumberError, parse_floats, parse_ints


def tokens(texts: list[str]) -> FieldTokens:
    """The texts in a buffer, with digits around them that must not be read."""
    buffer = b"9" * PAD
    starts = []
    for text in texts:
        starts.append(len(buffer))
        buffer += text.encode() + b"7"
    data = np.frombuffer(buffer + b"9" * PAD, np.uint8)
    return FieldTokens(data, np.array(starts, np.int64), np.array([len(text.encode()) for text in texts], np.int64))


digits = st.text("0123456789", min_size=1, max_size=12)
decimal_st = st.builds(lambda sign, whole, dot, rest: sign + whole + dot + rest, st.sampled_from(["", "-", "+"]),
                       digits, st.sampled_from(["", "."]), st.text("0123456789", max_size=16))  # fmt: skip
exponent_st = st.builds(lambda number, e, sign, power: f"{number}{e}{sign}{power}", decimal_st,
                        st.sampled_from(["e", "E"]), st.sampled_from(["", "-", "+"]), st.integers(0, 330))  # fmt: skip
number_st = st.one_of(
    decimal_st,
    exponent_st,
    st.floats(allow_nan=False).map(repr),
    st.floats(0, 1).map(repr),
    st.floats(width=32, allow_nan=False).map(repr),
    st.sampled_from(["inf", "-inf", ".5", "5.", "-.25", "+1", "1e5", "Infinity", "0" * 30 + "1"]),
)


@settings(deadline=None, max_examples=300)
@given(st.lists(number_st, min_size=1, max_size=8))
@example(["1.00000005960464477539"])  # halfway between two singles, and just beyond 19 digits
@example(["16777217", "16777217.0000000001", "0.1234567890123456789"])
@example(["8388608.5", "9007199254740993", "90071992547409935e-1"])
def test_floats_are_pythons_in_single_precision(texts: list[str]) -> None:
    with np.errstate(over="ignore"):
        expected = np.array([float(text) for text in texts]).astype(np.float32)
    assert parse_floats(tokens(texts)).tobytes() == expected.tobytes()


@settings(deadline=None, max_examples=100)
@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=8), st.integers(0, 9))
def test_floats_of_one_format_string(values: list[float], places: int) -> None:
    texts = [f"{value:.{places}f}" for value in values]
    expected = np.array([float(text) for text in texts]).astype(np.float32)
    assert parse_floats(tokens(texts)).tobytes() == expected.tobytes()


@settings(deadline=None, max_examples=100)
@given(st.lists(st.integers(-999_999_999, 999_999_999).map(str), min_size=1, max_size=6))
def test_ints_are_pythons(texts: list[str]) -> None:
    assert parse_ints(tokens(texts)).tolist() == [int(text) for text in texts]


@pytest.mark.parametrize(
    "text", ["nan", "-", "+", ".", "1.2.3", "1e", "e5", "1e+-5", "--1", "+-1", "1_0", "0x1p3", "1,5", "high"]
)
def test_what_is_not_a_number_is_named(text: str) -> None:
    with pytest.raises(NotANumberError) as error:
        parse_floats(tokens(["1.5", text, "2"]))
    assert error.value.row == 1


@pytest.mark.parametrize("text", ["1.5", "-", "", "1e2", "1234567890", "two", "--1"])
def test_what_is_not_a_whole_number_is_named(text: str) -> None:
    with pytest.raises(NotANumberError) as error:
        parse_ints(tokens(["1", text]))
    assert error.value.row == 1
