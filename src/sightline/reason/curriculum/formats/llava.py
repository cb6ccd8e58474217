"""LLaVA: a list of `conversations` for each stage, with `image` as a list of paths."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sightline.reason.curriculum.course import Course, Record
from sightline.reason.curriculum.formats.base import Format, longest, stage_names, turns, write_by_stage, write_list


def _write(course: Course, folder: Path) -> None:
    write_by_stage(course, folder, ".json", _write_stage)


def _write_stage(path: Path, records: Iterator[Record]) -> None:
    write_list(path, map(_row, records))


def _row(record: Record) -> dict[str, Any]:
    return {"id": record.id, "image": list(record.images), "conversations": turns(record)}


def _usage(course: Course) -> str:
    return f"""LLaVA's trainer shuffles and has no flag against it, so each stage is a file and a run of its own,
which goes on from the model of the one before; inside a stage the order is LLaVA's. `image` is a list, as LLaVA-NeXT
reads it. Run it in this folder; `llava` is where LLaVA was checked out.

```bash
llava=~/LLaVA-NeXT
out={course.trained}
model=lmms-lab/llava-onevision-qwen2-7b-ov
for stage in {" ".join(stage_names(course))}; do
  torchrun --nproc_per_node 8 $llava/llava/train/train_mem.py --model_name_or_path $model --version qwen_1_5 \\
    --data_path $stage.json --image_folder . --bf16 True --num_train_epochs 1 --learning_rate 2e-5 \\
    --warmup_ratio 0.05 --model_max_length {longest(course)} --output_dir $out/$stage
  model=$out/$stage
done
```
"""


LLAVA = Format("llava", _write, _usage)
