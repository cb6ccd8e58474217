"""A vocabulary for those who have none."""

from __future__ import annotations

EVERYDAY = (
    *("people", "man", "woman", "child", "baby", "crowd", "dog", "cat", "horse", "bird"),
    *("beach", "water", "snow", "mountain", "grass", "tree", "flower", "street", "building", "city", "playground"),
    *("car", "bicycle", "motorcycle", "boat", "train", "guitar", "food", "night", "sunset"),
    *("swimming", "climbing", "running", "jumping", "dancing", "eating", "smiling"),
    *("soccer", "basketball", "baseball", "tennis", "skateboard", "surfing", "skiing"),
)
"""Words that people use of their photographs; most are among those that confidences were fitted on."""
