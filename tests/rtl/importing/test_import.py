"""From a module and what is said of it to files, and what is said of misuse."""

import pytest

from brainsmith.cli.main import main
from brainsmith.rtl.importing.module_reader import read_module

SOURCE = """\
module scale #(
    int unsigned PE = 2,
    int unsigned BITS = 4,
    int unsigned BY
) (
    input  logic clk,
    input  logic rst_n,
    input  logic [PE-1:0][BITS-1:0] in_data,
    input  logic in_valid,
    output logic in_ready,
    output logic [PE-1:0][2*BITS-1:0] out_data,
    output logic out_valid,
    input  logic out_ready
);
    assign in_ready = out_ready;
    assign out_valid = in_valid;
    always_comb for (int i = 0; i < PE; i++) out_data[i] = (2*BITS)'(BY * in_data[i]);
endmodule
"""
STREAMS = "in=1,6:UINT{BITS}:PE out=1,6:UINT{2*BITS}:PE"
COMPLETE = ("--set", "BY=3", "--streams", STREAMS, "--golden", "golden.py:scale", "--parallel", "PE=6")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".brainsmith").mkdir()
    (tmp_path / "scale.sv").write_text(SOURCE)
    (tmp_path / "golden.py").write_text("def scale(x, BY):\n    return BY * x\n")
    return tmp_path


def bring(*words):
    return main(["kernel", "import", "scale.sv", *words])


def said(capsys):
    return capsys.readouterr().err


def test_what_was_found_is_printed(folder, capsys):
    assert bring(*COMPLETE) == 0
    assert capsys.readouterr().out.splitlines() == [
        "kernel      Scale, backend ScaleRTL",
        "clock       clk",
        "reset       rst_n, active low",
        "input       in_data, in_valid, in_ready: 8 bits, (1, 6) UINT{BITS}",
        "output      out_data, out_valid, out_ready: 16 bits, (1, 6) UINT{2*BITS}",
        "attributes  PE = 2, BITS = 4, BY = 3",
        "parallel    PE divides 6",
        "cycles      6 // PE",
        "",
        "wrote plugins/scale.py",
        "wrote plugins/scale_rtl.py",
        "wrote plugins/scale_golden.py",
        "wrote plugins/scale.sv",
        "wrote tests/test_scale.py",
        "",
        "simulate it: python -m pytest tests/test_scale.py",
    ]


def test_the_written_files(folder, capsys):
    bring(*COMPLETE)
    assert (
        (folder / "plugins" / "scale.py").read_text()
        == '''\
"""Scale: what the core scale computes, in Python."""

from brainsmith.plugin.core import kernel
from brainsmith.rtl.cores.stream_kernel import StreamKernel, StreamType

from .scale_golden import scale as golden_function


@kernel(
    name="Scale",
    description="The core scale, imported",
    requires=("finn-plus",),
    domain="brainsmith.kernels",
)
class ScaleKernel(StreamKernel):
    """The core scale, imported."""

    attributes = {"PE": 2, "BITS": 4, "BY": 3}
    inputs = (StreamType("in", (1, 6), "UINT{BITS}", lanes="PE"),)
    outputs = (StreamType("out", (1, 6), "UINT{2*BITS}", lanes="PE"),)
    cycles = "6 // PE"
    golden = staticmethod(golden_function)
'''
    )
    assert (
        (folder / "plugins" / "scale_rtl.py").read_text()
        == '''\
"""ScaleRTL: the core scale as a layer."""

from brainsmith.plugin.core import backend
from brainsmith.rtl.cores.imported import CorePorts, ImportedCore
from brainsmith.rtl.cores.wrapper import CorePins

from .scale import ScaleKernel


@backend(
    name="ScaleRTL",
    kernel="Scale",
    backend_type="rtl",
    description="The core scale, imported",
    requires=("finn-plus", "pyslang==12.1.0"),
    domain="brainsmith.backends.rtl",
)
class ScaleRTL(ImportedCore, ScaleKernel):
    """scale behind AXI streams with FINN's names."""

    core = "scale"
    sources = ("scale.sv",)
    ports = CorePorts(
        streams={"in": ("in_data", "in_valid", "in_ready"), "out": ("out_data", "out_valid", "out_ready")},
        pins=CorePins(clocks=("clk",), reset="rst_n", reset_low=True),
    )
    parallel = {"PE": 6}
'''
    )


def test_the_same_from_a_file(folder, capsys):
    bring(*COMPLETE)
    first = {path.name: path.read_text() for path in (folder / "plugins").iterdir() if path.is_file()}
    (folder / "scale.yaml").write_text(
        "set: {BY: 3}\nparallel: {PE: 6}\ngolden: golden.py:scale\nstreams:\n"
        "  in: {shape: [1, 6], datatype: 'UINT{BITS}', lanes: PE}\n"
        "  out: {shape: [1, 6], datatype: 'UINT{2*BITS}', lanes: PE}\n"
    )
    assert bring("--description", "scale.yaml", "--output", "other") == 0
    assert {path.name: path.read_text() for path in (folder / "other").iterdir()} == first
    assert capsys.readouterr().out.endswith(
        "other is not scanned for plugins yet: `mkdir .brainsmith` in the folder that holds plugins/ makes it a project, "
        "or name the folder in the setting plugin_folders\n"
    )


@pytest.mark.slow
def test_a_wrong_golden_function_is_found_by_the_written_check(folder, simulations):
    from brainsmith.plugin.manager import reset_plugin_system
    from brainsmith.rtl.cores.checking import check_kernel

    (folder / "golden.py").write_text("def scale(x, BY):\n    return BY * x + (x == 15)\n")
    bring(*COMPLETE)
    reset_plugin_system()
    check = check_kernel("Scale", folder / "code")
    assert not check.right
    assert str(check).startswith("layer 'ScaleRTL_0' (ScaleRTL) alone is wrong: ")
    assert " instead of 46" in str(check)


KEYS = "name, description, files, set, tie, open, streams, parallel, cycles, early, golden"

MISSING = (
    "error: the shape and datatype of these streams are unknown:\n"
    "  'in', input of 8 bits (in_data, in_valid, in_ready)\n"
    "  'out', output of 16 bits (out_data, out_valid, out_ready)\n"
    '  state them: --streams "in=SHAPE:DATATYPE:LANES out=SHAPE:DATATYPE:LANES", such as 1,8:INT4:2 for 8 values in beats '
    "of 2; parameters may stand for numbers, 1,CHANNELS:INT{BITS}:PE\n"
)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ((), "error: module 'scale' has no default for BY: give them values, --set BY=...\n"),
        (("--top", "skale"), "error: scale.sv: no module 'skale' is defined there, only scale\n"),
        (("--set", "BY=3"), MISSING),
        (("--set", "BY"), "error: --set takes NAME=VALUE, with commas between several, not 'BY'\n"),
        (("--set", "BY=1,BY=2"), "error: --set gives BY twice\n"),
        (
            ("--set", "BY=3", "--streams", "in"),
            "error: --streams takes NAME=SHAPE:DATATYPE:LANES, with spaces between several, such as "
            "in=1,CHANNELS:INT8:PE, not 'in'\n",
        ),
        (
            ("--set", "BY=3", "--streams", f"{STREAMS} x=1:INT2"),
            "error: module 'scale' has no stream 'x'; it has in, out\n",
        ),
        (
            ("--set", "BY=3", "--streams", "in=1,6:UINT{BYTES}:PE out=1,5:UINT8:PE"),
            "error: the description of the streams does not fit:\n"
            "  'in': 'BYTES': unknown name 'BYTES'; known are PE, BITS, BY\n"
            "  'out': 2 lanes do not divide the last axis of [1, 5]\n",
        ),
        (
            ("--set", "BY=3", "--streams", "in=1,6:UNIT4:PE out=1,6:UINT4:PE"),
            "error: the description of the streams does not fit:\n"
            "  'in': there is no datatype 'UNIT4'; datatypes are INT8, UINT4, BIPOLAR and so on\n"
            "  'out': 2 lanes of UINT4 are 8 bits, and its port 'out_data' has 16\n",
        ),
        (
            ("--set", "BY=3", "--streams", STREAMS),
            "error: the golden function must be given, --golden FILE.py:FUNCTION: it takes one int64 array for each input "
            "and returns what the core must give\n",
        ),
        (
            ("--set", "BY=3", "--streams", STREAMS, "--golden", "golden.py:skale"),
            "error: golden.py has no function 'skale'; it has scale\n",
        ),
        ((*COMPLETE[:-1], "PE=5"), "error: --parallel: PE is 2, which does not divide 5\n"),
        (
            (*COMPLETE[:-1], "SIMD=6"),
            "error: --parallel: module 'scale' has no parameter 'SIMD' that is a number; it has PE, BITS, BY\n",
        ),
        (
            (*COMPLETE, "--cycles", "6 / PE"),
            "error: --cycles: '6 / PE': '6 / PE' is not allowed: only numbers, names, + - * // % ( ) max min are\n",
        ),
        (
            (*COMPLETE, "--name", "my core"),
            "error: --name must be a Python identifier such as MyCore, not 'my core'\n",
        ),
        (
            (*COMPLETE, "--name", "Class"),
            "error: the kernel cannot be called 'Class': 'class' is a keyword of Python\n"
            "  give it another name with --name\n",
        ),
        (
            (*COMPLETE, "--name", "My_vec"),
            "error: the kernel cannot be called 'My_vec': QONNX takes what follows '_v' in a type of node for its "
            "version\n  give it another name with --name\n",
        ),
        (
            (*COMPLETE, "--name", "Stream"),
            "error: the kernel cannot be called 'Stream': StreamKernel is the class that kernels are made of\n"
            "  give it another name with --name\n",
        ),
        (
            (*COMPLETE, "--description", "no.yaml"),
            "error: no.yaml: there is no such file.\n",
        ),
    ],
)
def test_misuse_has_its_own_message_and_writes_nothing(folder, capsys, words, text):
    assert bring(*words) == 1
    assert said(capsys) == text
    assert not (folder / "plugins").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ", nor any other"),
        ("module (\n", ", nor any other\n  scale.sv:1:7: error: expected identifier\n  module (\n"),
        (
            "module other; endmodule\nmodul scale; endmodule\n",
            ", only other\n  scale.sv:2:",
        ),
    ],
)
def test_a_file_without_a_module_shows_its_errors(folder, capsys, text, message):
    (folder / "scale.sv").write_text(text)
    assert bring() == 1
    assert said(capsys).startswith(f"error: scale.sv: no module 'scale' is defined there{message}")


def test_a_folder_is_no_source(folder, capsys):
    assert main(["kernel", "import", "."]) == 1
    assert said(capsys) == "error: .: this is a folder; name the file\n"


@pytest.mark.parametrize(
    ("yaml", "text"),
    [
        ("steams: {}\n", "a.yaml:1:1: unknown key 'steams' in a description. Did you mean 'streams'?"),
        ("name: x\nset: 3\n", "a.yaml:2:1: set must be dict, not 3"),
        ("- a\n", "a.yaml:1:1: a description must be a mapping, not a list"),
        ("", "a.yaml: the file is empty; its keys are " + KEYS),
        (
            "open: x\nname: 3\n",
            "a.yaml:1:1: open must be list, not 'x'\na.yaml:2:1: name must be str, not 3",
        ),
        ("name: x\nname: y\n", "a.yaml:2:1: key 'name' in a description is given twice: first at a.yaml:1:1"),
        ("set: {BY: [}\n", "a.yaml:1:12: not valid YAML: expected the node content, but found '}'"),
        (
            "streams: {in: 3}\n",
            "a.yaml:1:1: stream 'in' must be a table of shape (a list), datatype and lanes, not 3",
        ),
    ],
)
def test_a_description_that_is_wrong(folder, capsys, yaml, text):
    (folder / "a.yaml").write_text(yaml)
    assert bring("--description", "a.yaml") == 1
    assert said(capsys) == f"error: {text}\n"


def test_nothing_is_written_over(folder, capsys):
    bring(*COMPLETE)
    (folder / "plugins" / "scale.py").write_text("# mine\n")
    capsys.readouterr()
    assert bring(*COMPLETE) == 1
    assert said(capsys) == (
        "error: plugins/scale.py: this file exists with other content, and is not overwritten\n"
        "  --update overwrites what an earlier import of it wrote; or give the kernel another name with --name\n"
    )
    assert (folder / "plugins" / "scale.py").read_text() == "# mine\n"


def test_after_an_edit_an_update_writes_over_what_was_written_and_leaves_the_test(folder, capsys):
    bring(*COMPLETE)
    (folder / "tests" / "test_scale.py").write_text("# more tests\n")
    (folder / "scale.sv").write_text(SOURCE.replace("PE = 2", "PE = 3"))
    capsys.readouterr()
    assert bring(*COMPLETE) == 1
    assert bring(*COMPLETE, "--update") == 0
    out = capsys.readouterr().out
    assert [line for line in out.splitlines() if line.startswith("updated")] == [
        "updated plugins/scale.py",
        "updated plugins/scale.sv",
    ]
    assert out.endswith("simulate it: python -m pytest tests/test_scale.py\n")
    assert '"PE": 3' in (folder / "plugins" / "scale.py").read_text()
    assert (folder / "plugins" / "scale.sv").read_text() == (folder / "scale.sv").read_text()
    assert (folder / "tests" / "test_scale.py").read_text() == "# more tests\n"
    assert bring(*COMPLETE, "--update") == 0
    assert "\nnothing has changed\n" in capsys.readouterr().out


def test_an_update_keeps_an_edit_where_it_would_write_the_same_as_before(folder, capsys):
    bring(*COMPLETE)
    kernel = folder / "plugins" / "scale.py"
    kernel.write_text(kernel.read_text() + "# mine\n")
    (folder / "scale.sv").write_text(SOURCE + "// a remark\n")
    capsys.readouterr()
    assert bring(*COMPLETE, "--update") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith(("updated", "kept"))] == [
        "updated plugins/scale.sv",
        "kept plugins/scale.py: it was edited, and the import would write the same as before",
    ]
    assert kernel.read_text().endswith("# mine\n")


@pytest.mark.parametrize("record", [True, False])
def test_an_update_overwrites_no_edit_unless_it_is_forced(folder, capsys, record):
    bring(*COMPLETE)
    kernel, source = folder / "plugins" / "scale.py", folder / "plugins" / "scale.sv"
    before = kernel.read_text()
    kernel.write_text(before + "# mine\n")
    if not record:
        (folder / "plugins" / "scale.import.json").unlink()
    (folder / "scale.sv").write_text(SOURCE.replace("PE = 2", "PE = 3"))
    capsys.readouterr()
    assert bring(*COMPLETE, "--update") == 1
    named, it = ("plugins/scale.py", "it") if record else ("plugins/scale.py, plugins/scale.sv", "them")
    assert said(capsys) == (
        f"error: {named}: edited since an earlier import wrote {it}, and not overwritten\n"
        "  move the edits into the core, its golden function or its description; or --update --force overwrites them\n"
    )
    assert kernel.read_text() == before + "# mine\n"
    assert source.read_text() == SOURCE
    assert bring(*COMPLETE, "--update", "--force") == 0
    assert kernel.read_text() == before.replace('"PE": 2', '"PE": 3')
    assert source.read_text() == (folder / "scale.sv").read_text()
    assert bring(*COMPLETE, "--update") == 0


def test_force_alone_is_a_usage_error(folder, capsys):
    assert bring(*COMPLETE, "--force") == 2
    assert said(capsys) == (
        "error: --force needs --update: it overwrites what was edited since an earlier import\n"
    )


def test_an_update_of_nothing_is_an_error_and_takes_no_other_plugin_s_name(folder, capsys):
    assert bring(*COMPLETE, "--update") == 1
    assert said(capsys) == (
        "error: plugins/scale.py: there is no such kernel to update; import it without --update first\n"
    )
    assert not (folder / "plugins").exists()
    assert bring(*COMPLETE, "--name", "MVAU", "--update") == 1
    assert said(capsys).startswith("error: the kernel cannot be called 'MVAU': ")


def test_an_update_that_cannot_be_written_changes_nothing(folder, capsys):
    bring(*COMPLETE)
    before = (folder / "plugins" / "scale.py").read_text()
    (folder / "plugins" / "scale.sv").unlink()
    (folder / "plugins" / "scale.sv").mkdir()
    (folder / "scale.sv").write_text(SOURCE.replace("PE = 2", "PE = 3"))
    capsys.readouterr()
    assert bring(*COMPLETE, "--update") == 1
    assert said(capsys) == "error: plugins/scale.sv: cannot be written: Is a directory\n"
    assert (folder / "plugins" / "scale.py").read_text() == before


def test_the_written_test_simulates_as_many_frames_as_it_takes(folder):
    bring(*COMPLETE)
    assert 'check_kernel("Scale", tmp_path)\n' in (folder / "tests" / "test_scale.py").read_text()


def test_a_module_with_errors_is_quoted(folder, capsys):
    (folder / "scale.sv").write_text(SOURCE.replace("assign in_ready = out_ready;", "part p ();"))
    assert bring(*COMPLETE) == 1
    assert "scale.sv:15:5: error: unknown module 'part'" in said(capsys)


def test_widths_follow_from_the_parameters(folder):
    def widths(**parameters):
        return {
            port.name: port.bits for port in read_module([folder / "scale.sv"], "scale", parameters).ports
        }

    assert widths(BY=1)["out_data"] == 16
    assert widths(BY=1, PE=3, BITS=5)["out_data"] == 30
