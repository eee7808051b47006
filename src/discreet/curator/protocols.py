"""Interfaces of the curator: tapes that record for the audit, and how an answer is stored."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.curator.choice import Choice
from discreet.curator.minimum import Minimum
from discreet.curator.noise import GridNoise, Integers
from discreet.privacy import Release
from discreet.rows import Picked


class Tape(Protocol):
    """Records releases for the replay audit: gets the exact sums, returns what is released."""

    def release(self, release: Release, noise: GridNoise, exact: Integers, noisy: Integers) -> Integers: ...

    def select(self, choice: Choice, picked: Picked) -> Picked: ...

    def minimise(self, minimum: Minimum, whole: Integers) -> Integers: ...

    def order(self, drawn: NDArray[np.intp]) -> NDArray[np.intp]: ...


Held = TypeVar("Held")
# Passes an answer to a tape, which returns what is released instead.
Hear = Callable[[Tape], Held]


@dataclass(frozen=True)
class Codec(Generic[Held]):
    """How an answer is written to a ledger and read back."""

    pack: Callable[[Held], dict[str, Any]]
    unpack: Callable[[dict[str, Any]], Held]


WHOLE: Codec[Integers] = Codec(
    lambda whole: {"whole": whole.tolist()}, lambda stored: np.array(stored["whole"], dtype=object)
)

listening: ContextVar[Tape | None] = ContextVar("listening", default=None)
