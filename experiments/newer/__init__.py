"""Newer methods than the five papers', on one benchmark with the default fit: docs/papers/newer.md."""
