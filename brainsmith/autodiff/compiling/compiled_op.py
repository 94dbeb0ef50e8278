"""Ops that run compiled: one op, or a chain of ops as one loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from brainsmith.autodiff.calls import as_arrays, as_op
from brainsmith.autodiff.compiling.chain_op import ChainOp
from brainsmith.autodiff.compiling.compiled import CompiledExpression
from brainsmith.autodiff.compiling.content_keys import content_key, op_key
from brainsmith.autodiff.compiling.expression import DTYPES
from brainsmith.autodiff.compiling.function_op import FunctionOp
from brainsmith.autodiff.compiling.numpy_form import error_bounds
from brainsmith.autodiff.compiling.ruled_forward import ruled_forward
from brainsmith.autodiff.compiling.tracer import trace
from brainsmith.autodiff.op import Array, Arrays, Dtypes, Op
from brainsmith.errors import OpError
from brainsmith.forks import cached_property

_DRAWN = 515
"""Elements of the inputs of a check: no multiple of a vector's length."""

_SAMPLES = 8
"""How often an op draws its own inputs for a check."""
_SHARED = (
    "version", "bundle", "num_inputs", "num_outputs", "attributes", "not_differentiable", "surrogate", "samples",
    "validate_inputs", "output_shape", "output_dtype", "output_device", "output_datatype", "output_datatype_for",
)  # fmt: skip
"""What a compiled op has of the op itself."""


def compile_op(op: Op | str | Callable[..., Any], *, name: str = "", check: bool = False) -> CompiledOp:
    """Compile an op whose forward is written in numpy, or a function of arrays.

    The result has the op's name, rules and gradient; its `backward` is compiled too where it can be traced. A call for
    which no loop can be made is computed by the op itself.

    Args:
        op: An op, the name of one, or a function: its positional parameters are the inputs, its keyword-only ones
            the attributes.
        name: The name of the compiled op; the op's own by default.
        check: Compare it with the op on drawn inputs.

    Raises:
        PluginNotFoundError: No op has this name.
        OpError: Its forward cannot be compiled, or the comparison fails.
        ToolError: There is no g++, or it fails.
    """
    compiled = CompiledOp(_as_python_op(op), name)
    compiled.expression  # noqa: B018  what cannot be compiled is reported here, not in a call
    if check:
        compiled.check()
    return compiled


def fuse(ops: Sequence[Op | str | Callable[..., Any]], *, name: str = "", check: bool = False) -> CompiledOp:
    """Compile a chain of ops to one op of one loop.

    Each op takes the output of the one before as its first input; its further inputs become inputs of the chain, in
    order. The gradient is that of the chain.

    Args:
        ops: Ops of one output, as for `compile_op`.
        name: Of the chain; the names of its ops, joined by default.
        check: As for `compile_op`.

    Raises:
        OpError: There are none, one has several outputs, or one cannot be compiled.
    """
    links = [_as_python_op(op) for op in ops]
    if not links:
        raise OpError("a chain must have one operation or more")
    for link in links:
        if link.num_outputs != 1:
            raise OpError(f"operations of a chain must have one output; {link.name!r} has {link.num_outputs}")
    return compile_op(ChainOp(links), name=name, check=check)


def _as_python_op(op: Op | str | Callable[..., Any]) -> Op:
    found = as_op(op)
    if isinstance(found, CompiledOp):
        return found.op
    return found if isinstance(found, Op) else FunctionOp(found)


class CompiledOp(Op):
    """An op of which forward, and backward where it can be traced, run compiled.

    Attributes:
        op: The op in Python.
        is_compiled: True.
    """

    is_compiled = True

    def __init__(self, op: Op, name: str = "") -> None:
        self.op, self.name = op, name or op.name
        for shared in _SHARED:
            setattr(self, shared, getattr(op, shared))
        self._forwards: dict[Any, CompiledExpression] = {}
        self._backwards: dict[Any, CompiledExpression | None] = {}

    @cached_property
    def expression(self) -> CompiledExpression:
        """What the op computes of float32, with its default attributes."""
        return self._forward_of((np.dtype(np.float32),) * self.num_inputs, dict(self.attributes))

    @property
    def source(self) -> str:
        """The C++ for contiguous arrays of float32 of one shape."""
        plan = self.expression.plan([np.ones((2, 3), np.float32)] * self.num_inputs)
        if plan is None:
            raise OpError(f"operation {self.name!r} has no compiled form for arrays of one shape of float32")
        return plan.source

    @property
    def ulps(self) -> int:
        """How many ulps each of its functions may be away from numpy's, in float32; see `error_bound`."""
        return self.expression.ulps

    def error_bound(self, *inputs: Any, **attributes: Any) -> Any:
        """Return by how much each element may differ from the Python form: float64 of the output's shape.

        The ulps of each function, and what later functions make of them: subtracting two near values leaves of an ulp of
        them many ulps of the difference.
        """
        arrays = as_arrays(self, inputs)
        dtypes = tuple(array.dtype for array in arrays)
        expression = self._forward_of(dtypes, {**self.attributes, **attributes}).expression
        found = error_bounds(expression, arrays)
        return found if self.num_outputs > 1 else found[0]

    def forward(self, *inputs: Array, **attributes: Any) -> Any:
        """Compute the output in one loop; for dtypes without one in C++, and shapes that it would change, as the op."""
        if any(array.dtype.name not in DTYPES for array in inputs) or self._drops_axes(inputs, attributes):
            return ruled_forward(self.op, attributes)(*inputs)
        return self._forward_of(tuple(array.dtype for array in inputs), attributes)(*inputs)

    def _drops_axes(self, inputs: Arrays, attributes: dict[str, Any]) -> bool:
        """Tell whether the op takes one element of more axes than its output has as a number; a loop would broadcast."""
        most = max(array.ndim for array in inputs)
        if self.num_outputs > 1 or most <= inputs[0].ndim:
            return False
        return len(self.op.output_shape([array.shape for array in inputs], **attributes)) < most

    @property
    def has_gradient(self) -> bool:
        """Whether the op has one."""
        return self.op.has_gradient

    def backward(self, grad_output: Any, inputs: Arrays, output: Any, **attributes: Any) -> Any:
        """Compute the gradients in one loop where the op's backward can be traced, else as the op does."""
        grads = grad_output if self.num_outputs > 1 else (grad_output,)
        outputs = output if self.num_outputs > 1 else (output,)
        given = [np.asarray(one) for one in (*grads, *inputs, *outputs)]
        dtypes = tuple(array.dtype for array in given)
        key = (dtypes, content_key(attributes), op_key(self.op))
        if key not in self._backwards:
            self._backwards[key] = self._traced_backward(dtypes, attributes)
        compiled = self._backwards[key]
        if compiled is None:
            return self.op.backward(grad_output, inputs, output, **attributes)
        found = iter(compiled(*given) if len(compiled.expression.outputs) > 1 else (compiled(*given),))
        wanted = [at not in self.not_differentiable for at in range(self.num_inputs)]
        return tuple(next(found) if want else None for want in wanted)

    def check(self) -> None:
        """Compare with the op on drawn inputs: its own samples, else of a normal distribution and their absolute values.

        Raises:
            OpError: They differ by more than the stated bound.
        """
        for inputs in self._drawn():
            with np.errstate(all="ignore"):
                wanted = ruled_forward(self.op, self.attributes)(*inputs)
                found, bound = self.forward(*inputs, **self.attributes), self.error_bound(*inputs)
            if self.num_outputs == 1:
                found, wanted, bound = (found,), (wanted,), (bound,)
            for one, other, most in zip(found, wanted, bound, strict=True):
                self._compare(np.asarray(one), np.asarray(other), most)

    def _drawn(self) -> list[list[Array]]:
        random = np.random.default_rng(0)
        if self.op.samples(random) is not None:
            drawn = [self.op.samples(random) or () for _ in range(_SAMPLES)]
            return [[np.asarray(value, np.float32) for value in inputs] for inputs in drawn]
        normal = random.standard_normal((self.num_inputs, _DRAWN)).astype(np.float32)
        return [list(normal), list(np.abs(normal))]

    def _compare(self, found: Array, wanted: Array, bound: Array) -> None:
        with np.errstate(invalid="ignore"):
            away = np.abs(found.astype(np.float64) - wanted)
        wrong = ~((away <= bound) | (found == wanted) | (np.isnan(found) & np.isnan(wanted)))
        if wrong.any():
            at = tuple(int(one) for one in np.argwhere(wrong)[0])
            raise OpError(
                f"operation {self.name!r} compiled gives {found[at]} at {at} where it gives {wanted[at]} in Python; "
                f"they may differ by {bound[at]:.3g}"
            )

    def _forward_of(
        self, dtypes: tuple[np.dtype[Any], ...], attributes: dict[str, Any]
    ) -> CompiledExpression:
        key = (dtypes, content_key(attributes), op_key(self.op))
        if key not in self._forwards:
            expression = trace(ruled_forward(self.op, attributes), dtypes, self.name)
            self._forwards[key] = CompiledExpression(expression, self.name)
        return self._forwards[key]

    def _traced_backward(self, dtypes: Dtypes, attributes: dict[str, Any]) -> CompiledExpression | None:
        several, outputs = self.num_outputs > 1, self.num_outputs

        def gradients(*given: Any) -> Any:
            grads, inputs, made = given[:outputs], given[outputs:-outputs], given[-outputs:]
            found = self.op.backward(
                grads if several else grads[0], inputs, made if several else made[0], **attributes
            )
            found = found if isinstance(found, tuple | list) else (found,)
            return tuple(one for at, one in enumerate(found) if at not in self.not_differentiable)

        try:
            expression = trace(gradients, dtypes, self.name)
        except (OpError, TypeError, ValueError):
            return None
        wanted = self.num_inputs - len(self.not_differentiable)
        return CompiledExpression(expression, self.name) if len(expression.outputs) == wanted else None
