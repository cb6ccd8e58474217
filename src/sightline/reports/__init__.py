"""Reports and leaderboards: what was measured, with intervals, failures and costs, for people to read."""
