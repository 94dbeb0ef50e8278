"""What --input holds, as a model's inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.cli.array_options import load_arrays, named_arrays
from brainsmith.errors import InputError, TargetError, UsageError

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from brainsmith.execution.signature import ModelSignature, TensorSpec


class Inputs:
    """The arrays of a file, read once, before anything that takes long.

    Args:
        name: Of the file.

    Raises:
        UsageError: It cannot be read.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._arrays = load_arrays(name)

    def check(self, model: str) -> None:
        """Refuse what cannot be the input of a model.

        Args:
            model: The path of an .onnx file.

        Raises:
            ModelError: It cannot be read.
            UsageError: The file holds other arrays, or values that an input's type does not.
            InputError: An array has a wrong shape.
        """
        from brainsmith.execution.model_signature import signature_of
        from brainsmith.execution.read_model import read_model

        signature = signature_of(read_model(model))
        signature.checked(self.feed("", signature))

    def feed(self, device: str, signature: ModelSignature | None) -> dict[str, NDArray[Any]]:
        """Return a model's inputs by name, in the types that it takes.

        Args:
            device: Whose signature it is.
            signature: What its target states.

        Raises:
            UsageError: The file holds other arrays, or values that an input's type does not.
            TargetError: The target does not say what the inputs are.
        """
        if signature is None:
            raise TargetError(f"target '{device}' does not say what the model's inputs are")
        arrays = named_arrays(self.name, self._arrays, [spec.name for spec in signature.inputs])
        return {spec.name: _typed(self.name, spec, arrays[spec.name]) for spec in signature.inputs}


def _typed(file: str, spec: TensorSpec, array: NDArray[Any]) -> NDArray[Any]:
    try:
        return spec.of_type(array, f"--input: {file}")
    except InputError as error:
        raise UsageError(str(error)) from error
