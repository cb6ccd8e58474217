"""Which system is better, from as few of people's answers as possible. Numpy only.

- `pool`: what the systems returned, as pairs of query and picture with their weights in each score.
- `draws`: which pairs are asked about, by lot with known probabilities.
- `votes`: what people said of a pair, and who is asked next.
- `inquiry`: all sequences of draws for a goal, and when it is reached.
- `estimates`: scores and differences from the answers, with a judge's grades as a help.
- `betting`: intervals that hold at every moment.
"""

from sightline.metrics.assessment.betting import Bets, anytime_p, interval, log_wealth
from sightline.metrics.assessment.draws import DrawnPairs, Draws, side_sizes
from sightline.metrics.assessment.estimates import Assessed, assess_target, decided_draws, observations
from sightline.metrics.assessment.inquiry import Goal, Inquiry, Item
from sightline.metrics.assessment.pool import NOTHING, Places, RankedPool, discounts, encode
from sightline.metrics.assessment.votes import HIGHEST, Votes, agreement_of, gain, is_for, people_needed

__all__ = [
    "HIGHEST",
    "NOTHING",
    "Assessed",
    "Bets",
    "DrawnPairs",
    "Draws",
    "Goal",
    "Inquiry",
    "Item",
    "Places",
    "RankedPool",
    "Votes",
    "agreement_of",
    "anytime_p",
    "assess_target",
    "decided_draws",
    "discounts",
    "encode",
    "gain",
    "interval",
    "is_for",
    "log_wealth",
    "observations",
    "people_needed",
    "side_sizes",
]
