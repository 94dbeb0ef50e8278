"""Which functions of arrays can be part of one loop: elementwise numpy code that looks at no value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.autodiff.builder import BuiltOp
from brainsmith.autodiff.compiling.functions import FUNCTIONS
from brainsmith.autodiff.compiling.tracer import trace
from brainsmith.autodiff.op import Op
from brainsmith.errors import OpError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def is_elementwise(function: Callable[..., Any], dtypes: Sequence[Any], name: str) -> bool:
    """Tell whether a function can be traced, reduces no axis, and gives one array.

    Args:
        function: Of arrays.
        dtypes: Of these.
        name: How it is called.
    """
    try:
        expression = trace(function, dtypes, name)
    except (OpError, TypeError, ValueError, AttributeError, LookupError):
        return False
    reduces = any(FUNCTIONS[step.function].reduces for step in expression.steps)
    return not reduces and len(expression.outputs) == 1


def looks_at_values(op: Op) -> bool:
    """Tell whether an op validates its inputs: as a part of a loop it would not see them."""
    if isinstance(op, BuiltOp):
        return "validate" in op.functions
    return type(op).validate_inputs is not Op.validate_inputs
