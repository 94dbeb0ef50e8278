"""Each rule is needed and enough: the tools reject the text as it is, and accept it altered."""

import re
from collections import Counter

import pytest

from brainsmith.errors import RtlSourceError, ToolError
from brainsmith.plugin.processes import run
from brainsmith.rtl.library.rules import RULES, Rule
from brainsmith.rtl.library.sources import Library
from brainsmith.rtl.simulation.toolchain import find_toolchain

MVU = (
    "mvu/mvu_pkg.sv",
    "mvu/mvu.sv",
    "mvu/mvu_vvu_axi.sv",
    "mvu/replay_buffer.sv",
    "mvu/mvu_vvu_8sx9_dsp58.sv",
)
MVU_PARAMETERS = {
    "IS_MVU": 1, "VERSION": 2, "MW": 8, "MH": 4, "PE": 2, "SIMD": 4, "ACTIVATION_WIDTH": 4, "WEIGHT_WIDTH": 4,
    "ACCU_WIDTH": 12,
}  # fmt: skip
MEMORY = ("memstream/hdl/memstream_axi.sv", "axi/hdl/axilite.sv")
PADDING = ("fmpadding/hdl/fmpadding.sv", "fmpadding/hdl/fmpadding_axi.sv", "fmpadding/hdl/axi2we.sv")
THRESHOLDING = (
    "thresholding/hdl/thresholding.sv",
    "thresholding/hdl/thresholding_axi.sv",
    "axi/hdl/axilite.sv",
)

ALTERED = [
    ("fifo-packed-struct", "fifo/hdl/fifo.sv", "fifo", (), {"DEPTH": 600, "DATA_WIDTH": 16}),
    ("add-multi-hoist", "mvu/add_multi.sv", "mvu_vvu_axi", MVU, MVU_PARAMETERS),
    (
        "memstream-hoist",
        "memstream/hdl/memstream.sv",
        "memstream_axi",
        MEMORY,
        {"SETS": 2, "DEPTH": 8, "WIDTH": 40},
    ),
    ("skid-error-argument", "skid/skid.sv", "skid", (), {"DATA_WIDTH": 8, "FEED_STAGES": 2}),
    ("skid-error-argument", "stream_tap/hdl/skid.sv", "skid", (), {"DATA_WIDTH": 8}),
    ("skid-error-argument", "inner_shuffle/skid.sv", "skid", (), {"DATA_WIDTH": 8}),
    (
        "pad1d-hoist",
        "pad1d/hdl/pad1d.sv",
        "pad1d",
        (),
        {"NUM_TOKENS": 3, "NUM_CHANNELS": 4, "ELEM_WIDTH": 8, "SIMD": 2, "PAD_LEFT_TOKENS": 1},
    ),
    (
        "inner-shuffle-packed",
        "inner_shuffle/inner_shuffle.sv",
        "inner_shuffle",
        ("inner_shuffle/skid.sv", "inner_shuffle/elasticmem.sv", "fifo/hdl/fifo.sv"),
        {"BITS": 8, "I": 8, "J": 12, "SIMD": 4},
    ),
]
REJECTED = {
    "add-multi-hoist": {"ConstEvalFunctionInsideGenerate"},
    "memstream-hoist": {"ConstEvalFunctionInsideGenerate"},
    "pad1d-hoist": {"ConstEvalFunctionInsideGenerate"},
    "skid-error-argument": {"FormatNoArgument"},
}
"""What slang says to the text as it is; it accepts the others, which are legal."""
BORDERS = {
    f"INIT_{axis}{what}": value for axis in "XY" for what, value in (("ON", 1), ("OFF", 5), ("END", 6))
}
AS_THEY_ARE = [
    ("dwc_axi", ("dwc/hdl/dwc_axi.sv", "dwc/hdl/vpc.sv"), {"IBITS": 8, "OBITS": 24}),
    ("fmpadding_axi", (*PADDING, "axi/hdl/axilite.sv"),
     {"XCOUNTER_BITS": 4, "YCOUNTER_BITS": 4, "NUM_CHANNELS": 4, "SIMD": 2, "ELEM_BITS": 4, **BORDERS}),
    *(("thresholding_axi", THRESHOLDING,
       {"WI": 8, "WT": 8, "N": 15, "C": 4, "PE": 2, "SIGNED": 1, "FPARG": 0, "BIAS": 0, "USE_AXILITE": lite})
      for lite in (0, 1)),
    *(("memstream_axi", ("memstream/hdl/memstream.sv", *MEMORY),
       {"SETS": 1, "DEPTH": 8, "WIDTH": 40, "PUMPED_MEMORY": pumped}) for pumped in (0, 1)),
]  # fmt: skip
"""What is read without a rule: proof that no rule is missing for these."""


def lint(top, files, parameters):
    """Return the errors of Verilator; none if it accepts the design."""
    tools = find_toolchain()
    command = [tools.verilator, "--lint-only", "--no-timing", "-Wno-fatal", "-Wno-lint", "--top-module", top]
    command += [f"-G{name}={value}" for name, value in parameters.items()]
    try:
        run([*command, *map(str, files)], timeout=60, variables={"VERILATOR_ROOT": tools.root})
    except ToolError as error:
        return error.output
    return ""


def slang(top, files, parameters):
    """Return the kinds of errors of slang, a reader of SystemVerilog that shares nothing with Verilator."""
    pytest.importorskip("pyslang", reason="needs pyslang: pip install pyslang")
    from pyslang.driver import Driver

    driver = Driver()
    driver.addStandardArgs()
    arguments = " ".join(
        [f"--top {top}", *(f"-G{name}={value}" for name, value in parameters.items()), *map(str, files)]
    )
    assert driver.parseCommandLine(f"slang --allow-use-before-declare {arguments}")
    assert driver.processOptions()
    assert driver.parseAllSources()
    diagnostics = driver.createCompilation().getAllDiagnostics()
    return {str(d.code)[len("DiagCode(") : -1] for d in diagnostics if d.isError()}


def altered_files(library, files, tmp_path):
    """Write files as they are simulated, with all rules that concern them."""
    paths = []
    for file in files:
        source = library.read(file)
        paths.append(tmp_path / source.name)
        paths[-1].write_text(source.text)
    return paths


@pytest.mark.parametrize(("name", "file", "top", "others", "parameters"), ALTERED)
def test_a_rule_is_needed_and_enough(name, file, top, others, parameters, library, tmp_path, simulations):
    source = library.read(file)
    assert source.rules == (name,)
    original = [*altered_files(library, others, tmp_path), library.folder / file]
    errors = lint(top, original, parameters)
    assert "%Error" in errors
    assert source.name in errors
    assert lint(top, altered_files(library, (*others, file), tmp_path), parameters) == ""


@pytest.mark.parametrize(("name", "file", "top", "others", "parameters"), ALTERED)
def test_slang_agrees(name, file, top, others, parameters, library, tmp_path):
    original = slang(top, [*altered_files(library, others, tmp_path), library.folder / file], parameters)
    altered = slang(top, altered_files(library, (*others, file), tmp_path), parameters)
    # Vendor primitives, and a directive inside a module, which no simulator minds.
    assert altered <= {"UnknownModule", "DirectiveInsideDesignElement"}
    assert original - altered == REJECTED.get(name, set())


@pytest.mark.parametrize(("top", "files", "parameters"), AS_THEY_ARE)
def test_what_has_no_rule_needs_none(top, files, parameters, library, tmp_path, simulations):
    assert lint(top, altered_files(library, files, tmp_path), parameters) == ""


@pytest.mark.parametrize("depth", [2, 33, 34, 257, 600, 1200, 5000])
def test_every_kind_of_fifo_is_read(depth, library, tmp_path, simulations):
    files = altered_files(library, ["fifo/hdl/fifo.sv"], tmp_path)
    assert lint("fifo", files, {"DEPTH": depth, "DATA_WIDTH": 16}) == ""


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_that_finds_something_else_says_where(rule, library):
    for file in rule.files:
        with pytest.raises(RtlSourceError) as caught:
            rule.apply(file, "module something_else; endmodule\n", "finn-plus 9.9")
        first, why, what_to_do = str(caught.value).splitlines()
        assert first == (f"finn-plus 9.9: rule {rule.name!r} must match once in {file}, but matches 0 times")
        assert rule.why in why
        assert "requirements/lock.txt" in what_to_do


CHANGED = {
    "fifo-packed-struct": ([], ["packed"]),
    "skid-error-argument": ([], ["FEED_STAGES"]),
    "pad1d-hoist": (["fold_t"], ["logic", "SIMD", "ELEM_WIDTH", "1", "0"]),
}
"""Which words of the text a rule removes, and which it adds."""


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_changes_only_its_place(rule, library):
    """Moved text aside, all words stay, except those that are known to change."""
    for file in rule.files:
        before = (library.folder / file).read_text()
        after = rule.apply(file, before, "x")
        words = [Counter(re.findall(r"\w+", text)) for text in (before, after)]
        removed, added = CHANGED.get(rule.name, ([], []))
        assert words[0] - words[1] == Counter(removed)
        assert words[1] - words[0] == Counter(added)


def test_names_of_rules_are_distinct():
    assert len({rule.name for rule in RULES}) == len(RULES)


def test_a_copy_beside_generated_code_is_altered_and_another_file_of_that_name_is_not(library, tmp_path):
    copy, other = tmp_path / "skid.sv", tmp_path / "own" / "skid.sv"
    copy.write_bytes((library.folder / "skid/skid.sv").read_bytes())
    other.parent.mkdir()
    other.write_text("module skid; endmodule\n")
    assert library.read(copy).rules == ("skid-error-argument",)
    assert library.read(other).text == "module skid; endmodule\n"


def test_a_library_that_changed_is_refused(tmp_path):
    rule = Rule("example", ("a.sv",), "no tool reads it", r"struct \{", "struct packed {", count=2)
    (tmp_path / "a.sv").write_text("struct { int a; } b;")
    with pytest.raises(RtlSourceError) as caught:
        Library(tmp_path, "finn-plus 2.0", [rule]).read("a.sv")
    assert str(caught.value) == (
        "finn-plus 2.0: rule 'example' must match twice in a.sv, but matches once\n"
        "  why it is needed: no tool reads it\n"
        "  install the version of finn-plus that requirements/lock.txt names, or adapt the rule in "
        "brainsmith/rtl/library/rules.yaml"
    )
