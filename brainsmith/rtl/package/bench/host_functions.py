"""What the host computes before the accelerator and after it, as `host.json` lists it; needs numpy alone.

    from host import HostFunctions

    host = HostFunctions()                                  # reads the host.json beside this file
    streams = host.before(images)                  # by stream: (frames, *shape of one), whole numbers
    results = host.behind({"m_axis_0": received})  # by output of the network: (frames, *shape of one)

Every operator computes in float32 and rounds as the network does; in float64, and with one rounding at the end, where the
accelerator gives integers beyond 2^24, which float32 does not hold. Operators that `host.json` lists under `inexact`
(Sigmoid, Softmax and the like) depend on the library that computes their exponentials, in the last bits.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

FORMAT = 1


class HostFunctions:
    """The host's part of one network.

    Args:
        file: The description; `host.json` beside this file by default.
    """

    def __init__(self, file: str | Path | None = None) -> None:
        path = Path(__file__).with_name("host.json") if file is None else Path(file)
        self.description: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if self.description["format"] != FORMAT:
            raise ValueError(f"{path} has the format {self.description['format']}, and {FORMAT} is expected")
        self._constants = {
            name: np.asarray(one["values"], one["dtype"]).reshape(one["shape"])
            for name, one in self.description["constants"].items()
        }

    def before(self, inputs: Any) -> dict[str, np.ndarray[Any, Any]]:
        """Return what the accelerator takes, by stream: (frames, *shape of one), whole numbers.

        Args:
            inputs: Of the network, by name: (frames, *shape of one); of a network with one input the array alone.
        """
        values = self._front(inputs)
        return {
            one["stream"]: _whole(values[one["tensor"]], one)
            for one in self.description["accelerator"]["inputs"]
        }

    def behind(self, streams: Any, inputs: Any = None) -> dict[str, np.ndarray[Any, Any]]:
        """Return the network's outputs by name: (frames, *shape of one).

        Args:
            streams: What the accelerator gave, by stream: (frames, *shape of one).
            inputs: Of the network, as `before` takes them; needed only where `host.json` lists tensors as `handed`, which
                operators after the accelerator read and it does not give.
        """
        handed = self.description["handed"]
        if handed and inputs is None:
            raise ValueError(
                f"operators after the accelerator read {', '.join(handed)}: give the network's inputs, too"
            )
        values = self._front(inputs) if handed else {}
        for one in self.description["accelerator"]["outputs"]:
            given = np.asarray(streams[one["stream"]])
            wide = max(map(abs, one["range"])) > 1 << 24  # which float32 does not hold
            kind = np.float64 if wide else np.float32
            values[one["tensor"]] = given.reshape(len(given), *one["tensor_shape"]).astype(kind)
        values = self._computed(self.description["behind"], values)
        return {one["name"]: values[one["tensor"]] for one in self.description["outputs"]}

    def _front(self, inputs: Any) -> dict[str, np.ndarray[Any, Any]]:
        """Return all values before the accelerator."""
        wanted = self.description["inputs"]
        if not isinstance(inputs, dict):
            if len(wanted) != 1:
                raise ValueError(f"give the inputs by name: {', '.join(one['name'] for one in wanted)}")
            inputs = {wanted[0]["name"]: inputs}
        values = {}
        for one in wanted:
            given = np.asarray(inputs[one["name"]])
            values[one["tensor"]] = given.reshape(len(given), *one["shape"]).astype(np.float32)
        return self._computed(self.description["before"], values)

    def _computed(self, nodes: list[dict[str, Any]], values: dict[str, Any]) -> dict[str, Any]:
        frames = max((len(value) for value in values.values()), default=0)
        for node in nodes:
            function = _FUNCTIONS.get(node["operator"])
            if function is None:
                raise NotImplementedError(
                    f"host.py does not compute {node['operator']}: run intermediate_models/dataflow_parent.onnx, which the "
                    "build left"
                )
            results: list[Any] = []
            for frame in range(frames):
                operands = [
                    None
                    if not name
                    else self._constants[name]
                    if name in self._constants
                    else values[name][frame]
                    for name in node["inputs"]
                ]
                found = function(node["attributes"], *operands)
                results.append(found if isinstance(found, tuple) else (found,))
            for at, name in enumerate(node["outputs"]):
                if name:
                    values[name] = np.stack([np.asarray(found[at]) for found in results])
        return values


def quantised(attributes: dict[str, Any], x: Any, scale: Any, zero_point: Any, bits: Any) -> Any:
    """Return what a Quant of QONNX gives: it divides, limits, rounds, and multiplies again."""
    signed, narrow, bits = (
        int(attributes.get("signed", 1)),
        int(attributes.get("narrow", 0)),
        float(bits.item()),
    )
    most = 2.0 ** (bits - signed) - 1 - (1 - signed) * narrow
    least = signed * (-(2.0 ** (bits - 1)) + narrow)
    levels = x / scale + zero_point
    if bits == 1 and signed:
        levels = np.where(levels >= 0, np.float32(1), np.float32(-1))
    else:
        levels = ROUNDING[str(attributes.get("rounding_mode", "ROUND")).upper()](
            np.clip(levels, np.float32(least), np.float32(most))
        )
    return (levels - zero_point) * scale


ROUNDING: dict[str, Any] = {
    "ROUND": np.round,
    "HALF_EVEN": np.round,
    "CEIL": np.ceil,
    "FLOOR": np.floor,
    "UP": lambda x: np.sign(x) * np.ceil(np.abs(x)),
    "DOWN": np.trunc,
    "HALF_UP": lambda x: np.sign(x) * np.floor(np.abs(x) + np.float32(0.5)),
    "HALF_DOWN": lambda x: np.sign(x) * np.ceil(np.abs(x) - np.float32(0.5)),
}
"""What each rounding mode of QONNX computes; numpy's `round` takes ties to even."""


def _whole(values: Any, stream: dict[str, Any]) -> Any:
    """Return what a stream takes; whatever it cannot carry is an error."""
    low, high = stream["range"]
    wrong = ~((values == np.rint(values)) & (values >= low) & (values <= high))
    if wrong.any():
        at = tuple(int(index) for index in np.argwhere(wrong)[0])
        raise ValueError(
            f"{stream['stream']} takes whole numbers from {low} to {high}, not {values[at]} at {list(at)}"
        )
    return values.reshape(len(values), *stream["shape"]).astype(stream["dtype"])


def _batch_normalised(
    attributes: dict[str, Any], x: Any, gamma: Any, beta: Any, mean: Any, variance: Any
) -> Any:
    factor = gamma / np.sqrt(variance + np.float32(attributes.get("epsilon", 1e-5)))
    ones = (1,) * (x.ndim - 2)
    return x * factor.reshape(-1, *ones) + (beta - mean * factor).reshape(-1, *ones)


def _clipped(attributes: dict[str, Any], x: Any, low: Any = None, high: Any = None) -> Any:
    low = attributes.get("min", -np.inf) if low is None else low
    high = attributes.get("max", np.inf) if high is None else high
    return np.clip(x, np.float32(low), np.float32(high))


def _reshaped(attributes: dict[str, Any], x: Any, shape: Any) -> Any:
    return x.reshape([x.shape[at] if size == 0 else int(size) for at, size in enumerate(shape)])


def _flattened(attributes: dict[str, Any], x: Any) -> Any:
    axis = int(attributes.get("axis", 1))
    return x.reshape(int(np.prod(x.shape[: axis if axis >= 0 else axis + x.ndim])), -1)


def _squeezed(attributes: dict[str, Any], x: Any, axes: Any = None) -> Any:
    axes = attributes.get("axes") if axes is None else axes
    return np.squeeze(x, None if axes is None else tuple(int(axis) for axis in axes))


def _unsqueezed(attributes: dict[str, Any], x: Any, axes: Any = None) -> Any:
    axes = attributes["axes"] if axes is None else axes
    return np.expand_dims(x, tuple(int(axis) for axis in axes))


def _softmax(attributes: dict[str, Any], x: Any) -> Any:
    axis = int(attributes.get("axis", -1))
    powers = np.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def _largest(attributes: dict[str, Any], x: Any, count: Any) -> tuple[Any, Any]:
    """Return the largest values, or the smallest, and their places; of equal ones the first."""
    axis, count = int(attributes.get("axis", -1)), int(np.asarray(count).reshape(-1)[0])
    order = np.argsort(-x if attributes.get("largest", 1) else x, axis=axis, kind="stable")
    places = np.take(order, range(count), axis)
    return np.take_along_axis(x, places, axis), places.astype(np.int64)


def _arg_max(attributes: dict[str, Any], x: Any) -> Any:
    if attributes.get("select_last_index", 0):
        raise NotImplementedError("host.py does not compute an ArgMax that selects the last place")
    found = np.argmax(x, axis=int(attributes.get("axis", 0)))
    return np.expand_dims(found, int(attributes.get("axis", 0))) if attributes.get("keepdims", 1) else found


_TYPES = {1: np.float32, 11: np.float64}
"""By ONNX's numbers."""

_FUNCTIONS: dict[str, Any] = {
    "Add": lambda _, a, b: a + b,
    "ArgMax": _arg_max,
    "BatchNormalization": _batch_normalised,
    "BipolarQuant": lambda _, x, scale: np.where(x >= 0, np.float32(1), np.float32(-1)) * scale,
    "Cast": lambda attributes, x: x.astype(_TYPES[attributes["to"]]),
    "Clip": _clipped,
    "Div": lambda _, a, b: a / b,
    "Elu": lambda attributes, x: np.where(x < 0, np.float32(attributes.get("alpha", 1.0)) * np.expm1(x), x),
    "Exp": lambda _, x: np.exp(x),
    "Flatten": _flattened,
    "Gather": lambda attributes, x, places: np.take(x, places, int(attributes.get("axis", 0))),
    "Identity": lambda _, x: x,
    "LeakyRelu": lambda attributes, x: np.where(x < 0, x * np.float32(attributes.get("alpha", 0.01)), x),
    "LogSoftmax": lambda attributes, x: np.log(_softmax(attributes, x)),
    "Mul": lambda _, a, b: a * b,
    "Neg": lambda _, x: -x,
    "PRelu": lambda _, x, slopes: np.where(x < 0, x * slopes, x),
    "Quant": quantised,
    "Relu": lambda _, x: np.maximum(x, np.float32(0)),
    "Reshape": _reshaped,
    "Sigmoid": lambda _, x: np.float32(1) / (np.float32(1) + np.exp(-x)),
    "Softmax": _softmax,
    "Softplus": lambda _, x: np.logaddexp(x, np.float32(0)),
    "Sqrt": lambda _, x: np.sqrt(x),
    "Squeeze": _squeezed,
    "Sub": lambda _, a, b: a - b,
    "Tanh": lambda _, x: np.tanh(x),
    "TopK": _largest,
    "Transpose": lambda attributes, x: x.transpose(attributes.get("perm", tuple(range(x.ndim))[::-1])),
    "Unsqueeze": _unsqueezed,
}

INEXACT = ("Elu", "Exp", "LogSoftmax", "Sigmoid", "Softmax", "Softplus", "Tanh")
"""Operators whose last bits depend on the library that computes exponentials."""

OPERATORS = tuple(_FUNCTIONS)
"""Everything that can be computed here."""
