"""The local app: pictures, search, benchmarks, review and runs in a browser."""
