"""What needs torch is collected only where it is installed: .venv-train here, the extra [train] elsewhere."""

from __future__ import annotations

import os
from importlib.util import find_spec

# So small models are slower on several threads, above all where other tests run beside them.
os.environ.setdefault("OMP_NUM_THREADS", "1")

if any(find_spec(name) is None for name in ("torch", "transformers", "accelerate", "peft")):
    collect_ignore = [
        "test_train_adapters.py",
        "test_train_batching.py",
        "test_train_course.py",
        "test_train_glimpse.py",
        "test_train_loop.py",
        "test_train_models.py",
        "test_train_muon.py",
        "test_train_peak.py",
        "test_train_processes.py",
        "test_train_questions.py",
        "test_train_resume.py",
        "test_train_world.py",
    ]
