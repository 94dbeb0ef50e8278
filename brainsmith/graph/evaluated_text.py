"""Texts in a model that QONNX evaluates as Python: an ONNX file of somebody unknown must not be run by being read."""

from __future__ import annotations

import ast
import os
from typing import TYPE_CHECKING, Any

from brainsmith.settings import compiled_folders

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

EVALUATED = ("tensor_layout", "tensor_sparsity")
"""Keys of quantisation annotations that `ModelWrapper.get_tensor_layout` and `get_tensor_sparsity` give to `eval`."""


EVALUATED_PROPERTIES = ("vivado_stitch_ifnames", "res_total_ooc_synth")
"""Keys of a model's metadata that FINN gives to `eval`."""

_PROGRAMS = ("executable_path", "rtlsim_so")
"""Attributes of FINN's layers that name a program that is started, or a library that is loaded."""

_SOURCES = ("code_gen_dir_", "ipgen_path", "ip_path")
"""With what attributes begin that say where sources are: simulated as RTL, they are compiled and run."""


class CodeFault(str):
    """What is wrong with a model, in words, where opening it would run code: whoever trusts its maker may open it."""

    __slots__ = ()


def code_faults(graph: Any) -> Iterator[CodeFault]:
    """Yield the texts of a graph that are more than plain values; QONNX and FINN write nothing else.

    Args:
        graph: An ONNX graph; those inside of its nodes are not looked at.
    """
    for annotation in graph.quantization_annotation:
        for entry in annotation.quant_parameter_tensor_names:
            if entry.key in EVALUATED and not is_literal(entry.value):
                yield CodeFault(
                    f"tensor '{annotation.tensor_name}' has {entry.key} = {entry.value!r}, which QONNX "
                    "would run as Python; it must be a list or a table of plain values"
                )


def property_faults(entries: Iterable[Any]) -> Iterator[CodeFault]:
    """Yield entries of metadata that are more than plain values, and that FINN evaluates.

    Args:
        entries: Pairs of key and value, of a model or a graph.
    """
    for entry in entries:
        if entry.key in EVALUATED_PROPERTIES and not is_literal(entry.value):
            yield CodeFault(
                f"its metadata has {entry.key} = {entry.value!r}, which FINN would run as Python; "
                "it must be a list or a table of plain values"
            )


def program_fault(node: Any) -> str:
    """Return which program, library or sources a node names that executing it would run, to follow "has"; empty if none.

    What lies where this user's own simulations are compiled does not count.

    Args:
        node: Of a kernel or backend.
    """
    texts = {each.name: each.s.decode("utf-8", "replace") for each in node.attribute if each.s}
    as_rtl = texts.get("exec_mode") == "rtlsim"
    for name, text in texts.items():
        counts = name in _PROGRAMS or (as_rtl and name.startswith(_SOURCES))
        if counts and not _is_own(text):
            return f"{name} = {text!r}, which executing it would run"
    return ""


def _is_own(path: str) -> bool:
    real = os.path.realpath(path)
    return any(real.startswith(f"{os.path.realpath(folder)}{os.sep}") for folder in compiled_folders())


def is_literal(text: str) -> bool:
    """Tell whether Python would evaluate a text to plain values, without a call or a name in it."""
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return False
    return True
