"""Where rows live: every engine sums a function over blocks of rows, and knows nothing else."""

from discreet.engines.memory import MemoryEngine

__all__ = ["MemoryEngine"]
