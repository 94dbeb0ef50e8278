"""What a rewritten model is, as plain data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from brainsmith.execution.onnx.guards import Guard
from brainsmith.execution.signature import ModelSignature, TensorSpec

if TYPE_CHECKING:
    from collections.abc import Mapping


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

    def to_plain(self) -> dict[str, Any]:
        """Return it as lists, strings, numbers and bytes."""
        return {
            "content": self.content,
            "signature": self.signature.to_plain(),
            "guards": [asdict(guard) for guard in self.guards],
            "tensors": [asdict(spec) for spec in self.tensors],
            "mixed": self.mixed,
            "run_bytes": self.run_bytes,
        }

    @classmethod
    def of_plain(cls, plain: Mapping[str, Any]) -> StandardModel:
        """Return what `to_plain` stands for."""
        return cls(
            ModelSignature.from_plain(plain["signature"]),
            plain["content"],
            tuple(Guard(**guard) for guard in plain["guards"]),
            tuple(TensorSpec(**{**spec, "shape": tuple(spec["shape"])}) for spec in plain["tensors"]),
            plain["mixed"],
            plain["run_bytes"],
        )
