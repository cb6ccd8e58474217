"""Networks written as ONNX files, in the little of the format that ours need (the `onnx` package takes 31 MB).

A file is a protobuf message; the numbers of its fields are those of onnx.proto.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

OPSET, IR_VERSION = 20, 9

Attribute: TypeAlias = "int | float | Sequence[int]"
Dimension: TypeAlias = "int | str"
_TYPES = {"float32": 1, "uint8": 2, "int64": 7, "float16": 10}


class Graph:
    """A network under construction: each call that adds something returns its name."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._nodes: list[bytes] = []
        self._constants: list[bytes] = []
        self._inputs: list[bytes] = []
        self._outputs: list[bytes] = []
        self._names = (f"v{number}" for number in count())

    def input(self, name: str, dtype: str, shape: Sequence[Dimension]) -> str:
        """A value that is given at each run; a named dimension may have any size."""
        self._inputs.append(_value(name, dtype, shape))
        return name

    def output(self, name: str, value: str, shape: Sequence[Dimension]) -> None:
        """A float32 value that a run returns."""
        self._node("Identity", [value], name, {})
        self._outputs.append(_value(name, "float32", shape))

    def constant(self, array: NDArray[Any]) -> str:
        """Weights, or any fixed array."""
        name = next(self._names)
        array = np.asarray(array)
        self._constants.append(
            b"".join(_varint_field(1, size) for size in array.shape)
            + _varint_field(2, _TYPES[array.dtype.name])
            + _bytes_field(8, name.encode())
            + _bytes_field(9, np.ascontiguousarray(array).tobytes())
        )
        return name

    def floats(self, value: float | NDArray[Any]) -> str:
        """A constant in float32."""
        return self.constant(np.asarray(value, np.float32))

    def integers(self, *values: int) -> str:
        """A row of integers, such as a shape."""
        return self.constant(np.array(values, np.int64))

    def add(self, operator: str, *inputs: str, **attributes: Attribute) -> str:
        """One operator with one result."""
        result = next(self._names)
        self._node(operator, inputs, result, attributes)
        return result

    def to_bytes(self) -> bytes:
        """The whole file."""
        graph = b"".join(
            [
                *(_bytes_field(1, node) for node in self._nodes),
                _bytes_field(2, self._name.encode()),
                *(_bytes_field(5, constant) for constant in self._constants),
                *(_bytes_field(11, value) for value in self._inputs),
                *(_bytes_field(12, value) for value in self._outputs),
            ]
        )
        return (
            _varint_field(1, IR_VERSION)
            + _bytes_field(2, b"sightline")
            + _bytes_field(7, graph)
            + _bytes_field(8, _bytes_field(1, b"") + _varint_field(2, OPSET))
        )

    def _node(self, operator: str, inputs: Sequence[str], output: str, attributes: Mapping[str, Attribute]) -> None:
        self._nodes.append(
            b"".join(_bytes_field(1, name.encode()) for name in inputs)
            + _bytes_field(2, output.encode())
            + _bytes_field(4, operator.encode())
            + b"".join(_bytes_field(5, _attribute(name, value)) for name, value in attributes.items())
        )


def dtype_number(dtype: str) -> int:
    """What ONNX calls a type, as `Cast` takes it."""
    return _TYPES[dtype]


def _attribute(name: str, value: Attribute) -> bytes:
    head = _bytes_field(1, name.encode())
    if isinstance(value, int):
        return head + _varint_field(3, value) + _varint_field(20, 2)
    if isinstance(value, float):
        return head + _varint(2 << 3 | 5) + struct.pack("<f", value) + _varint_field(20, 1)
    return head + b"".join(_varint_field(8, item) for item in value) + _varint_field(20, 7)


def _value(name: str, dtype: str, shape: Sequence[Dimension]) -> bytes:
    sizes = (_varint_field(1, size) if isinstance(size, int) else _bytes_field(2, size.encode()) for size in shape)
    tensor = _varint_field(1, _TYPES[dtype]) + _bytes_field(2, b"".join(_bytes_field(1, size) for size in sizes))
    return _bytes_field(1, name.encode()) + _bytes_field(2, _bytes_field(1, tensor))


def _varint_field(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def _bytes_field(number: int, value: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1  # Negative numbers take ten bytes, as protobuf has it.
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
