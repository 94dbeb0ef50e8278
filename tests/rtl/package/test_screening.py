"""A package from a stranger: what reaches beyond the circuit is refused before anything is compiled or written."""

import json
import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainsmith.cli.main import main
from brainsmith.errors import BuildError, SimulationError
from brainsmith.rtl.library.sources import find_library
from brainsmith.rtl.package.reading import read_package
from brainsmith.rtl.package.rerun import simulate_package
from brainsmith.rtl.package.screening import ALLOWED_TASKS, has_macros, refuse_foreign_code

HINT = (
    " is not allowed in a packed accelerator, which may come from an untrusted source: it could run programs "
    "or open files\n"
    "  take it out, or build the accelerator again; a circuit needs no more than "
    "$readmemh, $clog2, $signed, $display, $error and the like"
)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('initial $system("touch /tmp/x");', "$system"),
        ("initial #1$system(a);", "$system"),
        ('initial $c("exit(1);");', "$c"),
        ('initial $c32("1");', "$c32"),
        ('integer f = $fopen("x", "w");', "$fopen"),
        ('initial $dumpfile("/etc/x");', "$dumpfile"),
        ('initial $writememh("/etc/x", m);', "$writememh"),
        ('initial if ($value$plusargs("a=%d", a)) ;', "$value$plusargs"),
        ("// $system", "$system"),
        ("`ifdef NEVER\n$system\n`endif", "$system"),
        ("`define RUN(x) $``x\n", "a $ that begins no name"),
        ("`define JOIN(a, b) a``b\n", "the operator `` of macros, which can hide a name"),
        ("`RUN($, system)", "a $ that begins no name"),
        ('import "DPI-C" function int system(string s);', "a function of C (DPI)"),
        ('import /* a */ // b\n "\\x44PI-C" function', "a function of C (DPI)"),
        ('`define I import\n`I "DPI-C" function', "a function of C (DPI)"),
        ('x = "\\x44";', "a character by its number, which can hide a name"),
        ('`include "/etc/passwd"', "the directive `include"),
        ("` include", "the directive `include"),
        ("`systemc_header\n#include", "the directive `systemc_header, C++ for the simulator"),
        ("`verilator_config\n", "the directive `verilator_config, C++ for the simulator"),
    ],
)
def test_what_reaches_beyond_the_circuit_is_refused(text, what):
    with pytest.raises(BuildError) as caught:
        refuse_foreign_code("hdl/x.sv", f"module x;\n{text}\nendmodule")
    assert str(caught.value) == f"hdl/x.sv:{3 if 'NEVER' in text else 2}: {what}{HINT}"


@given(
    before=st.text(max_size=30),
    task=st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,12}", fullmatch=True).filter(
        lambda t: t not in ALLOWED_TASKS
    ),
    after=st.sampled_from(["", "(", " ;", "\n", "\\", '"']),
)
def test_no_text_hides_a_task_that_is_not_listed(before, task, after):
    with pytest.raises(BuildError):
        refuse_foreign_code("x.sv", f"{before}${task}{after}")


DPI = 'function int system(string s); initial void\'(system("touch x"));'


@pytest.mark.parametrize(
    ("macros", "text", "what"),
    [
        ("`define X memh", 'initial $write`X("x", m);', "$writememh"),
        ("`define P $write\n`define X memh", 'initial `P`X("x", m);', "$writememh"),
        ("`define P() $write", 'initial `P()memh("x", m);', "$writememh"),
        (
            '`define A im\n`define B port\n`define Q(x) `"x`"',
            f"`A`B `Q(DPI-C) {DPI}",
            "a function of C (DPI)",
        ),
    ],
)
def test_what_macros_join_is_refused_and_does_not_run(
    folder, tmp_path, monkeypatch, capsys, macros, text, what
):
    monkeypatch.chdir(tmp_path)
    source = folder / "hdl" / "fifo.sv"
    text = f"{macros}\n{source.read_text()}\nmodule t; logic [7:0] m [0:1];\n{text}\nendmodule\n"
    source.write_text(text)
    refuse_foreign_code("fifo.sv", text)  # no part of it is refused by itself
    for verb in (["simulate", str(folder)], ["wave", str(folder), "--output", str(tmp_path / "w.svg")]):
        assert main(verb) == 1
        said = capsys.readouterr().err
        assert re.search(rf"error: {folder}/hdl, its macros replaced:\d+: {re.escape(what + HINT)}\n$", said)
    assert sorted(path.name for path in tmp_path.iterdir()) == [folder.name]


def test_macros_that_stay_within_the_circuit_are_taken(folder):
    source = folder / "hdl" / "fifo.sv"
    source.write_text(
        f"`define WORD(n) logic [n-1:0]\n{source.read_text()}\nmodule t; `WORD(3) m; endmodule\n"
    )
    package = read_package(folder)
    assert any("`WORD(3)" in each.text for each in package.plan().sources)
    assert package.circuit() is package.design


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("`timescale 1ns/1ps\n`default_nettype none\n`ifdef A\n`else\n`endif\nmodule x; endmodule", False),
        ("`define A\n", True),
        ("`A", True),
        ("` define A", True),
        ("`ifdef A `B `endif", True),
        ("`", True),
    ],
)
def test_only_sources_with_macros_need_the_preprocessor(text, expected):
    assert has_macros(text) is expected


def test_the_library_of_finn_and_our_own_cores_pass():
    ours = Path(simulate_package.__code__.co_filename).parents[2]
    library = find_library().folder
    files = [
        path
        for root in (ours, library)
        for path in sorted(root.rglob("*.*v"))
        if path.suffix in (".v", ".sv") and not {"sim", "tb"} & set(path.parts)
    ]
    files = [path for path in files if not path.stem.endswith("_tb") and "template" not in path.stem]
    refused = []
    for path in files:
        try:
            refuse_foreign_code(path.name, path.read_text())
        except BuildError as error:
            refused.append(str(error).splitlines()[0])
    # Templates, whose $NAME$ are replaced before they are anybody's source; the gauge and Yosys' map are in no package.
    others = ("_wrapper.v", "fifo_gauge.sv", "mux_to_shift.v")
    assert [each for each in refused if not any(name in each for name in others)] == []
    assert len(files) > 60


def edit(folder, change):
    path = folder / "design.json"
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


@pytest.mark.parametrize("name", ["fifo.sv", "finn_design.v"])
def test_a_program_in_a_source_does_not_run(folder, tmp_path, capsys, name):
    """`wave` makes the top module itself, and refuses what the package's own one says all the same."""
    trap = tmp_path / "trap"
    source = folder / "hdl" / name
    source.write_text(source.read_text() + f'\nmodule t; initial $system("touch {trap}"); endmodule\n')
    line = source.read_text().count("\n")
    for verb in (["simulate", str(folder)], ["wave", str(folder), "--output", str(tmp_path / "w.svg")]):
        assert main(verb) == 1
        *warned, said = capsys.readouterr().err.partition("error: ")[::2]
        assert said == f"{source}:{line}: $system{HINT}\n"
        assert warned in (
            [""],
            [f"warning: {folder}: hdl/{name} is not as it was packed; it is simulated as it is\n"],
        )
    assert not trap.exists()


@pytest.mark.parametrize("name", ["../out.sv", "/tmp/out.sv", "a b.sv", "-o.sv", "", ".hidden", 7])
def test_a_source_named_elsewhere_is_refused(folder, name):
    edit(folder, lambda data: data["sources"][0].update(name=name))
    with pytest.raises(BuildError) as caught:
        read_package(folder)
    assert str(caught.value) == (
        f"{folder}/design.json was not written by a build, or is damaged (ValueError: {name!r} is not the "
        f"name of a file: letters, digits "
        "and _.+- only)\n  build it again"
    )


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda data: data.update(top="x; initial $system(1)"), "'x; initial $system(1)' is not a name"),
        (lambda data: data["layers"][0].update(module="m #(.A(1))"), "'m #(.A(1))' is not a name"),
        (lambda data: data["layers"][0].update(ports=[["p q", True]]), "'p q' is not a name"),
        (lambda data: data["links"][0].update(name="a.b"), "'a.b' is not a name"),
        (lambda data: data["links"][0]["source"].update(stream="s;"), "'s;' is not a name"),
        (lambda data: data["inputs"][0].update(name="../x"), "'../x' is not a name"),
        (lambda data: data["links"][0].update(depth="2), .A("), "'2), .A(' is not a whole number"),
        (lambda data: data["links"][0].update(bits=1 << 40), "is not a whole number from 1 to 65536"),
        (lambda data: data["inputs"][0]["layout"].update(lanes=0), "0 is not a whole number from 1"),
        (lambda data: data["layers"][0].update(cycles=-1), "-1 is not a whole number from 0"),
    ],
)
def test_a_plan_holds_names_and_numbers_only(folder, change, what):
    edit(folder, change)
    with pytest.raises(BuildError) as caught:
        read_package(folder)
    assert str(caught.value).startswith(
        f"{folder}/design.json was not written by a build, or is damaged (ValueError: "
    )
    assert what in str(caught.value)


def elsewhere(folder, name):
    return (
        f"{folder} names the file {name!r}, which is not a file of that folder: a link, or a name that leads elsewhere\n"
        "  build the accelerator again"
    )


@pytest.mark.parametrize("name", ["/etc/passwd", "../x.sv", "hdl/../../x.sv"])
def test_a_list_of_files_names_files_of_the_package_only(folder, name):
    with (folder / "filelist.f").open("a") as file:
        file.write(f"{name}\n")
    package = read_package(folder)
    for read in (package.plan, package.circuit):
        with pytest.raises(BuildError) as caught:
            read()
        assert str(caught.value) == elsewhere(folder, name)


@pytest.mark.parametrize("name", ["hdl/../../x", "../x.sv", "/etc/passwd"])
def test_a_manifest_names_files_of_the_package_only(folder, name):
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["files"][name] = "0"
    path.write_text(json.dumps(manifest))
    with pytest.raises(BuildError) as caught:
        read_package(folder)
    assert str(caught.value) == elsewhere(folder, name)


@pytest.mark.parametrize(
    "name", ["memory/MVAU_rtl_0_memblock.dat", "hdl/fifo.sv", "design.json", "filelist.f"]
)
def test_a_link_to_elsewhere_is_refused(folder, tmp_path, name):
    secret = tmp_path / "secret"
    secret.write_text("0\n")
    (folder / name).unlink()
    (folder / name).symlink_to(secret)
    with pytest.raises(BuildError) as caught:
        read_package(folder).plan()
    assert str(caught.value) == elsewhere(folder, name)


def test_a_pipe_in_the_place_of_a_file_is_refused_and_not_waited_for(folder):
    (folder / "hdl" / "fifo.sv").unlink()
    os.mkfifo(folder / "hdl" / "fifo.sv")
    with pytest.raises(BuildError) as caught:
        read_package(folder)
    assert str(caught.value) == f"{folder}/hdl/fifo.sv is not a file\n  build the accelerator again"


@pytest.mark.parametrize("name", ["design.json", "manifest.json"])
def test_deeply_nested_json_is_damage(folder, name):
    (folder / name).write_text("[" * 100_000)
    with pytest.raises(
        BuildError, match=rf"^{folder}/{name} was not written by a build, or is damaged \(RecursionError: "
    ):
        read_package(folder)


def test_two_files_of_one_name_are_refused(folder):
    (folder / "hdl" / "more").mkdir()
    (folder / "hdl" / "more" / "fifo.sv").write_text("module more; endmodule\n")
    with (folder / "filelist.f").open("a") as file:
        file.write("hdl/more/fifo.sv\n")
    with pytest.raises(BuildError) as caught:
        read_package(folder).plan()
    assert str(caught.value) == f"{folder}/filelist.f names two files fifo.sv: rename one of them"


@pytest.mark.slow
def test_a_memory_outside_of_the_package_is_not_opened(folder, simulations):
    secret = simulations.parent / "secret.dat"  # its path is part of what is kept
    secret.write_text((folder / "memory" / "MVAU_rtl_0_memblock.dat").read_text())
    changed = 0
    for path in (folder / "hdl").iterdir():
        text = path.read_text()
        if '"memory/MVAU_rtl_0_memblock.dat"' in text:
            path.write_text(text.replace('"memory/MVAU_rtl_0_memblock.dat"', f'"{secret}"'))
            changed += 1
    assert changed
    with pytest.raises(SimulationError) as caught:
        simulate_package(read_package(folder), frames=2)
    assert f"{secret}: not opened: a simulation reads only the memories of its plan" in str(caught.value)


def test_golden_vectors_of_a_huge_shape_are_damage(folder):
    (path,) = (folder / "golden").glob("s_axis*.npy")
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776, 4), }".ljust(117) + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00v\x00" + header)
    with pytest.raises(BuildError, match=rf"^{path} cannot be read: .*\n  build the accelerator again$"):
        read_package(folder).golden(path.stem)
