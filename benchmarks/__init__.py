"""How fast and how small: `python -m benchmarks` measures and writes `capsedu/results/benchmarks.json`."""
