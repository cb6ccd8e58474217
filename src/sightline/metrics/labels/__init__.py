"""Labels with error rates, and scores that know them: people's decisions correct what judges said. Numpy only.

- `label_model`: several judges and people's decisions → each pair's probability, each judge's error rates.
- `calibration`: what a judge's confidence is worth, and a calibrator.
- `sampling`: which pairs people are asked about, with known probabilities.
- `targets`, `corrected`: metrics with generated labels, corrected by a drawn sample of decisions, with intervals.
- `coverage`: which share of the relevant pictures the pools hold.
- `shares`: label precision and other shares among drawn decisions.
"""
