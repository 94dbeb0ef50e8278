"""A model between two steps: its bytes, their digest, and the graph when somebody needs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.store.fingerprint import digest

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper


class Artifact:
    """One model, immutable: a step gets a graph of its own, so it cannot change what came before it.

    Attributes:
        data: The serialised ONNX model; the same graph always gives the same bytes.
        digest: BLAKE2b of `data`, in hexadecimal; part of the cache's keys.
    """

    def __init__(self, data: bytes, wrapper: ModelWrapper | None = None) -> None:
        self.data = data
        self.digest = digest(data)
        self._wrapper = wrapper

    @classmethod
    def of(cls, wrapper: ModelWrapper) -> Artifact:
        """Serialise a model, deterministically, and keep its graph for the next step."""
        return cls(wrapper.model.SerializeToString(deterministic=True), wrapper)

    def peek(self) -> ModelWrapper:
        """Return the graph for reading only."""
        if self._wrapper is None:
            self._wrapper = self._parse()
        return self._wrapper

    def take(self) -> ModelWrapper:
        """Return a graph that the caller may change; this artifact forgets it."""
        wrapper, self._wrapper = self._wrapper, None
        return wrapper if wrapper is not None else self._parse()

    def _parse(self) -> ModelWrapper:
        from qonnx.core.modelwrapper import ModelWrapper

        return ModelWrapper(self.data)
