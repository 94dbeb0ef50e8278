"""What the blueprint says of the model's inputs, entered into the model: which integers they are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.build.artifact import Artifact
from brainsmith.close_names import did_you_mean
from brainsmith.errors import BlueprintError, BuildError
from brainsmith.graph.ends import input_values, numpy_type
from brainsmith.steps.cast_inputs import cast_inputs

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.blueprint.schema import InputDatatypes


def with_input_datatypes(source: Artifact, stated: InputDatatypes, file: str) -> Artifact:
    """Return a model whose inputs have the datatypes that the blueprint, or an argument of the build, states.

    An input of ONNX's integers that the network casts to floats has the datatype of its type.

    Args:
        source: The model; it is not changed.
        stated: May be empty.
        file: Of the model, for messages.

    Raises:
        BlueprintError: An input does not exist, or the model declares another datatype of it; all such problems.
        BuildError: The same, where no blueprint says so.
    """
    model = source.peek()
    stated_in = model.get_tensor_datatype
    entered = {name: kind for name, kind in cast_inputs(model).items() if not stated_in(name).is_integer()}
    if not stated.every and not stated.named and not entered:
        return source
    inputs = {value.name: value for value in input_values(model.graph)}
    faults = [(name, _unknown(name, list(inputs), file)) for name in stated.named if name not in inputs]
    for name, value in inputs.items():
        datatype = stated.named.get(name, stated.every)
        declared = _declared(model, value)
        if datatype and declared not in ("", datatype):
            where = name if name in stated.named else ""
            faults.append(
                (where, f"input '{name}' of {file} is declared as {declared} in the model, not {datatype}")
            )
        elif datatype:
            entered[name] = datatype
    _report(faults, stated)
    changed = Artifact(source.data).take()
    from qonnx.core.datatype import DataType

    for name, datatype in entered.items():
        changed.set_tensor_datatype(name, DataType[datatype])
    return Artifact.of(changed)


def _unknown(name: str, inputs: list[str], file: str) -> str:
    return (
        f"{file} has no input '{name}'{did_you_mean(name, inputs) or '; it has ' + ', '.join(inputs) + '.'}"
    )


def _declared(model: ModelWrapper, value: Any) -> str:
    """Return which integers the model says that an input is made of; empty if it says nothing of it."""
    datatype = model.get_tensor_datatype(value.name)
    if datatype.name != "FLOAT32":
        return str(datatype.name)
    kind = numpy_type(value)
    return {"bool": "BINARY"}.get(kind, "" if kind.startswith(("float", "bfloat")) else kind.upper())


def _report(faults: list[tuple[str, str]], stated: InputDatatypes) -> None:
    """Raise if there are faults; each is named with what it is about."""
    if not faults:
        return
    if stated.positions:
        raise BlueprintError(stated.positions[name].problem(f"inputs: {text}") for name, text in faults)
    raise BuildError("\n".join(f"input_datatype: {text}" for _, text in faults))
