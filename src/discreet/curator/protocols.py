"""What the curator works with: tapes that listen, and how an answer is kept."""

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
    """Listens at the door for the replay audit: gets the exact sums, says what is released."""

    def release(self, release: Release, noise: GridNoise, exact: Integers, noisy: Integers) -> Integers: ...

    def select(self, choice: Choice, picked: Picked) -> Picked: ...

    def minimise(self, minimum: Minimum, whole: Integers) -> Integers: ...

    def order(self, drawn: NDArray[np.intp]) -> NDArray[np.intp]: ...


Held = TypeVar("Held")
# How an answer is heard by a tape, which says what is released in its place.
Hear = Callable[[Tape], Held]


@dataclass(frozen=True)
class Codec(Generic[Held]):
    """How an answer is kept in a ledger, and read from there."""

    pack: Callable[[Held], dict[str, Any]]
    unpack: Callable[[dict[str, Any]], Held]


WHOLE: Codec[Integers] = Codec(
    lambda whole: {"whole": whole.tolist()}, lambda stored: np.array(stored["whole"], dtype=object)
)

listening: ContextVar[Tape | None] = ContextVar("listening", default=None)
