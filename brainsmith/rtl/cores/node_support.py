"""Whether a backend can implement a node, and why not."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Support:
    """What a backend's `supports(node)` returns; true where it can implement the node.

    Attributes:
        reason: Why it cannot, as the end of a sentence, such as `its input is FLOAT32, not integers`; empty if it can.
    """

    reason: str = ""

    def __bool__(self) -> bool:
        return not self.reason


SUPPORTED = Support()


def unsupported(reason: str) -> Support:
    """Say why a backend cannot implement a node."""
    if not reason:
        raise ValueError("a backend that does not support a node must say why")
    return Support(reason)
