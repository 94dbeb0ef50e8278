"""What a rewritten model is, as plain data."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Any

from brainsmith.execution.onnx.guards import Guard
from brainsmith.execution.signature import ModelSignature, TensorSpec


@dataclass(frozen=True)
class StandardModel:
    """A model of standard ONNX operators only.

    Attributes:
        signature: Inputs and outputs, for one run.
        content: The ONNX file.
        guards: What is to be checked in every run.
        tensors: All tensors that depend on the inputs and have the original model's names, in its order.
        mixed: Why it takes one run at a time; empty if it takes any number in the first axis.
        run_bytes: Sum of the sizes of all these tensors of one run, so that memory can be bounded.
    """

    signature: ModelSignature
    content: bytes
    guards: tuple[Guard, ...]
    tensors: tuple[TensorSpec, ...]
    mixed: str
    run_bytes: int

    def to_plain(self) -> tuple[Any, ...]:
        """Return it as tuples, strings, numbers and bytes."""
        specs = (*map(astuple, self.guards),), (*map(astuple, self.tensors),)
        return self.signature.to_plain(), self.content, *specs, self.mixed, self.run_bytes

    @classmethod
    def of_plain(cls, plain: tuple[Any, ...]) -> StandardModel:
        """Return what `to_plain` stands for."""
        signature, content, guards, tensors, *rest = plain
        guards, tensors = tuple(Guard(*each) for each in guards), tuple(TensorSpec(*each) for each in tensors)
        return cls(ModelSignature.from_plain(signature), content, guards, tensors, *rest)
