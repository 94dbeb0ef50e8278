"""The key ``inputs``: which integers the model's inputs are made of, such as the pixels of an image.

For example ``inputs: {datatype: UINT8}``, or by name ``inputs: {image: {datatype: UINT8}, mask: {datatype: BIPOLAR}}``.
"""

from __future__ import annotations

from yaml.nodes import MappingNode, Node

from brainsmith.blueprint.nodes import Document
from brainsmith.blueprint.schema import KEYS, InputDatatypes, Position
from brainsmith.close_names import did_you_mean
from brainsmith.errors import BuildError
from brainsmith.graph.datatype_names import INTEGERS, integer_datatype_fault
from brainsmith.yaml_nodes import is_null

_WANTED = "a datatype of integers, such as UINT8, INT4 or BIPOLAR"
_COMMON = (*INTEGERS, *(f"{sign}INT{bits}" for sign in ("U", "") for bits in (2, 4, 8, 16)))


def read_inputs(doc: Document, node: Node) -> InputDatatypes:
    """Read ``inputs``: one datatype for every input, datatypes by the inputs' names, or both."""
    every, named, positions = "", {}, dict[str, Position]()
    for name, (key, value) in doc.pairs(node, "inputs").items():
        if name == "datatype" and not isinstance(value, MappingNode):
            every = _datatype(doc, value, "inputs.datatype")
            positions[""] = doc.position(value)
            continue
        label = f"inputs.{name}"
        pairs = doc.mapping(value, label, KEYS["input"]) if isinstance(value, MappingNode) else {}
        if "datatype" not in pairs:
            if not isinstance(value, MappingNode) or not value.value:
                text = f"{label} must be a mapping with the key datatype, such as {{datatype: UINT8}}"
                doc.report(key if is_null(value) else value, text)
            continue
        datatype = _datatype(doc, pairs["datatype"][1], f"{label}.datatype")
        if datatype:
            named[name], positions[name] = datatype, doc.position(key)
    return InputDatatypes(every, named, positions)


def stated_inputs(given: object) -> InputDatatypes:
    """Read the argument `input_datatype` of a build: one datatype, datatypes by input, or the text of either.

    For example "UINT8", "image=UINT8,mask=BIPOLAR" or `{"image": "UINT8"}`.

    Raises:
        BuildError: It is something else.
    """
    if isinstance(given, InputDatatypes):
        return given
    if isinstance(given, str) and "=" in given:
        parts = [part.partition("=") for part in given.split(",")]
        names = [name.strip() for name, _, _ in parts]
        if len(set(names)) != len(names) or not all(names):
            raise BuildError(
                f"input_datatype must name each input once, as in image=UINT8,mask=INT4, not {given!r}"
            )
        given = {name.strip(): datatype.strip() for name, _, datatype in parts}
    found = given if isinstance(given, dict) else {"": given}
    for name, datatype in found.items():
        fault = _fault(datatype)
        if fault:
            place = f" of input '{name}'" if name else ""
            raise BuildError(f"input_datatype{place} must be {fault}")
    return InputDatatypes(
        str(found.get("", "")), {name: str(datatype) for name, datatype in found.items() if name}
    )


def _datatype(doc: Document, node: Node, label: str) -> str:
    """Read one datatype; empty if it is none of integers, which is reported."""
    text = doc.text(node, label, _WANTED)
    fault = _fault(text) if text is not None else ""
    if fault:
        doc.report(node, f"{label} must be {fault}")
    return "" if fault else text or ""


def _fault(datatype: object) -> str:
    """Return what a datatype must be, to follow "must be"; nothing if it is one of integers."""
    if not isinstance(datatype, str):
        return f"{_WANTED}, not {datatype!r}"
    fault = integer_datatype_fault(datatype)
    if not fault:
        return ""
    hint = did_you_mean(datatype, _COMMON) if "bits" not in fault else ""
    return f"{_WANTED}, not {datatype!r}, {fault}{hint}"
