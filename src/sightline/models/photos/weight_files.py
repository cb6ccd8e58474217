"""Weights from files, without the libraries that wrote them: safetensors, and torch's old format, tensors only."""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
import orjson
from numpy.typing import NDArray

from sightline.errors import UserError

Tensors: TypeAlias = Mapping[str, NDArray[Any]]

_SAFETENSORS_TYPES = {"F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "U8": "u1", "I8": "i1"}
_LONGEST_HEADER = 1 << 24
_TORCH_MAGIC = 0x1950A86A20F9469CFC6C
_TORCH_STORAGES = {"FloatStorage": "<f4", "HalfStorage": "<f2", "LongStorage": "<i8", "IntStorage": "<i4"}


def read_safetensors(path: Path) -> dict[str, NDArray[Any]]:
    """The tensors of a `.safetensors` file, mapped from disk."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if length > min(_LONGEST_HEADER, path.stat().st_size):
            raise _damaged(path, "its header is longer than the file")
        try:
            header = orjson.loads(file.read(length))
            entries = [(name, entry) for name, entry in header.items() if name != "__metadata__"]
            data = np.memmap(path, np.uint8, mode="r", offset=8 + length)
            return {name: _slice(data, entry) for name, entry in entries}
        except (orjson.JSONDecodeError, AttributeError, KeyError, TypeError, ValueError) as error:
            raise _damaged(path, f"{type(error).__name__}: {error}") from error


def _slice(data: NDArray[np.uint8], entry: Mapping[str, Any]) -> NDArray[Any]:
    start, end = entry["data_offsets"]
    if not 0 <= start <= end <= len(data):
        raise ValueError("a tensor lies outside the file")
    return data[start:end].view(_SAFETENSORS_TYPES[entry["dtype"]]).reshape(entry["shape"])


def read_torch(path: Path) -> dict[str, NDArray[Any]]:
    """The tensors of a `.pth` file in torch's format from before 1.6; a pickle that asks for anything else is refused.

    Such a file is a row of pickles (magic number, version, system, the tensors' places, the order of the storages)
    and then, for each storage, its length and its raw numbers.
    """
    with path.open("rb") as file:
        try:
            if _TensorPickle(file).load() != _TORCH_MAGIC:
                raise _damaged(path, "it is not in torch's format from before 1.6")
            for _ in ("version", "system"):
                _TensorPickle(file).load()
            places = _TensorPickle(file).load()
            order = _TensorPickle(file).load()
            storages = dict(_read_storage(file, key, places) for key in order)
            return {name: place.take(storages) for name, place in places.items()}
        except pickle.UnpicklingError as error:
            raise _damaged(path, str(error)) from error
        except (AttributeError, EOFError, IndexError, KeyError, TypeError, ValueError) as error:
            raise _damaged(path, f"{type(error).__name__}: {error}") from error


@dataclass(frozen=True, slots=True)
class _Storage:
    """A run of numbers that tensors lie in."""

    key: str
    dtype: str
    count: int


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a tensor lies in its storage."""

    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def take(self, storages: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
        last = self.offset + sum((size - 1) * step for size, step in zip(self.shape, self.strides, strict=True))
        if self.offset < 0 or min(self.shape, default=1) < 1 or min(self.strides, default=0) < 0:
            raise ValueError("a tensor has an impossible shape")
        if last >= self.storage.count:
            raise ValueError("a tensor lies outside its storage")
        values = storages[self.storage.key][self.offset :]
        steps = [step * values.itemsize for step in self.strides]
        return np.lib.stride_tricks.as_strided(values, self.shape, steps, writeable=False)


def _rebuild_tensor(
    storage: _Storage, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], *_: Any
) -> _Place:
    return _Place(storage, offset, tuple(shape), tuple(strides))


class _TensorPickle(pickle.Unpickler):
    """Knows the few names that a file of tensors needs; no other object can be made, no function called."""

    _NAMES: Mapping[tuple[str, str], Callable[..., Any] | str] = {
        ("collections", "OrderedDict"): OrderedDict,
        ("torch._utils", "_rebuild_tensor_v2"): _rebuild_tensor,
        **{("torch", name): dtype for name, dtype in _TORCH_STORAGES.items()},
    }

    def find_class(self, module: str, name: str) -> Any:
        found = self._NAMES.get((module, name))
        if found is None:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which no file of weights needs")
        return found

    def persistent_load(self, pid: Any) -> _Storage:
        kind, dtype, key, _, count, view = pid
        if kind != "storage" or view is not None or dtype not in _TORCH_STORAGES.values():
            raise pickle.UnpicklingError("it refers to something that is not a storage of numbers")
        return _Storage(str(key), dtype, int(count))


def _read_storage(file: IO[bytes], key: str, places: Mapping[str, _Place]) -> tuple[str, NDArray[Any]]:
    storage = next(place.storage for place in places.values() if place.storage.key == key)
    if int.from_bytes(file.read(8), "little") != storage.count:
        raise ValueError("the length of a storage is not what its tensors say")
    values = np.frombuffer(file.read(storage.count * np.dtype(storage.dtype).itemsize), storage.dtype)
    if len(values) != storage.count:
        raise EOFError("the file ends early")
    return key, values


def _damaged(path: Path, why: str) -> UserError:
    return UserError(f"{path} can't be read as weights: {why}.", "install the package that it belongs to again")
