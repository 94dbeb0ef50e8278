"""Whether inputs hold what the model's datatype annotations say of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brainsmith.execution.signature import ModelSignature
    from brainsmith.graph.array_types import Array


def refuse_outside(signature: ModelSignature, arrays: Mapping[str, Array]) -> None:
    """Refuse inputs that hold what their whole-numbered datatype does not.

    It costs a tenth of a call of one sample, so the targets that find such values themselves leave it to the runtime,
    which asks only when they failed. Where QONNX is set not to hold tensors to their annotations, nothing is refused.

    Args:
        signature: The model's.
        arrays: As `ModelSignature.checked` returns them.

    Raises:
        InputError: A value is outside, or farther from a whole number than QONNX takes for a float error; the message
            names input, datatype, value and index.
    """
    from qonnx.core.datatype import DataType
    from qonnx.util.basic import get_execution_error_thresh, get_sanitize_quant_tensors

    if not get_sanitize_quant_tensors():
        return
    for spec in signature.inputs:
        try:
            datatype = DataType[spec.datatype]
        except (KeyError, ValueError):  # a target's own word
            continue
        if datatype.is_integer():
            _refuse(spec.name, datatype, arrays[spec.name], get_execution_error_thresh())


def _refuse(name: str, datatype: Any, array: Array, threshold: float) -> None:
    low, high = datatype.min(), datatype.max()
    bipolar = datatype.name == "BIPOLAR"
    rounded = np.rint(array)
    with np.errstate(invalid="ignore"):  # infinity less infinity
        allowed = (np.abs(array - rounded) <= threshold) & (rounded >= low) & (rounded <= high)
    if bipolar:
        allowed &= rounded != 0
    if allowed.all():
        return
    at = tuple(int(index) for index in np.argwhere(~allowed)[0])
    values = "-1 or 1" if bipolar else f"whole numbers from {int(low)} to {int(high)}"
    where = f" at {list(at)}" if at else ""
    found = float(str(array[at]))  # as short as its own type allows: -3.7 of float32 is no -3.700000048
    raise InputError(
        f"input '{name}' must hold values of its datatype {datatype.name}, {values}, not {found:.10g}{where}"
    )
