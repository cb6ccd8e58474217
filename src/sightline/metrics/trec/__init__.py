"""TREC files scored straight from disk, by trec_eval's rules."""

from sightline.metrics.trec.files import TrecQrels, TrecRun, read_qrels, read_run
from sightline.metrics.trec.scoring import TrecScores, score_trec

__all__ = ["TrecQrels", "TrecRun", "TrecScores", "read_qrels", "read_run", "score_trec"]
