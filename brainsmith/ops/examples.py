"""Five example ops with true gradients, made with CustomOpBuilder: swish, gelu, power, layer_norm and mish.

They are ops only after `register_example_custom_ops()`: no decorator stands here, so discovery does not list them.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.autodiff.builder import CustomOpBuilder
from brainsmith.autodiff.op_registry import register_custom_op, unregister_custom_op
from brainsmith.autodiff.primitives.elementwise import POW, sigmoid
from brainsmith.autodiff.primitives.normalisations import LAYER_NORM
from brainsmith.autodiff.special import erf
from brainsmith.errors import DuplicatePluginError, OpError
from brainsmith.forks import lock_of
from brainsmith.ops.quantiser import float_of_first
from brainsmith.plugin.core import get_registry
from brainsmith.plugin.plugin_registry import REGISTRY
from brainsmith.plugin.precedence import ADAPTED, OURS

if TYPE_CHECKING:
    from collections.abc import Callable

    from brainsmith.autodiff.builder import BuiltOp
    from brainsmith.autodiff.op import Array

EPSILON = 1e-5
"""What layer_norm adds to the variance."""

_LOWEST = -60000.0
"""Below it swish, gelu and mish are 0 in every dtype; float16 holds it. It stands for -inf, which times 0 is NaN."""


def register_example_custom_ops() -> None:
    """Register swish, gelu, power, layer_norm and mish: all of them or none; a second call changes nothing.

    Raises:
        DuplicatePluginError: Another op has one of the names, or a bundle registered the examples as its own.
    """
    registered: list[str] = []
    with _registering:
        try:
            for make in (swish, gelu, power, layer_norm, mish):
                op = make()
                if not _is_registered(op.name):
                    _refuse_if_of_bundle(op.name)
                    register_custom_op(op)
                    registered.append(op.name)
        except BaseException:  # all or none, also where it is interrupted
            for name in registered:
                unregister_custom_op(name)
            raise


_registering = lock_of(waits=False)
"""Held from asking whether an example is registered to registering it."""


def _is_registered(name: str) -> bool:
    """Tell whether this very example has its name already; another op of the name is left to clash."""
    mine = f"{__name__}:{name}"
    return any(
        info.name == name and info.reference == mine and REGISTRY.is_loaded(info)
        for info in get_registry().records("op")
        if info.framework not in ADAPTED
    )


def _refuse_if_of_bundle(name: str) -> None:
    """Say whose an example is that was registered while a bundle was being loaded."""
    for info in get_registry().records("op"):
        if info.name == name and info.framework not in (*ADAPTED, *OURS) and info.origin.startswith(__file__):
            raise DuplicatePluginError(
                f"the example op {name!r} belongs to the bundle {info.framework!r}, which registered it; use it as it "
                "is, or unload the bundle first"
            )


def swish() -> BuiltOp:
    """Return x * sigmoid(x), also called SiLU."""

    def derivative(x: Array) -> Any:
        gate = sigmoid(x)
        return gate * (1 + np.clip(x, _LOWEST, -_LOWEST) * (1 - gate))

    return _elementwise("swish", lambda x: _bounded(x) * sigmoid(x), derivative)


def gelu() -> BuiltOp:
    """Return x * Phi(x), Phi being the normal distribution, by erf (Hendrycks and Gimpel, arXiv:1606.08415)."""

    def distribution(x: Array) -> Any:
        return 0.5 * (1 + erf(x * math.sqrt(0.5)))

    def derivative(x: Array) -> Array:
        near = np.clip(x, -40, 40)
        density = np.exp(-0.5 * near * near) / math.sqrt(2 * math.pi)
        return np.asarray(distribution(x) + near * density)

    return _elementwise("gelu", lambda x: _bounded(x) * distribution(x), derivative)


def mish() -> BuiltOp:
    """Return x * tanh(log(1 + exp(x))) (Misra, arXiv:1908.08681)."""

    def gate(x: Any) -> Any:
        small = np.exp(-np.abs(x))
        share = np.where(x >= 0, 1 + 2 * small, small * (small + 2))
        return share / (share + 2 * np.where(x >= 0, small * small, 1))

    def derivative(x: Array) -> Any:
        level = gate(x)
        return level + np.clip(x, _LOWEST, -_LOWEST) * (1 - level * level) * sigmoid(x)

    return _elementwise("mish", lambda x: _bounded(x) * gate(x), derivative)


def power() -> BuiltOp:
    """Return base ** exponent, with numpy's broadcasting, and both gradients.

    Where the base is 0, the gradient for the exponent is 0 (the limit, for positive exponents), and with the exponent
    0 that for the base is 0. A negative base has none for the exponent: it is NaN there.
    """

    def backward(
        grad: Array, ids: Any, shapes: Any, dtypes: Any, devices: Any, inputs: Any, output: Any
    ) -> Any:
        with np.errstate(all="ignore"):
            return {key: POW.gradient(at, grad, inputs, output) for at, key in enumerate(ids)}

    def forward(inputs: list[Array]) -> Any:
        with np.errstate(all="ignore"):
            return np.power(*inputs)

    def validate(inputs: list[Array]) -> None:
        base, exponent = (array.shape for array in inputs)
        try:
            np.broadcast_shapes(base, exponent)
        except ValueError:
            raise OpError(f"Operation 'power' cannot broadcast shapes {base} and {exponent}") from None

    def samples(random: np.random.Generator) -> list[Array]:
        return [random.uniform(0.3, 3, (2, 3)), random.normal(0, 2, (3,))]

    return (
        CustomOpBuilder("power", 2)
        .forward(forward)
        .backward(backward)
        .validate(validate)
        .output_shape(lambda shapes: np.broadcast_shapes(*shapes))
        .output_dtype(lambda dtypes: np.result_type(*dtypes))
        .samples(samples)
        .build()
    )


def layer_norm() -> BuiltOp:
    """Return (x - mean) / sqrt(variance + 1e-5) * scale + bias over the last axis, and the gradients of all three.

    Scale and bias are broadcast: one element, or as many as the last axis has.
    """

    def forward(inputs: list[Array]) -> Any:
        return LAYER_NORM.forward(inputs[0].astype(np.float64), *inputs[1:], epsilon=EPSILON)

    def backward(grad: Array, ids: Any, shapes: Any, dtypes: Any, devices: Any, inputs: Any) -> Any:
        wide = [inputs[0].astype(np.float64), *inputs[1:]]
        return {key: LAYER_NORM.gradient(at, grad, wide, grad, epsilon=EPSILON) for at, key in enumerate(ids)}

    def validate(inputs: list[Array]) -> None:
        x = inputs[0]
        if not x.ndim or not x.shape[-1]:
            raise OpError(f"Operation 'layer_norm' needs elements on the last axis, not shape {x.shape}")
        for what, given in zip(("scale", "bias"), inputs[1:], strict=True):
            if given.shape not in ((), (1,), x.shape[-1:]):
                raise OpError(
                    f"Operation 'layer_norm' takes a {what} of one element or of {x.shape[-1]}, as the last axis has, "
                    f"not of shape {given.shape}"
                )

    def samples(random: np.random.Generator) -> list[Array]:
        size = int(random.integers(2, 6))
        parameters = [random.normal(1, 0.5, (shared or size,)) for shared in random.integers(0, 2, 2)]
        return [random.normal(0, 1.5, (2, 3, size)), *parameters]

    return (
        CustomOpBuilder("layer_norm", 3)
        .forward(forward)
        .backward(backward)
        .validate(validate)
        .output_dtype(float_of_first)
        .samples(samples)
        .build()
    )


def _elementwise(name: str, function: Callable[[Any], Any], derivative: Callable[[Array], Any]) -> BuiltOp:
    return (
        CustomOpBuilder(name, 1)
        .forward(lambda inputs: function(_as_float(inputs[0])))
        .backward(lambda grad, ids, shapes, dtypes, devices, inputs: {ids[0]: grad * derivative(inputs[0])})
        .output_dtype(float_of_first)
        .build()
    )


def _as_float(x: Any) -> Any:
    """Convert integers, whose own negative or absolute value may overflow; what is traced has floats."""
    return x.astype(float_of_first([x.dtype])) if isinstance(x, np.ndarray) and x.dtype.kind != "f" else x


def _bounded(x: Any) -> Any:
    return np.maximum(x, _LOWEST)
