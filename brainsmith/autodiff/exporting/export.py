"""Write what was recorded between Tensors as a QONNX model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.autodiff.exporting.walk import check_apart, key_of, named_tensors, records_between
from brainsmith.errors import OpError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.autodiff.exporting.graph_writer import GraphWriter
    from brainsmith.autodiff.tape.tape import Record
    from brainsmith.autodiff.tape.tensor import Tensor

IR_VERSION = 9
"""The one of ONNX 1.14, which all that reads opset 17 can read."""


def export_onnx(
    outputs: Any,
    inputs: Any,
    path: str | Path | None = None,
    *,
    name: str = "model",
    names: Mapping[str, Tensor] | None = None,
    datatypes: Mapping[str, str] | None = None,
) -> ModelWrapper:
    """Make a QONNX model of what was computed: each record of the tape becomes a node, in their order.

    Primitives become standard ONNX nodes, quantisers QONNX's, other ops nodes of the domain `brainsmith.ops`, which
    are found by the names of the ops. A Tensor that is not an input and was not computed is a
    constant. Shapes are those that were recorded; compilers want a batch of 1. The same computation gives the same bytes.

    Args:
        outputs: The results: a Tensor, several in a list, or several by name.
        inputs: What they were computed from, likewise; they may be intermediate results.
        path: Where to write the model; not at all if None.
        name: Of the graph.
        names: Further Tensors by name: parameters, and results, whose nodes get the name too.
        datatypes: QONNX datatypes, such as `INT4`, by the names of inputs and other Tensors.

    Raises:
        OpError: A Tensor was not recorded, an input is not used, or an op cannot be found by its name.
    """
    from onnx import checker
    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.autodiff.graphs.model_ops import note_ops

    proto = _model(
        named_tensors("input", inputs), named_tensors("output", outputs), name, names or {}, datatypes or {}
    )
    checker.check_model(proto)
    model = ModelWrapper(proto)
    note_ops(model)
    if path is not None:
        Path(path).write_bytes(model.model.SerializeToString(deterministic=True))
    return model


def _model(
    inputs: dict[str, Tensor],
    outputs: dict[str, Tensor],
    name: str,
    names: Mapping[str, Tensor],
    datatypes: Mapping[str, str],
) -> Any:
    from onnx import helper

    from brainsmith.autodiff.exporting.graph_names import GraphNames
    from brainsmith.autodiff.exporting.graph_writer import OPSET, GraphWriter, value_info

    check_apart(inputs)
    records = records_between(inputs, outputs)
    both = [title for title in inputs if title in outputs]
    if both:
        raise OpError(f"{both[0]!r} is the name of an input and of an output of an export")
    naming = GraphNames(inputs, outputs, names)
    writer = GraphWriter(naming, {key_of(tensor) for tensor in inputs.values()})
    for record in records:
        writer.add(record)
    ends = [writer.output(title, tensor) for title, tensor in outputs.items()]
    graph = helper.make_graph(
        writer.nodes,
        name,
        [value_info(title, tensor) for title, tensor in inputs.items()],
        ends,
        list(writer.constants.values()),
        value_info=list(writer.tensors.values()),
    )
    annotate(graph, _datatypes(records, writer, datatypes))
    domains = sorted(writer.domains - {""})
    opsets = [helper.make_opsetid("", OPSET), *(helper.make_opsetid(domain, 1) for domain in domains)]
    return helper.make_model(graph, producer_name="brainsmith", ir_version=IR_VERSION, opset_imports=opsets)


def _datatypes(records: Sequence[Record], writer: GraphWriter, stated: Mapping[str, str]) -> dict[str, str]:
    """Return the datatypes of tensors: those that are stated, and what the rules of ops make of them.

    Scaled integers are left out, as QONNX's own inference does: compilers take them for floats.
    """
    known = dict(stated)
    for record in records:
        titles = [writer.names.given(key_of(tensor)) or "" for tensor in record.inputs]
        constants = [
            array if writer.is_constant(tensor) else None
            for tensor, array in zip(record.inputs, record.arrays, strict=True)
        ]
        given = [known.get(title, "FLOAT32") for title in titles]
        found = record.op.output_datatype_for(given, constants, **record.attributes)
        for at, datatype in enumerate([found] if record.op.num_outputs == 1 else found):
            title = writer.names.given((record.serial, at))
            if title is not None and not datatype.startswith(("FLOAT32", "SCALEDINT")):
                known.setdefault(title, datatype)
    return known


def annotate(graph: Any, datatypes: Mapping[str, str]) -> None:
    """Annotate tensors of a graph with QONNX datatypes.

    Raises:
        OpError: There is no such datatype, or the graph has no such tensor.
    """
    from qonnx.core.datatype import DataType

    tensors = {value.name for value in (*graph.input, *graph.output, *graph.value_info)}
    tensors.update(constant.name for constant in graph.initializer)
    for name, datatype in datatypes.items():
        try:
            known = DataType[datatype].name
        except (KeyError, ValueError):
            raise OpError(
                f"the datatype of {name!r} must be one of QONNX's, such as INT4, not {datatype!r}"
            ) from None
        if name not in tensors:
            raise OpError(f"{name!r} is given the datatype {datatype}, but the graph has no such tensor")
        annotation = graph.quantization_annotation.add()
        annotation.tensor_name = name
        annotation.quant_parameter_tensor_names.add(key="finn_datatype", value=known)
