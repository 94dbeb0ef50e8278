"""NoLayerError: why a node has no layer of integers, and what would help."""

from __future__ import annotations

from dataclasses import dataclass, replace

from brainsmith.errors import ModelError

OTHER_OPERATORS = (
    "put operators in its place that have layers (docs/your_model.md lists them), in the model or with a transform of "
    "your own before this step"
)


@dataclass(frozen=True)
class Reason:
    """Why something has no layer of integers.

    Attributes:
        text: Why, as the rest of a sentence about it.
        helps: What would change that.
    """

    text: str
    helps: str

    def behind(self, begin: str) -> Reason:
        """Return the same reason with another beginning of its sentence."""
        return replace(self, text=f"{begin}: {self.text}")

    def __str__(self) -> str:
        return f"{self.text}: {self.helps}"


NO_REASON = Reason("", "")
"""Of floats that nothing asks the reason of."""


class NoLayerError(ModelError):
    """There is no layer of integers for a node.

    Args:
        text: Why.
        helps: What would change that.

    Attributes:
        reason: Both.
    """

    def __init__(self, text: str, helps: str) -> None:
        self.reason = Reason(text, helps)
        super().__init__(str(self.reason))
