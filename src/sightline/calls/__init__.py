"""Calls that are paid for: journal, budget, rate limits, retry, circuit breaker, prices, plan, batches."""
