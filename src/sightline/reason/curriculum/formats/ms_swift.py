"""ms-swift: `messages` and `images`, one file in the order of the training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sightline.reason.curriculum.course import Course, Record
from sightline.reason.curriculum.formats.base import MODEL, TRAIN, Format, longest, write_in_order


def _write(course: Course, folder: Path) -> None:
    write_in_order(course, folder, _line)


def _line(record: Record) -> dict[str, Any]:
    return {"messages": record.messages, "images": list(record.images)}


def swift_command(course: Course) -> str:
    """Both shuffles off: of the data set, and of the loader. Epochs are in the file already."""
    return f"""```console
$ swift sft --model {MODEL} --tuner_type full --torch_dtype bfloat16 \\
    --dataset {TRAIN} --dataset_shuffle false --train_dataloader_shuffle false \\
    --num_train_epochs 1 --per_device_train_batch_size 1 --gradient_accumulation_steps 4 \\
    --learning_rate 2e-5 --warmup_ratio 0.05 --max_length {longest(course)} \\
    --output_dir {course.trained}
```
"""


def _usage(course: Course) -> str:
    return f"""Run it in this folder: the paths of the pictures start here (or set `ROOT_IMAGE_DIR`). Without both
shuffle flags ms-swift mixes the stages; records longer than `--max_length` it leaves out. Before ms-swift 4,
`--tuner_type` was called `--train_type`.

{swift_command(course)}"""


MS_SWIFT = Format("ms-swift", _write, _usage)
