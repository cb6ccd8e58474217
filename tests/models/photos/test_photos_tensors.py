"""Weights are read as they were written, and nothing but weights is read."""

from __future__ import annotations

import io
import os
import pickle
import struct
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.errors import UserError
from sightline.models.photos.weight_files import read_safetensors, read_torch

MAGIC = 0x1950A86A20F9469CFC6C


class Global:
    """Pickled as the name of something in torch, which need not be installed for it."""

    def __init__(self, module: str, name: str, *arguments: Any) -> None:
        self.module, self.name, self.arguments = module, name, arguments


_PICKLER: Any = pickle._Pickler


class TorchPickler(_PICKLER):  # type: ignore[misc]
    """Writes what torch wrote before 1.6."""

    def persistent_id(self, obj: Any) -> Any:
        return obj.arguments if isinstance(obj, Global) and obj.name == "storage" else None

    def save(self, obj: Any, save_persistent_id: bool = True) -> None:
        if isinstance(obj, Global) and obj.name != "storage":
            self.write(pickle.GLOBAL + f"{obj.module}\n{obj.name}\n".encode())
            if obj.arguments:
                super().save(obj.arguments)
                self.write(pickle.REDUCE)
            return
        super().save(obj, save_persistent_id)


def dump(value: Any) -> bytes:
    buffer = io.BytesIO()
    TorchPickler(buffer, protocol=2).dump(value)
    return buffer.getvalue()


def tensor(values: np.ndarray, key: str, **changes: Any) -> Global:
    place = {"offset": 0, "shape": values.shape, "strides": tuple(s // values.itemsize for s in values.strides)}
    place |= changes
    kind = Global("torch", "FloatStorage")
    storage = Global("", "storage", "storage", kind, key, "cpu", values.size, None)
    return Global(
        "torch._utils",
        "_rebuild_tensor_v2",
        storage,
        place["offset"],
        place["shape"],
        place["strides"],
        False,
        OrderedDict(),
    )


def torch_file(path: Path, arrays: dict[str, np.ndarray], **changes: Any) -> Path:
    places = OrderedDict((name, tensor(value, str(at), **changes)) for at, (name, value) in enumerate(arrays.items()))
    storages = b"".join(struct.pack("<q", value.size) + value.tobytes() for value in arrays.values())
    keys = [str(at) for at in range(len(arrays))]
    path.write_bytes(dump(MAGIC) + dump(1001) + dump({"little_endian": True}) + dump(places) + dump(keys) + storages)
    return path


def test_torch_tensors_come_back(tmp_path: Path) -> None:
    arrays = {
        "a.weight": np.arange(12, dtype=np.float32).reshape(3, 4),
        "b": np.array([2.5], np.float32),
    }
    found = read_torch(torch_file(tmp_path / "w.pth", arrays))
    assert found.keys() == arrays.keys()
    for name, value in arrays.items():
        np.testing.assert_array_equal(found[name], value)


def test_a_transposed_tensor_comes_back_transposed(tmp_path: Path) -> None:
    stored = np.arange(6, dtype=np.float32).reshape(2, 3)
    found = read_torch(torch_file(tmp_path / "w.pth", {"a": stored}, shape=(3, 2), strides=(1, 3)))
    np.testing.assert_array_equal(found["a"], stored.T)


def test_the_real_file_agrees_with_itself(photos: Any) -> None:
    from sightline.models.photos.weights import CLASSIFIER

    weights = read_torch(CLASSIFIER.find())
    assert weights["_fc.weight"].shape == (1000, 1280)
    assert all(np.isfinite(value).all() for value in weights.values())


class Hostile:
    """Runs a command when it is unpickled, by whatever means it is told."""

    def __init__(self, call: Any, *arguments: Any) -> None:
        self.call, self.arguments = call, arguments

    def __reduce__(self) -> Any:
        return self.call, self.arguments


@pytest.mark.parametrize("position", range(4))
@pytest.mark.parametrize("by", ["os.system", "eval", "open", "getattr", "exec"])
def test_a_hostile_pickle_is_refused(tmp_path: Path, position: int, by: str) -> None:
    witness = tmp_path / "witness"
    attacks: dict[str, Any] = {
        "os.system": Hostile(os.system, f"touch {witness}"),
        "eval": Hostile(eval, f"open({str(witness)!r}, 'w')"),
        "open": Hostile(open, str(witness), "w"),
        "getattr": Hostile(getattr, "", "upper"),
        "exec": Hostile(exec, f"open({str(witness)!r}, 'w')"),
    }
    parts = [dump(MAGIC), dump(1001), dump({}), dump(OrderedDict())]
    parts[position] = pickle.dumps(attacks[by], protocol=2)
    path = tmp_path / "w.pth"
    path.write_bytes(b"".join(parts) + dump([]))
    with pytest.raises(UserError, match="which no file of weights needs"):
        read_torch(path)
    assert not witness.exists()


@pytest.mark.parametrize(
    "changes",
    [
        {"shape": (5, 4), "strides": (4, 1)},
        {"offset": 5},
        {"offset": -1},
        {"shape": (3, 4), "strides": (-4, 1)},
        {"shape": (3, 4), "strides": (1 << 40, 1)},
        {"shape": (3, 4, 2), "strides": (4, 1)},
    ],
)
def test_a_tensor_outside_its_storage_is_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    path = torch_file(tmp_path / "w.pth", {"a": np.zeros((3, 4), np.float32)}, **changes)
    with pytest.raises(UserError, match="can't be read as weights"):
        read_torch(path)


@given(cut=st.floats(0, 0.99))
def test_a_torch_file_cut_anywhere_is_refused(tmp_path_factory: pytest.TempPathFactory, cut: float) -> None:
    path = torch_file(tmp_path_factory.mktemp("cut") / "w.pth", {"a": np.ones((30, 4), np.float32)})
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * cut)])
    with pytest.raises(UserError):
        read_torch(path)


def safetensors_file(path: Path, header: Any, data: bytes) -> Path:
    encoded = orjson.dumps(header)
    path.write_bytes(struct.pack("<Q", len(encoded)) + encoded + data)
    return path


def test_safetensors_come_back(tmp_path: Path) -> None:
    a, b = np.arange(6, dtype=np.float32).reshape(2, 3), np.array([7, -8], np.int64)
    header = {
        "__metadata__": {"format": "pt"},
        "a": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
        "b": {"dtype": "I64", "shape": [2], "data_offsets": [24, 40]},
    }
    found = read_safetensors(safetensors_file(tmp_path / "w.safetensors", header, a.tobytes() + b.tobytes()))
    np.testing.assert_array_equal(found["a"], a)
    np.testing.assert_array_equal(found["b"], b)


@pytest.mark.parametrize(
    "header",
    [
        {"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 800]}},
        {"a": {"dtype": "F32", "shape": [3], "data_offsets": [0, 8]}},
        {"a": {"dtype": "F99", "shape": [2], "data_offsets": [0, 8]}},
        {"a": {"dtype": "F32", "shape": [2], "data_offsets": [-8, 0]}},
        {"a": {"shape": [2]}},
        {"a": 3},
        [1, 2],
    ],
)
def test_a_wrong_safetensors_header_is_refused(tmp_path: Path, header: Any) -> None:
    with pytest.raises(UserError, match="can't be read as weights"):
        read_safetensors(safetensors_file(tmp_path / "w.safetensors", header, bytes(8)))


def test_a_safetensors_header_longer_than_the_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    path.write_bytes(struct.pack("<Q", 1 << 60) + b"{}")
    with pytest.raises(UserError, match="longer than the file"):
        read_safetensors(path)
