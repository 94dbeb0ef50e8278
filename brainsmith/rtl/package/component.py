"""The IP-XACT description of an accelerator (IEEE 1685-2009), with the names that Vivado gives its interfaces."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from xml.etree.ElementTree import Element

    from brainsmith.rtl.package.contents import Facts
    from brainsmith.rtl.stitching.design import Design, DesignStream

SPIRIT = "http://www.spiritconsortium.org/XMLSchema/SPIRIT/1685-2009"
XILINX = "http://www.xilinx.com"
VENDOR, LIBRARY, VERSION = "brainsmith", "accelerators", "1.0"

CLOCK, RESET = "ap_clk", "ap_rst_n"
SYNTHESIS, SIMULATION = "xilinx_anylanguagesynthesis", "xilinx_anylanguagebehavioralsimulation"
"""Vivado's names of the views whose files are synthesised and simulated."""

_AXIS = ("xilinx.com", "interface", "axis")
_SIGNAL = ("xilinx.com", "signal")
_PARTS = (("TDATA", "tdata"), ("TVALID", "tvalid"), ("TREADY", "tready"))


def component_xml(design: Design, sources: Sequence[str], memories: Sequence[str], facts: Facts) -> str:
    """Return the description.

    Args:
        design: Whose ports and streams it describes.
        sources: In the order of compilation, relative to the description.
        memories: The contents that the sources load, relative to the description.
        facts: The part and the clock are among them.
    """
    ElementTree.register_namespace("spirit", SPIRIT)
    ElementTree.register_namespace("xilinx", XILINX)
    ElementTree.register_namespace("xsi", "http://www.w3.org/2001/XMLSchema-instance")
    root = ElementTree.Element(_tag("component"))
    _texts(root, vendor=VENDOR, library=LIBRARY, name=design.top, version=VERSION)
    _interfaces(_add(root, "busInterfaces"), design)
    _model(_add(root, "model"), design)
    file_sets = _add(root, "fileSets")
    for view in (SYNTHESIS, SIMULATION):
        _file_set(file_sets, view, sources, memories)
    made = f"made by BrainSmith for a clock of {1000 / facts.period:g} MHz"
    _texts(root, description=f"A quantised neural network as a dataflow accelerator, {made}")
    name = _parameter(_add(root, "parameters"), "PARAM_VALUE", "Component_Name", f"{design.top}_v1_0")
    name.attrib |= {_tag("resolve"): "user", _tag("order"): "1"}
    core = ElementTree.SubElement(_add(root, "vendorExtensions"), f"{{{XILINX}}}coreExtensions")
    _xilinx_core(core, design.top, facts.part)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _interfaces(parent: Element, design: Design) -> None:
    """Add streams, reset and clock.

    None states a frequency: Vivado would refuse a block design whose clock differs from it by a hertz, and PLLs do.
    """
    for kind, streams in (("slave", design.inputs), ("master", design.outputs)):
        for stream in streams:
            _stream(parent, stream, kind)
    reset = _interface(parent, RESET, (*_SIGNAL, "reset"), "slave", [("RST", RESET)])
    _parameter(_add(reset, "parameters"), _group(RESET), "POLARITY", "ACTIVE_LOW")
    clock = _interface(parent, CLOCK, (*_SIGNAL, "clock"), "slave", [("CLK", CLOCK)])
    parameters = _add(clock, "parameters")
    names = ":".join(stream.name for stream in (*design.inputs, *design.outputs))
    _parameter(parameters, _group(CLOCK), "ASSOCIATED_BUSIF", names)
    _parameter(parameters, _group(CLOCK), "ASSOCIATED_RESET", RESET)


def _stream(parent: Element, stream: DesignStream, kind: str) -> None:
    ports = [(logical, f"{stream.name}_{physical}") for logical, physical in _PARTS]
    interface = _interface(parent, stream.name, _AXIS, kind, ports)
    parameters = _add(interface, "parameters")
    numbers = {
        "TDATA_NUM_BYTES": stream.bits // 8,
        "TDEST_WIDTH": 0,
        "TID_WIDTH": 0,
        "TUSER_WIDTH": 0,
        "HAS_TREADY": 1,
        "HAS_TSTRB": 0,
        "HAS_TKEEP": 0,
        "HAS_TLAST": 0,
    }
    for name, value in numbers.items():
        _parameter(parameters, _group(stream.name), name, value)


def _interface(
    parent: Element, name: str, kind: tuple[str, str, str], role: str, ports: Iterable[tuple[str, str]]
) -> Element:
    """Add a bus interface up to its port maps; its parameters come behind them."""
    interface = _add(parent, "busInterface")
    _texts(interface, name=name)
    for tag, bus in (("busType", kind[2]), ("abstractionType", f"{kind[2]}_rtl")):
        _add(interface, tag, vendor=kind[0], library=kind[1], name=bus, version="1.0")
    _add(interface, role)
    maps = _add(interface, "portMaps")
    for logical, physical in ports:
        entry = _add(maps, "portMap")
        _texts(_add(entry, "logicalPort"), name=logical)
        _texts(_add(entry, "physicalPort"), name=physical)
    return interface


def _model(parent: Element, design: Design) -> None:
    views = _add(parent, "views")
    for name, purpose in ((SYNTHESIS, "synthesis"), (SIMULATION, "simulation")):
        view = _add(views, "view")
        _texts(
            view,
            name=name,
            displayName=purpose.capitalize(),
            envIdentifier=f":vivado.xilinx.com:{purpose}",
            language="Verilog",
            modelName=design.top,
        )
        _texts(_add(view, "fileSetRef"), localName=f"{name}_view_fileset")
    ports = _add(parent, "ports")
    for name in (CLOCK, RESET):
        _port(ports, name, 1, "in")
    for streams, forward, back in ((design.inputs, "in", "out"), (design.outputs, "out", "in")):
        for stream in streams:
            _port(ports, f"{stream.name}_tdata", stream.bits, forward, vector=True)
            _port(ports, f"{stream.name}_tvalid", 1, forward)
            _port(ports, f"{stream.name}_tready", 1, back)


def _port(parent: Element, name: str, bits: int, direction: str, vector: bool = False) -> None:
    port = _add(parent, "port")
    _texts(port, name=name)
    wire = _add(port, "wire")
    _texts(wire, direction=direction)
    if vector:
        _texts(_add(wire, "vector"), left=str(bits - 1), right="0")
    definition = _add(_add(wire, "wireTypeDefs"), "wireTypeDef")
    _texts(definition, typeName="std_logic_vector" if vector else "std_logic")
    for view in (SYNTHESIS, SIMULATION):
        _texts(definition, viewNameRef=view)


def _file_set(parent: Element, view: str, sources: Sequence[str], memories: Sequence[str]) -> None:
    """Add the files of one view: what is loaded first, then the sources in the order of compilation."""
    file_set = _add(parent, "fileSet")
    _texts(file_set, name=f"{view}_view_fileset")
    for name in memories:
        file = _add(file_set, "file")
        _texts(file, name=name, userFileType="data")
    for name in sources:
        file = _add(file_set, "file")
        _texts(file, name=name, fileType=file_type(name))


def file_type(name: str) -> str:
    """Return IP-XACT's type of a source."""
    return "systemVerilogSource" if name.endswith(".sv") else "verilogSource"


def _xilinx_core(parent: Element, top: str, part: str) -> None:
    """Add what Vivado shows of a core, and the families that it offers the core for."""
    family = family_of(part)
    if family:
        families = ElementTree.SubElement(parent, f"{{{XILINX}}}supportedFamilies")
        entry = ElementTree.SubElement(
            families, f"{{{XILINX}}}family", {f"{{{XILINX}}}lifeCycle": "Production"}
        )
        entry.text = family
    taxonomies = ElementTree.SubElement(parent, f"{{{XILINX}}}taxonomies")
    ElementTree.SubElement(taxonomies, f"{{{XILINX}}}taxonomy").text = "/BrainSmith"
    for tag, text in (("displayName", top), ("definitionSource", "package_project"), ("coreRevision", "1")):
        ElementTree.SubElement(parent, f"{{{XILINX}}}{tag}").text = text


_FAMILIES = (
    (r"xczu\d+dr", "zynquplusRFSOC"),
    (r"xcu(50|55[cn]|280)\b|xcvu(3[1357]|4[57]|57)p", "virtexuplusHBM"),
    (r"xcvu2[79]p", "virtexuplus58g"),
    (r"xczu|xck2", "zynquplus"),
    (r"xc7z", "zynq"),
    (r"xcku\d+p", "kintexuplus"),
    (r"xcau", "artixuplus"),
    (r"xc(vu\d+p|u\d+)", "virtexuplus"),
    (r"xcku", "kintexu"),
    (r"xcvu", "virtexu"),
    (r"xc7a", "artix7"),
    (r"xc7k", "kintex7"),
    (r"xc7v", "virtex7"),
    (r"xc7s", "spartan7"),
)


def family_of(part: str) -> str:
    """Return Vivado's name of a part's family; empty if it is not known, then Vivado offers the core for all.

    Versal is not: it is several families, whose names Vivado has changed.
    """
    return next((family for pattern, family in _FAMILIES if re.match(pattern, part.lower())), "")


def _add(parent: Element, tag: str, **attributes: str) -> Element:
    return ElementTree.SubElement(
        parent, _tag(tag), {_tag(name): value for name, value in attributes.items()}
    )


def _texts(parent: Element, **texts: str) -> None:
    for tag, text in texts.items():
        _add(parent, tag).text = text


def _parameter(parent: Element, group: str, name: str, value: str | int) -> Element:
    """Add a parameter, whose id is unique by its group, and return its value."""
    parameter = _add(parent, "parameter")
    _texts(parameter, name=name)
    attributes = {"format": "long"} if isinstance(value, int) else {}
    element = _add(parameter, "value", **attributes, id=f"{group}.{name}")
    element.text = str(value)
    return element


def _group(interface: str) -> str:
    return f"BUSIFPARAM_VALUE.{interface.upper()}"


def _tag(name: str) -> str:
    return f"{{{SPIRIT}}}{name}"
