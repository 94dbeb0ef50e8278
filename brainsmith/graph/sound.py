"""What every model passes when it is opened, whoever opens it: it is one graph of possible sizes, and runs nothing.

A model is data of somebody, perhaps of somebody unknown. What QONNX, FINN and ONNX take as it is, and fail at after
minutes, in a traceback or by running it, is refused here in one message.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from brainsmith.errors import ModelError
from brainsmith.graph.datatype_names import MOST_BITS, datatype_fault, shortened
from brainsmith.graph.declarations import declaration_faults
from brainsmith.graph.evaluated_text import CodeFault, code_faults, program_fault, property_faults
from brainsmith.graph.known_domains import STANDARD, domain_fault
from brainsmith.graph.model_functions import function_faults
from brainsmith.graph.node_arguments import argument_faults
from brainsmith.graph.partition_models import partition_model, partitions_of
from brainsmith.graph.pasted_text import pasted_fault
from brainsmith.graph.proto_messages import text_faults
from brainsmith.graph.sizes import bit_width_faults, constant_faults, growth_faults, size_faults
from brainsmith.graph.well_formed import all_graphs, node_text, structure_fault
from brainsmith.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

_DATATYPE = "finn_datatype"
_BITS = ("bit_width", "bitwidth")
_TEXT, _INTEGER = 3, 2
"""The types of an attribute that is one text, or one whole number (`AttributeProto.STRING`, `INT`)."""


TRUSTED = (
    "\n  to open it all the same, if you trust whoever made it: --trust-model, or BRAINSMITH_TRUST_MODELS=1"
)
"""What the message says that a model of this user's is refused with, because opening it would run code."""


def require_sound(model: Any, what: str, of_client: bool = False) -> None:
    """Raise if a model is unsound: see `tests/graph/test_sound.py` for all that is refused.

    Args:
        model: An ONNX model.
        what: Names it in the message.
        of_client: Whether somebody else sent it: then the setting `trust_models` does not count.

    Raises:
        ModelError: Names the first place, what is wrong there, and what it must be.
    """
    for fault in _faults(model):
        runs_code = isinstance(fault, CodeFault) and not of_client
        if not (runs_code and load_settings().trust_models):
            raise ModelError(f"{what}: {fault}{TRUSTED if runs_code else ''}")


def _faults(model: Any, above: frozenset[str] = frozenset()) -> Iterator[str]:
    yield from text_faults(model)
    yield from property_faults(model.metadata_props)
    domains: dict[str, str] = {}
    opset = next((entry.version for entry in model.opset_import if entry.domain in STANDARD[:2]), 1)
    for fault in function_faults(model):
        yield f"{fault}. Export the model again."
    for function in model.functions:
        for graph in all_graphs(function):
            yield from _node_faults(list(graph.node), {}, domains, opset)
    for graph in all_graphs(model.graph):
        yield from code_faults(graph)
        yield from property_faults(graph.metadata_props)
        yield from _annotation_faults(graph)
        yield from size_faults(graph)
        nodes = list(graph.node)
        constants = {tensor.name: tensor for tensor in graph.initializer}
        yield from _node_faults(nodes, constants, domains, opset)
    yield from _partition_faults(model.graph, above)
    for fault in declaration_faults(model.graph):
        yield f"{fault}. Export the model again."
    if fault := structure_fault(model.graph, names=False):
        yield f"{fault}. Export the model again."


def _partition_faults(graph: Any, above: frozenset[str]) -> Iterator[CodeFault]:
    """Yield what would run where a partition's model is opened; what else is wrong with it shows when it is executed."""
    for path in partitions_of(graph):
        real = os.path.realpath(path)
        inner = None if real in above else partition_model(real)
        if inner is not None:
            faults = _faults(inner, above | {real})
            yield from (
                CodeFault(f"its partition {path}: {each}") for each in faults if isinstance(each, CodeFault)
            )


def _annotation_faults(graph: Any) -> Iterator[str]:
    """Yield the tensors whose datatypes do not exist."""
    for annotation in graph.quantization_annotation:
        for entry in annotation.quant_parameter_tensor_names:
            if entry.key == _DATATYPE and (fault := datatype_fault(entry.value)):
                said = shortened(repr(entry.value))
                yield f"tensor '{annotation.tensor_name}' has {_DATATYPE} = {said}, {fault}"


def _node_faults(
    nodes: list[Any], constants: dict[str, Any], domains: dict[str, str], opset: int
) -> Iterator[str]:
    """Yield what is wrong with nodes themselves; `domains` keeps what is known of each domain."""
    for node in nodes:
        yield from argument_faults(node, opset)
        if node.domain in STANDARD:
            if node.op_type == "Constant":
                tensors = [attribute.t for attribute in node.attribute if attribute.name == "value"]
                constants.update(zip(node.output, tensors, strict=False))
                for tensor in tensors:
                    yield from constant_faults(f"the value of {node_text(node)}", tensor)
            continue
        if node.domain not in domains:
            domains[node.domain] = domain_fault(node.domain)
        if domains[node.domain]:
            yield CodeFault(f"{node_text(node)} is of {domains[node.domain]}")
        if fault := program_fault(node) or pasted_fault(node):
            yield CodeFault(f"{node_text(node)} has {fault}")
        yield from _attribute_faults(node)
    yield from bit_width_faults(nodes, constants)
    yield from growth_faults(nodes, constants)


def _attribute_faults(node: Any) -> Iterator[str]:
    """Yield datatypes and numbers of bits in the attributes of a node of QONNX, FINN or a plugin."""
    for attribute in node.attribute:
        name = attribute.name.lower()
        if attribute.type == _TEXT and attribute.s and name.endswith(("datatype", "dtype")):
            text = attribute.s.decode("utf-8", "replace")
            if fault := datatype_fault(text):
                yield f"{node_text(node)} has {attribute.name} = {shortened(repr(text))}, {fault}"
        elif attribute.type == _INTEGER and name.endswith(_BITS) and not 0 <= attribute.i <= MOST_BITS:
            yield f"{node_text(node)} has {attribute.name} = {attribute.i}, and there can be up to {MOST_BITS} bits"
