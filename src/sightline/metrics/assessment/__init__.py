"""Which system is better, from as few of people's answers as possible. Numpy only.

- `pool`: what the systems returned, as pairs of query and picture with their weights in each score.
- `draws`: which pairs are asked about, by lot with known probabilities.
- `votes`: what people said of a pair, and who is asked next.
- `estimates`: a score or a difference from the answers, with a judge's grades as a help.
- `betting`: intervals that hold at every moment.
- `inquiry`: all of it for a goal: what to ask next, what is known, and whether that is enough.
"""
