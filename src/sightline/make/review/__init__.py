"""What people decided becomes a new version of a benchmark."""

from sightline.make.review.applying import apply_reviews
from sightline.make.review.changes import Applied
from sightline.make.review.stage import ReviewStage, review_benchmark

__all__ = ["Applied", "ReviewStage", "apply_reviews", "review_benchmark"]
