"""The C++ that FINN generates for a layer in HLS, as a program; or why it cannot be one here.

FINN generates the function that Vitis HLS makes a layer of. Most of them call templates of FINN's HLS library, which is
in no package; some are whole in themselves, but for a few headers of types and lanes. Those have stand-ins here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from brainsmith.hls.headers import find_headers
from brainsmith.hls.program import HlsProgram, HlsStream

if TYPE_CHECKING:
    from qonnx.core.modelwrapper import ModelWrapper

STAND_INS = Path(__file__).with_name("stand_ins")

_INCLUDE = re.compile(r'#include\s*[<"]([\w.-]+)[>"]')
_PARAMETER = re.compile(r"&\s*(\w+)\s*(?=[,)])")
_STREAM = re.compile(r"(in|out)(\d+)_V$")
_PARTS = ("$GLOBALS$", "$DEFINES$", "$BLACKBOXFUNCTION$", "$PRAGMAS$", "$DOCOMPUTE$")
_GENERATED = (".h", ".hpp")


@dataclass(frozen=True)
class GeneratedLayer:
    """What FINN generates for one layer.

    Attributes:
        text: Without the includes that every layer has.
        function: Its head.
        headers: Texts of the files beside it, by name.
    """

    text: str
    function: str
    headers: dict[str, str]

    def missing(self) -> list[str]:
        """Return the headers that it includes and that are nowhere."""
        there = {*self.headers, *(path.name for path in STAND_INS.iterdir()), *_known()}
        names = [name for text in (self.text, *self.headers.values()) for name in _INCLUDE.findall(text)]
        return [name for name in dict.fromkeys(names) if name not in there]

    def parameters(self) -> list[str]:
        """Return the names of the function's parameters."""
        return _PARAMETER.findall(self.function)


def generate(layer: Any, model: ModelWrapper) -> GeneratedLayer:
    """Let FINN generate a layer's C++.

    Args:
        layer: An instance of FINN's HLS backend.
        model: With the layer's node and its constants.
    """
    layer.code_gen_dict.clear()
    with TemporaryDirectory() as folder:
        layer.generate_params(model, folder)
        headers = {
            path.name: path.read_text(encoding="utf-8")
            for path in Path(folder).iterdir()
            if path.suffix in _GENERATED
        }
    return GeneratedLayer(*generated_code(layer, "ipgen"), headers)


def generated_code(layer: Any, way: str) -> tuple[str, str]:
    """Return the C++ that a layer generates, and the declaration of its function, which is part of that.

    Args:
        layer: An instance of an HLS backend.
        way: What FINN would generate it for: `ipgen` for a synthesis, `cppsim` for a simulation.
    """
    layer.global_includes()
    layer.defines(way)
    layer.blackboxfunction()
    layer.pragmas()
    layer.docompute()
    parts = {key: "\n".join(layer.code_gen_dict.get(key, [])) for key in _PARTS}
    layer.code_gen_dict.clear()
    *before, function, pragmas, body = (parts[key] for key in _PARTS)
    return "\n".join([*before, function, "{", pragmas, body, "}"]), function


def why_not(layer: Any, generated: GeneratedLayer) -> str:
    """Return why a layer's C++ cannot be compiled here; nothing if all that it includes is there."""
    if missing := generated.missing():
        return f"its C++ needs {', '.join(missing)} of FINN's HLS library, which is in no package"
    foreign = [name for name in generated.parameters() if not _STREAM.match(name)]
    if foreign or not generated.parameters():
        return f"its function has parameters that are not streams: {', '.join(foreign) or 'all'}"
    decoupled = [name for name in ("internal_decoupled", "external") if _attribute(layer, "mem_mode") == name]
    fed = sum(name.startswith("in") for name in generated.parameters())
    return f"its constants come in a stream (mem_mode {decoupled[0]})" if decoupled and fed > 1 else ""


def finn_program(layer: Any, generated: GeneratedLayer) -> HlsProgram:
    """Return what is compiled."""
    streams = []
    for name in generated.parameters():
        match = _STREAM.match(name)
        assert match is not None, "why_not says what is not a stream"
        fed, at = match[1] == "in", int(match[2])
        bits = layer.get_instream_width(at) if fed else layer.get_outstream_width(at)
        streams.append(HlsStream(name, int(bits), fed))
    headers = {**generated.headers}
    wanted = [*_INCLUDE.findall(generated.text), "bnn-library.h"]
    while wanted:
        name = wanted.pop()
        found = next((folder / name for folder in _folders() if (folder / name).is_file()), None)
        if found is not None and name not in headers:
            headers[name] = found.read_text(encoding="utf-8")
            wanted += _INCLUDE.findall(headers[name])
    text = f'#include "bnn-library.h"\n{generated.text}'
    return HlsProgram(layer.onnx_node.name, text, tuple(streams), headers)


def _folders() -> tuple[Path, ...]:
    """Return where headers are that programs get: the stand-ins, and what FINN's own package has."""
    spec = find_spec("finn")
    packages = (spec.submodule_search_locations or ()) if spec else ()
    return (STAND_INS, *(Path(package) / "custom_hls" for package in packages))


@cache
def _known() -> frozenset[str]:
    """Return the headers that are there for every program: FINN's own, those of ap_int, and the compiler's."""
    folders = (*_folders(), find_headers())
    return frozenset(path.name for folder in folders if folder.is_dir() for path in folder.iterdir()) | {
        "cstddef", "cstdint", "cstring", "limits", "type_traits", "iostream", "vector", "cmath",
    }  # fmt: skip


def _attribute(layer: Any, name: str) -> Any:
    return layer.get_nodeattr(name) if name in layer.get_nodeattr_types() else None
