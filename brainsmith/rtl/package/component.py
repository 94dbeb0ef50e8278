"""The IP-XACT description of an accelerator (IEEE 1685-2009), with the names that Vivado gives its interfaces."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from xml.etree.ElementTree import Element

    from brainsmith.rtl.package.contents import PackageFacts
    from brainsmith.rtl.stitching.design import Design

SPIRIT = "http://www.spiritconsortium.org/XMLSchema/SPIRIT/1685-2009"
XILINX = "http://www.xilinx.com"
VENDOR, LIBRARY, VERSION = "brainsmith", "accelerators", "1.0"

CLOCK, RESET = "ap_clk", "ap_rst_n"
SYNTHESIS, SIMULATION = "xilinx_anylanguagesynthesis", "xilinx_anylanguagebehavioralsimulation"
"""Vivado's names of the views whose files are synthesised and simulated."""

_AXIS = ("xilinx.com", "interface", "axis")
_SIGNAL = ("xilinx.com", "signal")
_PARTS = (("TDATA", "tdata"), ("TVALID", "tvalid"), ("TREADY", "tready"))
_SIDEBAND = {
    "TDEST_WIDTH": 0, "TID_WIDTH": 0, "TUSER_WIDTH": 0,
    "HAS_TREADY": 1, "HAS_TSTRB": 0, "HAS_TKEEP": 0, "HAS_TLAST": 0,
}  # fmt: skip


def component_xml(
    design: Design, sources: Sequence[str], memories: Sequence[str], facts: PackageFacts
) -> str:
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
    made = f"made by BrainSmith for a clock of {1000 / facts.period:g} MHz"
    name = _parameter("PARAM_VALUE", "Component_Name", f"{design.top}_v1_0")
    name[-1].attrib |= {_tag("resolve"): "user", _tag("order"): "1"}
    root = _element(
        "component",
        *_texts(vendor=VENDOR, library=LIBRARY, name=design.top, version=VERSION),
        _element("busInterfaces", *_interfaces(design)),
        _element("model", _element("views", *_views(design.top)), _element("ports", *_ports(design))),
        _element("fileSets", *(_file_set(view, sources, memories) for view in (SYNTHESIS, SIMULATION))),
        *_texts(description=f"A quantised neural network as a dataflow accelerator, {made}"),
        _element("parameters", name),
        _element("vendorExtensions", _xilinx_core(design.top, facts.part)),
    )
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _interfaces(design: Design) -> Iterator[Element]:
    """Yield streams, reset and clock.

    None states a frequency: Vivado would refuse a block design whose clock differs from it by a hertz, and PLLs do.
    """
    for role, streams in (("slave", design.inputs), ("master", design.outputs)):
        for stream in streams:
            ports = {logical: f"{stream.name}_{physical}" for logical, physical in _PARTS}
            numbers = {"TDATA_NUM_BYTES": stream.bits // 8, **_SIDEBAND}
            yield _interface(stream.name, _AXIS, role, ports, numbers)
    yield _interface(RESET, (*_SIGNAL, "reset"), "slave", {"RST": RESET}, {"POLARITY": "ACTIVE_LOW"})
    names = ":".join(stream.name for stream in (*design.inputs, *design.outputs))
    associated = {"ASSOCIATED_BUSIF": names, "ASSOCIATED_RESET": RESET}
    yield _interface(CLOCK, (*_SIGNAL, "clock"), "slave", {"CLK": CLOCK}, associated)


def _interface(
    name: str,
    kind: tuple[str, str, str],
    role: str,
    ports: Mapping[str, str],
    parameters: Mapping[str, str | int],
) -> Element:
    """Return a bus interface: its physical ports by the names that the bus has for them, and its parameters."""
    vendor, library, bus = kind
    maps = [
        _element(
            "portMap",
            _element("logicalPort", *_texts(name=logical)),
            _element("physicalPort", *_texts(name=physical)),
        )
        for logical, physical in ports.items()
    ]
    group = f"BUSIFPARAM_VALUE.{name.upper()}"
    return _element(
        "busInterface",
        *_texts(name=name),
        _element("busType", vendor=vendor, library=library, name=bus, version="1.0"),
        _element("abstractionType", vendor=vendor, library=library, name=f"{bus}_rtl", version="1.0"),
        _element(role),
        _element("portMaps", *maps),
        _element("parameters", *(_parameter(group, key, value) for key, value in parameters.items())),
    )


def _views(top: str) -> Iterator[Element]:
    for name, purpose in ((SYNTHESIS, "synthesis"), (SIMULATION, "simulation")):
        yield _element(
            "view",
            *_texts(
                name=name,
                displayName=purpose.capitalize(),
                envIdentifier=f":vivado.xilinx.com:{purpose}",
                language="Verilog",
                modelName=top,
            ),
            _element("fileSetRef", *_texts(localName=f"{name}_view_fileset")),
        )


def _ports(design: Design) -> Iterator[Element]:
    for name in (CLOCK, RESET):
        yield _port(name, 1, "in")
    for streams, forward, back in ((design.inputs, "in", "out"), (design.outputs, "out", "in")):
        for stream in streams:
            yield _port(f"{stream.name}_tdata", stream.bits, forward, vector=True)
            yield _port(f"{stream.name}_tvalid", 1, forward)
            yield _port(f"{stream.name}_tready", 1, back)


def _port(name: str, bits: int, direction: str, vector: bool = False) -> Element:
    definition = _element(
        "wireTypeDef",
        *_texts(typeName="std_logic_vector" if vector else "std_logic"),
        *_texts(viewNameRef=SYNTHESIS),
        *_texts(viewNameRef=SIMULATION),
    )
    size = [_element("vector", *_texts(left=str(bits - 1), right="0"))] if vector else []
    wire = _element("wire", *_texts(direction=direction), *size, _element("wireTypeDefs", definition))
    return _element("port", *_texts(name=name), wire)


def _file_set(view: str, sources: Sequence[str], memories: Sequence[str]) -> Element:
    """Return the files of one view: what is loaded first, then the sources in the order of compilation."""
    return _element(
        "fileSet",
        *_texts(name=f"{view}_view_fileset"),
        *(_element("file", *_texts(name=name, userFileType="data")) for name in memories),
        *(_element("file", *_texts(name=name, fileType=file_type(name))) for name in sources),
    )


def file_type(name: str) -> str:
    """Return IP-XACT's type of a source."""
    return "systemVerilogSource" if name.endswith(".sv") else "verilogSource"


def _xilinx_core(top: str, part: str) -> Element:
    """Return what Vivado shows of a core, and the families that it offers the core for."""
    family = family_of(part)
    named = _element("family", family, space=XILINX)
    named.set(f"{{{XILINX}}}lifeCycle", "Production")
    texts = {"displayName": top, "definitionSource": "package_project", "coreRevision": "1"}
    return _element(
        "coreExtensions",
        *([_element("supportedFamilies", named, space=XILINX)] if family else []),
        _element("taxonomies", _element("taxonomy", "/BrainSmith", space=XILINX), space=XILINX),
        *(_element(tag, text, space=XILINX) for tag, text in texts.items()),
        space=XILINX,
    )


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


def _element(tag: str, *content: Element | str, space: str = SPIRIT, **attributes: str) -> Element:
    """Return an element of a text, or of others."""
    made = ElementTree.Element(f"{{{space}}}{tag}", {_tag(name): value for name, value in attributes.items()})
    for part in content:
        if isinstance(part, str):
            made.text = part
        else:
            made.append(part)
    return made


def _texts(**texts: str) -> list[Element]:
    return [_element(tag, text) for tag, text in texts.items()]


def _parameter(group: str, name: str, value: str | int) -> Element:
    """Return a parameter, whose id is unique by its group."""
    form = {"format": "long"} if isinstance(value, int) else {}
    return _element(
        "parameter", *_texts(name=name), _element("value", str(value), **form, id=f"{group}.{name}")
    )


def _tag(name: str) -> str:
    return f"{{{SPIRIT}}}{name}"
