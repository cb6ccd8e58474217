"""LLaMA-Factory: `messages` and `images`, the entry of `dataset_info.json`, and a configuration to run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sightline.io import write_json, write_whole
from sightline.reason.curriculum.course import Course, Record
from sightline.reason.curriculum.formats.base import MODEL, TRAIN, Format, longest, write_in_order

CONFIG = "train.yaml"
_NAME = "sightline_curriculum"
_INFO = {
    "file_name": TRAIN,
    "formatting": "sharegpt",
    "columns": {"messages": "messages", "images": "images"},
    "tags": {"role_tag": "role", "content_tag": "content", "user_tag": "user", "assistant_tag": "assistant"},
}


def _write(course: Course, folder: Path) -> None:
    write_in_order(course, folder, _line)
    write_json(folder / "dataset_info.json", {_NAME: _INFO})
    write_whole(folder / CONFIG, _config(course).encode())


def _line(record: Record) -> dict[str, Any]:
    return {"messages": record.messages, "images": list(record.images)}


def _config(course: Course) -> str:
    return f"""model_name_or_path: {MODEL}
template: qwen2_vl
stage: sft
do_train: true
finetuning_type: full
dataset_dir: .
media_dir: .
dataset: {_NAME}
disable_shuffling: true
cutoff_len: {longest(course)}
overwrite_cache: true
num_train_epochs: 1.0
per_device_train_batch_size: 1
gradient_accumulation_steps: 4
learning_rate: 2.0e-5
lr_scheduler_type: cosine
warmup_ratio: 0.05
bf16: true
output_dir: {course.trained}
"""


def _usage(course: Course) -> str:
    return f"""`{CONFIG}` has `disable_shuffling: true`, without which the stages would be mixed. Run it in this folder:

```console
$ llamafactory-cli train {CONFIG}
```
"""


LLAMA_FACTORY = Format("llama-factory", _write, _usage)
