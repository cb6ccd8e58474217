"""Weights → ONNX files of the package, the reader in eight bits where that changes nothing that matters.

Run:
  python training/world/export.py --weights OUT [--quantise] \\
    --out packages/sightline-world/src/sightline_world/models/weights
Needs torch, onnx and onnxruntime; PYTHONPATH=src:packages/sightline-world/src.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
import onnx
import torch
from common import load
from network import DETECTION, LIGHTS, PLACES, Reader, Relations, SceneEncoder, SignReader, Sizes, TextEncoder, Words
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process
from torch import Tensor, nn

from pictures import plans, shot

OPSET = 17


def export(
    model: nn.Module, inputs: dict[str, Tensor], outputs: list[str], axes: dict[str, dict[int, str]], file: Path
) -> None:
    model.eval()
    torch.onnx.export(
        model,
        tuple(inputs.values()),
        str(file),
        input_names=list(inputs),
        output_names=outputs,
        dynamic_axes=axes,
        opset_version=OPSET,
        dynamo=False,
    )


def halve(file: Path) -> None:
    """Keep weights in half precision, with a cast after each: half the size, and the arithmetic stays in single."""
    model = onnx.load(file)
    casts = []
    for weight in model.graph.initializer:
        if weight.data_type == onnx.TensorProto.FLOAT and np.prod(weight.dims) >= 1024:
            half = onnx.numpy_helper.from_array(
                onnx.numpy_helper.to_array(weight).astype(np.float16), f"{weight.name}_half"
            )
            casts.append(onnx.helper.make_node("Cast", [half.name], [weight.name], to=onnx.TensorProto.FLOAT))
            weight.CopyFrom(half)
    for cast in reversed(casts):
        model.graph.node.insert(0, cast)
    onnx.save(model, file)


class Samples(CalibrationDataReader):
    """Pictures that say how large the numbers inside the reader get."""

    def __init__(self, count: int) -> None:
        self._pictures = iter([_picture(plan) for plan in plans(0, count, "calibrate", (320, 240))])

    def get_next(self) -> dict[str, np.ndarray] | None:
        found = next(self._pictures, None)
        return None if found is None else {"picture": found}


def _picture(plan: object) -> np.ndarray:
    pixels = np.asarray(shot(plan)[0])  # type: ignore[arg-type]
    canvas = np.full((1, 3, 256, 320), 0.5, np.float32)
    canvas[0, :, :240] = pixels.transpose(2, 0, 1).astype(np.float32) / 255
    return canvas


def quantise(file: Path, samples: int) -> None:
    """Eight bits for convolutions; the two heads' last layers and the place's stay as they are."""
    with tempfile.TemporaryDirectory() as folder:
        ready = Path(folder) / "ready.onnx"
        quant_pre_process(str(file), str(ready), skip_symbolic_shape=True)
        graph = onnx.load(ready).graph
        last = [node.name for node in graph.node if node.op_type == "Conv"][-1:]
        last += [
            node.name
            for node in graph.node
            if node.op_type == "Conv" and "heat_head" in node.name and "/heat_head.1" in node.name
        ]
        quantize_static(
            str(ready),
            str(file),
            Samples(samples),
            quant_format=QuantFormat.QDQ,
            per_channel=True,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
            op_types_to_quantize=["Conv"],
            nodes_to_exclude=last,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--quantise", type=int, default=0, help="pictures to calibrate with; 0 keeps half precision")
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    reader = load(Reader(), chosen.weights / "reader.pt")
    sides = {0: "n", 2: "h", 3: "w"}
    names = ["heat", "boxes", "attributes", "whole"]
    axes = {"picture": sides, "heat": sides, "boxes": sides, "attributes": sides, "whole": {0: "n"}}
    export(reader, {"picture": torch.rand(1, 3, 256, 320)}, names, axes, chosen.out / "reader.onnx")
    signs = load(SignReader(), chosen.weights / "signs.pt")
    n = {0: "n"}
    export(
        signs, {"cuts": torch.rand(2, 1, 96, 160)}, ["letters"], {"cuts": n, "letters": n}, chosen.out / "signs.onnx"
    )
    relations = load(Relations(), chosen.weights / "relations.pt")
    two = {"subjects": torch.rand(3, DETECTION), "objects": torch.rand(3, DETECTION)}
    export(relations, two, ["relations"], {"subjects": n, "objects": n, "relations": n}, chosen.out / "relations.onnx")
    words = Words(Sizes())
    both = nn.ModuleDict({"scene": SceneEncoder(Sizes(), words), "text": TextEncoder(Sizes(), words)})
    load(both, chosen.weights / "join.pt")
    numbers = {"words": torch.ones(2, 7, dtype=torch.long), "grams": torch.ones(2, 7, 10, dtype=torch.long)}
    long = {"words": {0: "n", 1: "length"}, "grams": {0: "n", 1: "length"}, "vectors": n}
    export(both["text"], numbers, ["vectors"], long, chosen.out / "text.onnx")
    scene = {"things": torch.rand(2, 20, DETECTION), "whole": torch.rand(2, PLACES + LIGHTS), **numbers}
    wide = {**long, "things": {0: "n", 1: "things"}, "whole": n}
    export(both["scene"], scene, ["vectors"], wide, chosen.out / "scene.onnx")
    if chosen.quantise:
        quantise(chosen.out / "reader.onnx", chosen.quantise)
    for name in ("signs", "text", "scene", *(() if chosen.quantise else ("reader",))):
        halve(chosen.out / f"{name}.onnx")
    for file in sorted(chosen.out.glob("*.onnx")):
        print(f"{file.name}: {file.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
