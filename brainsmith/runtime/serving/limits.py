"""How much a server does at once, and for how long."""

from __future__ import annotations

import math
from dataclasses import dataclass

from brainsmith.errors import UsageError

MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Limits:
    """What one request may take, and how many are worked on at once.

    Attributes:
        megabytes: Of the body of a request.
        seconds: From its head to the answer; and how long a connection may be idle.
        requests: How many are worked on at once; others wait, within their time. Of all that are read or wait, the bodies
            have together at most as many bytes as this many of the longest.
        connections: How many clients may be connected; further ones are sent away.

    Raises:
        UsageError: A limit is not above 0.
    """

    megabytes: float = 64.0
    seconds: float = 30.0
    requests: int = 4
    connections: int = 64

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not 0 < value < math.inf:
                raise UsageError(f"the limit of {name} must be a number above 0, not {value!r}")

    @property
    def body_bytes(self) -> int:
        """The longest body."""
        return int(self.megabytes * MEGABYTE)

    @property
    def read_bytes(self) -> int:
        """How many bytes the bodies have together that are read, or wait to be worked on."""
        return self.requests * self.body_bytes
