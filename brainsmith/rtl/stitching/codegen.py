"""Let FINN generate the RTL of each layer of a model, and read back what it generated."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from brainsmith.errors import BuildError
from brainsmith.plugin.adapters.finn_runtime import prepare_finn
from brainsmith.rtl.library.sources import Source
from brainsmith.rtl.simulation.plan import DATA_FOLDER, Memory, plan_simulation

if TYPE_CHECKING:
    from pathlib import Path

    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.rtl.library.sources import Library

RTL_DOMAIN = "finn.custom_op.fpgadataflow.rtl"
MEMORY_SOURCES = ("memstream/hdl/memstream.sv", "memstream/hdl/memstream_axi.sv", "axi/hdl/axilite.sv")
MEMORY_SUFFIX = "_memstream_wrapper"

_DECLARED = re.compile(r"^\s*(?:\(\*.*\*\)\s*)?(input|output)\s+(?:\[.*\]\s*)?(\w+)\s*,?\s*(?://.*)?$", re.M)


@dataclass(frozen=True)
class LayerCode:
    """What FINN generated for one layer.

    Attributes:
        module: The layer's own module.
        ports: Its ports, each with whether it is an input.
        memory: The module that streams its weights; empty if it has none.
        memory_ports: The ports of that.
        sources: Of both, with all that they instantiate.
        memories: Contents, by names that begin with the layer's.
    """

    module: str
    ports: tuple[tuple[str, bool], ...]
    memory: str
    memory_ports: tuple[tuple[str, bool], ...]
    sources: tuple[Source, ...]
    memories: tuple[Memory, ...]


def with_converters(model: ModelWrapper) -> ModelWrapper:
    """Return a copy of a model of RTL layers with width converters wherever two layers differ in their lanes.

    Raises:
        BuildError: A node is not an RTL layer, or a tensor feeds several; all that are so.
    """
    prepare_finn()
    from finn.transformation.fpgadataflow.insert_dwc import InsertDWC
    from qonnx.core.modelwrapper import ModelWrapper
    from qonnx.transformation.general import GiveUniqueNodeNames

    copy = ModelWrapper(model.model, make_deepcopy=True)
    others = [f"{node.name} ({node.op_type})" for node in copy.graph.node if node.domain != RTL_DOMAIN]
    if others:
        raise BuildError(
            f"these layers have no RTL, so the model cannot be stitched: {', '.join(others)}\n"
            "  hw_compiler: kernels: in the blueprint says which backends a kernel may have"
        )
    shared = [tensor for node in copy.graph.node for tensor in node.output if _readers(copy, tensor) > 1]
    if shared:
        raise BuildError(f"a tensor can feed one layer only; these feed several: {', '.join(shared)}")
    copy = copy.transform(InsertDWC())
    for node in copy.graph.node:
        if node.domain != RTL_DOMAIN:
            node.op_type, node.domain = f"{node.op_type}_rtl", RTL_DOMAIN
    return copy.transform(GiveUniqueNodeNames())


def _readers(model: ModelWrapper, tensor: str) -> int:
    """Count what takes a tensor: layers, and the model's outputs."""
    outputs = [value.name for value in model.graph.output]
    return sum(list(node.input).count(tensor) for node in model.graph.node) + outputs.count(tensor)


def generate_layer(
    model: ModelWrapper, node: Any, folder: Path, library: Library, part: str, period: float
) -> LayerCode:
    """Let FINN generate a layer into a folder of its own, which may be removed afterwards.

    Args:
        model: That the layer is part of.
        node: The layer's; its attributes are set as FINN sets them.
        folder: Must not hold another layer's code.
        library: FINN's RTL library.
        part: The FPGA.
        period: Of the clock, in nanoseconds.
    """
    from qonnx.custom_op.registry import getCustomOp

    layer = getCustomOp(node)
    folder.mkdir(parents=True, exist_ok=True)
    layer.set_nodeattr("code_gen_dir_ipgen", str(folder))
    layer.code_generation_ipgen(model, part, period)
    module = layer.get_nodeattr("gen_top_module")
    files = [*layer.get_rtl_file_list(abspath=True)]
    memory = f"{module}{MEMORY_SUFFIX}" if (folder / f"{module}{MEMORY_SUFFIX}.v").exists() else ""
    if memory:
        files += [*MEMORY_SOURCES, folder / f"{memory}.v"]
    plan = plan_simulation(module, files, library, generated=folder)
    names = {one.name: _own_name(one.name, module) for one in plan.memories}
    sources = tuple(_renamed(source, names) for source in plan.sources)
    return LayerCode(
        module=module,
        ports=_ports(module, sources),
        memory=memory,
        memory_ports=_ports(memory, sources) if memory else (),
        sources=sources,
        memories=tuple(Memory(names[one.name], one.text) for one in plan.memories),
    )


def _own_name(memory: str, module: str) -> str:
    """Return a name for a memory's content that no other layer uses; FINN calls all weights the same."""
    return memory if memory.startswith(f"{module}_") else f"{module}_{memory}"


def _renamed(source: Source, names: dict[str, str]) -> Source:
    text = source.text
    for before, after in names.items():
        text = text.replace(f'"{DATA_FOLDER}/{before}"', f'"{DATA_FOLDER}/{after}"')
    return Source(source.name, text, source.rules)


def _ports(module: str, sources: tuple[Source, ...]) -> tuple[tuple[str, bool], ...]:
    """Read the ports of a generated module, each of which FINN declares on a line of its own."""
    begin = re.compile(rf"^\s*module\s+{re.escape(module)}\b", re.M)
    for source in sources:
        found = begin.search(source.text)
        if found:
            head = source.text[found.start() : source.text.index(");", found.end())]
            return tuple((name, kind == "input") for kind, name in _DECLARED.findall(head))
    raise BuildError(f"FINN generated no module {module!r}, so the layer cannot be connected")
