"""The base class of targets that make something of a whole model: a program, a session."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from brainsmith.errors import BrainsmithError
from brainsmith.plugin.core import get_registry
from brainsmith.runtime.model_resources import why_no_model
from brainsmith.runtime.resource_content import content_of
from brainsmith.runtime.target import ProcessorTarget

if TYPE_CHECKING:
    from collections.abc import Hashable


class ModelTarget(ProcessorTarget):
    """Executes what it makes of a model; what it made to say whether it supports one, it has for preparing that."""

    def __init__(self, device_id: int = 0) -> None:
        super().__init__(device_id)
        self._made: dict[Hashable, Any] = {}
        self._refused: dict[tuple[str, int], str] = {}

    @abstractmethod
    def make(self, resource: Any, content: str, **choices: Any) -> Any:
        """Make of a model what is executed.

        Args:
            resource: The path of an .onnx file, its bytes, or a ModelWrapper.
            content: Stands for its content.
            **choices: As `made` is given them; none, to find out whether it is supported.

        Raises:
            BrainsmithError: It cannot be executed.
        """

    def supports(self, resource: Any) -> str:
        """Return why a model cannot be executed; the first answer costs as much as preparing, which it saves then."""
        if problem := why_no_model(resource):
            return problem
        refusal = (
            content_of(resource),
            get_registry().generation,
        )  # an operator that comes later may be executed
        if refusal not in self._refused:
            try:
                self.try_out(resource, refusal[0])
            except BrainsmithError as error:
                self._refused = {key: why for key, why in self._refused.items() if key[1] == refusal[1]}
                self._refused[refusal] = str(error)
        return self._refused.get(refusal, "")

    def try_out(self, resource: Any, content: str) -> None:
        """Make of a model what is executed, for the next one that is prepared.

        Raises:
            BrainsmithError: It cannot be executed.
        """
        self._made = {self._key(content, {}): self._take(resource, content, {})}

    def made(self, resource: Any, **choices: Any) -> Any:
        """Return what was made of a model, or make it; only the next that is prepared gets what was made."""
        return self._take(resource, content_of(resource), choices)

    def _take(self, resource: Any, content: str, choices: dict[str, Any]) -> Any:
        return self._made.pop(self._key(content, choices), None) or self.make(resource, content, **choices)

    @staticmethod
    def _key(content: str, choices: dict[str, Any]) -> Hashable:
        """Return what stands for what is made in this process, whose operators may be those of plugins."""
        return content, tuple(choices.items()), get_registry().redefinitions
