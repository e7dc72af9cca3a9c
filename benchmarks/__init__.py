"""Benchmarks and the soak test: the source of the figures in docs/performance.md."""
