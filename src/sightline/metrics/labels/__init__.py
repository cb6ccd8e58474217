"""Labels with error rates, and scores that know them: people's decisions correct what judges said. Numpy only.

- `calibration`: what a judge's confidence is worth.
- `targets`, `corrected`: metrics with generated labels, corrected by a drawn sample of decisions, with intervals.
- `shares`: label precision and other shares among drawn decisions.
"""
