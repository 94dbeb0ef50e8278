"""Read the model and refuse, before any work, what cannot become hardware."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.build.artifact import Artifact
from brainsmith.errors import ModelError
from brainsmith.execution.fixed_batch import fix_batch
from brainsmith.execution.model_signature import signature_of
from brainsmith.execution.read_model import load_proto
from brainsmith.graph.declarations import declare_once
from brainsmith.graph.ends import input_values
from brainsmith.graph.node_names import make_names_unique
from brainsmith.graph.sound import require_sound
from brainsmith.graph.well_formed import node_text
from brainsmith.steps.own_transforms import own_transform

if TYPE_CHECKING:
    from onnx import NodeProto
    from qonnx.core.modelwrapper import ModelWrapper

QUANTISERS = (
    "Quant", "IntQuant", "FloatQuant", "BipolarQuant", "Trunc", "MultiThreshold", "DequantizeLinear"
)  # fmt: skip

OPERATORS = "docs/operators.md"
HALVES = {10: "FLOAT16", 16: "BFLOAT16"}
"""Types of floats that are no float32, by ONNX's number."""

INTEGER_OPERATORS = re.compile(
    "QLinear.+|QGemm|(Conv|MatMul)Integer(ToFloat)?|DynamicQuantize(Linear|MatMul)"
)
"""What ONNX Runtime's quantisation writes in its operator-oriented format, and for scales that it works out as it runs."""


def read_for_build(source: str | Path | ModelWrapper) -> Artifact:
    """Read a model and check that it is one fixed-size, quantised ONNX graph.

    Args:
        source: A path, or a QONNX model; the latter is not changed.

    Raises:
        ModelError: It is not a model; the message says what it is and what to do.
        MissingOpError: It uses ops that are not registered.
    """
    if isinstance(source, (str, Path)):
        name, proto = str(source), load_proto(Path(source))
    else:
        name, proto = "the model", source.model
    wrapper = _wrap(proto, name)
    _check_ops(wrapper, name)
    _check_ends(wrapper, name)
    _check_precision(wrapper, name)
    _check_quantised(wrapper, name)
    return Artifact.of(_fix_output_shapes(wrapper, name))


def _wrap(proto: Any, name: str) -> ModelWrapper:
    from onnx import ModelProto
    from qonnx.core.modelwrapper import ModelWrapper

    if not proto.graph.node:
        raise ModelError(f"{name} has no nodes: there is nothing to build")
    require_sound(proto, name)
    own = ModelProto()
    own.CopyFrom(proto)
    declare_once(own.graph)
    wrapper = ModelWrapper(own)
    make_names_unique(wrapper.graph)
    return wrapper


def _check_ops(model: ModelWrapper, name: str) -> None:
    from brainsmith.autodiff.graphs.node_lookup import OPS_DOMAIN

    if OPS_DOMAIN in model.get_opset_imports() or any(node.domain == OPS_DOMAIN for node in model.graph.node):
        from brainsmith.autodiff.graphs.model_ops import require_ops

        require_ops(model, name)


def _check_ends(model: ModelWrapper, name: str) -> None:
    inputs = input_values(model.graph)
    if not inputs:
        raise ModelError(f"{name} has no inputs: all of it is constant")
    if not model.graph.output:
        raise ModelError(f"{name} has no outputs: every result would be thrown away")
    if _is_fixed(inputs[0], first=1):
        fix_batch(model)
    for value in inputs:
        _check_shape(value, f"{name}: input '{value.name}'")


def _fix_output_shapes(model: ModelWrapper, name: str) -> ModelWrapper:
    """Infer the outputs' shapes where an exporter named their dimensions instead: the input's are fixed."""
    if not all(_is_fixed(value) for value in model.graph.output):
        from qonnx.transformation.infer_shapes import InferShapes

        for value in model.graph.output:
            if not _is_fixed(value):
                value.type.tensor_type.ClearField("shape")
        model = model.transform(InferShapes())
        if not all(_is_fixed(value) for value in model.graph.output):
            model = model.transform(own_transform("FoldConstants")())  # of sizes that the graph computes
    for value in model.graph.output:
        if not value.type.tensor_type.HasField("shape") and (node := _first_without_shape(model)) is not None:
            raise ModelError(
                f"{name}: output '{value.name}' has no shape, because {node_text(node)} gives a tensor whose shape neither "
                f"ONNX's nor QONNX's rules tell. Replace it by operators that have layers ({OPERATORS}), or state the "
                "shapes of what it gives (value_info)."
            )
        _check_shape(value, f"{name}: output '{value.name}'")
    return model


def _first_without_shape(model: ModelWrapper) -> NodeProto | None:
    """Return the first node that gives a tensor without a shape, though all that it reads has one."""
    known = {value.name for value in (*model.graph.input, *model.graph.value_info) if _is_fixed(value)}
    known |= {tensor.name for tensor in model.graph.initializer}
    for node in model.graph.node:
        if known.isdisjoint(node.output) and known.issuperset(filter(None, node.input)):
            found: NodeProto = node
            return found
    return None


def _dimensions(value: Any) -> list[int | str]:
    return [dim.dim_value or dim.dim_param or "?" for dim in value.type.tensor_type.shape.dim]


def _is_fixed(value: Any, first: int = 0) -> bool:
    """Tell whether the dimensions from the given one on are numbers."""
    has_shape = bool(value.type.tensor_type.HasField("shape"))
    return has_shape and all(isinstance(dim, int) and dim > 0 for dim in _dimensions(value)[first:])


def _check_shape(value: Any, what: str) -> None:
    if _is_fixed(value):
        return
    if not value.type.tensor_type.HasField("shape"):
        raise ModelError(f"{what} has no shape. Export the model with fixed shapes.")
    dims = _dimensions(value)
    at, dim = next((at, dim) for at, dim in enumerate(dims) if not isinstance(dim, int) or dim < 1)
    raise ModelError(
        f"{what} has the dynamic shape [{', '.join(map(str, dims))}]: dimension {at} ('{dim}') is not a number. "
        "Hardware has fixed sizes: export the model with fixed shapes; only its batch may be open, and is 1 then."
    )


def _check_precision(model: ModelWrapper, name: str) -> None:
    """Refuse floats of 16 bits: quantisers and layers compute with float32, which would give other results."""
    graph = model.graph
    ends = [(value.name, value.type.tensor_type.elem_type) for value in (*graph.input, *graph.output)]
    found = [
        f"{tensor} ({HALVES[kind]})"
        for tensor, kind in (*ends, *((tensor.name, tensor.data_type) for tensor in graph.initializer))
        if kind in HALVES
    ]
    if found:
        raise ModelError(
            f"{name} computes with floats of 16 bits: {', '.join(found)}. Export it in float32 (in PyTorch: model.float() "
            "before the export, and an input of float32); quantisers give the same integers then."
        )


def _check_quantised(model: ModelWrapper, name: str) -> None:
    kinds = {node.op_type for node in model.graph.node}
    integer = sorted(filter(INTEGER_OPERATORS.fullmatch, kinds))
    if integer:
        raise ModelError(
            f"{name} has operators of integers, which are not supported: {', '.join(integer)}. Quantise the float model "
            "with static scales in the format QDQ (quantize_static, quant_format=QuantFormat.QDQ), or export it as QONNX."
        )
    if kinds.intersection(QUANTISERS):
        return
    annotations = [
        entry.value
        for annotation in model.graph.quantization_annotation
        for entry in annotation.quant_parameter_tensor_names
        if entry.key == "finn_datatype"
    ]
    if any(not value.startswith("FLOAT") for value in annotations):
        return
    raise ModelError(
        f"{name} is a float model: it has no Quant, BipolarQuant, Trunc, MultiThreshold or DequantizeLinear node and "
        "no datatype annotation. Train it quantised (with Brevitas or QKeras, for "
        "example) and export it as QONNX."
    )


def described(name: str, source: Artifact) -> dict[str, Any]:
    """Return the report's `model`: what it is called, how many nodes it has, and the shapes and types of its ends."""
    model = source.peek()
    ends = signature_of(model)
    return {
        "file": name,
        "name": Path(name).stem,
        "digest": source.digest,
        "nodes": len(model.graph.node),
        "types": {spec.name: spec.dtype for spec in (*ends.inputs, *ends.outputs)},
        "datatypes": {spec.name: spec.datatype for spec in ends.inputs},
        "inputs": {spec.name: list(spec.shape) for spec in ends.inputs},
        "outputs": {spec.name: list(spec.shape) for spec in ends.outputs},
    }


def model_name(model: object) -> str:
    """Return how reports name a model: by its file, if it is one."""
    return str(model) if isinstance(model, (str, Path)) else "model in memory"
