"""Which models of clients are executed: those that only compute.

An ONNX file can do more than that. QONNX imports the module that a node's domain names, and evaluates the text of
a tensor's layout as Python (`ModelWrapper.get_tensor_layout`); FINN's layers run programs whose paths are in their
attributes, and paste attributes into C++ that is compiled; weights, and the models of partitions, can lie in any file of
the machine. A model that says any of this is refused before a target sees it, and before a file that it names is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.errors import ModelError
from brainsmith.graph.evaluated_text import EVALUATED, EVALUATED_PROPERTIES, is_literal
from brainsmith.graph.known_domains import STANDARD, own_domains
from brainsmith.graph.pasted_text import FILE_ATTRIBUTES, is_plain, is_plain_name, texts_of
from brainsmith.graph.proto_messages import messages_in, text_faults
from brainsmith.graph.sound import require_sound
from brainsmith.runtime.file_facts import model_in, partition_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_DOMAINS = (
    "onnx.brevitas",
    "qonnx.custom_op.channels_last",
    "qonnx.custom_op.general",
    "finn.custom_op.fpgadataflow",
    "finn.custom_op.fpgadataflow.hls",
    "finn.custom_op.fpgadataflow.rtl",
    "finn.custom_op.general",
)
"""The domains of QONNX and FINN whose operators are executed for clients."""

_EVALUATED = (*EVALUATED, *EVALUATED_PROPERTIES)
"""What QONNX and FINN give to Python's `eval`."""


def check_model(data: bytes) -> None:
    """Refuse a model that does more than compute.

    Args:
        data: The bytes of an .onnx file.

    Raises:
        ModelError: It is no ONNX model, or one that is not executed for clients; the message names the place.
    """
    model = model_in(data)
    if model is None:
        raise ModelError("the data that was sent is not an ONNX model")
    fault = next(text_faults(model), "")  # all texts are texts before one of them is looked at
    if fault:
        raise ModelError(fault)
    for message in messages_in(model):
        check = _CHECKS.get(message.DESCRIPTOR.name)
        if check is not None:
            check(message)
    # Of any domain: whoever asks for the model's content reads what it names.
    if named := partition_files(data):
        raise ModelError(
            f"a partition of the model names the model {named[0]!r}, and no file of the server is read for clients"
        )
    require_sound(model, "what was sent", of_client=True)


def check_config(config: Mapping[str, Any]) -> None:
    """Refuse a configuration or options that name files of this machine.

    Raises:
        ModelError: A text in it has a slash, or is `..`.
    """
    for text in _texts(config):
        if "/" in text or "\\" in text or text in (".", "..") or "\0" in text:
            raise ModelError(f"the configuration from a client must not name files of the server: {text!r}")


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _texts(name)
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _check_tensor(tensor: Any) -> None:
    if tensor.external_data or tensor.data_location:
        raise ModelError(
            f"tensor '{tensor.name}' is stored in another file, and no file of the server is read for clients: "
            "save the model with its weights in it"
        )


def _check_node(node: Any) -> None:
    if node.domain in STANDARD:
        return
    where = f"node '{node.name}' ({node.op_type})"
    domains = (*_DOMAINS, *sorted(own_domains().difference(_DOMAINS)))
    if node.domain not in domains:
        raise ModelError(
            f"{where} is of domain {node.domain!r}, which is not executed for clients; those are ONNX's own and "
            f"{', '.join(domains)}"
        )
    if not is_plain_name(node.name):
        raise ModelError(f"the name of a node must be letters, digits, spaces and ./:-, not {node.name!r}")
    for name, text in texts_of(node):
        _check_attribute(where, name, text)


def _check_attribute(where: str, name: str, text: str) -> None:
    if FILE_ATTRIBUTES.fullmatch(name):
        raise ModelError(
            f"{where} has attribute {name} = {text!r}, which names a file or a program of the server"
        )
    if not is_plain(text):
        raise ModelError(
            f"{where} has attribute {name} = {text!r}, which is neither a plain word nor numbers"
        )


def _check_pair(pair: Any) -> None:
    if pair.key in _EVALUATED and not is_literal(pair.value):
        raise ModelError(f"{pair.key} must be a list or a table of plain values, not {pair.value!r}")


_CHECKS: dict[str, Callable[[Any], None]] = {
    "TensorProto": _check_tensor,
    "NodeProto": _check_node,
    "StringStringEntryProto": _check_pair,
}
