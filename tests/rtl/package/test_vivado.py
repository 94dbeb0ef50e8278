"""import.tcl in a Tcl interpreter with stand-ins for Vivado's commands, which note how they are called."""

import re
import shutil
import subprocess

import pytest

from tests.rtl.package.packed import PART

DOCUMENTED = {
    "add_files", "create_project", "current_fileset", "current_project", "get_property", "report_timing_summary",
    "report_utilization", "set_property", "synth_design", "update_compile_order", "update_ip_catalog",
    "write_checkpoint",
}  # fmt: skip
"""The commands that the script uses, as AMD's UG835 (Tcl command reference) lists them."""

STAND_INS = """
set calls {}
proc unknown {args} { lappend ::calls $args; return {} }
proc current_project {} { lappend ::calls current_project; return the_project }
proc current_fileset {} { lappend ::calls current_fileset; return the_fileset }
proc get_property {args} { lappend ::calls [list get_property {*}$args]; return /elsewhere/cores }
"""


@pytest.fixture
def vivado(folder, tmp_path):
    """Run the script from another folder; return the commands, each a list of words, or the error."""
    program = shutil.which("tclsh")
    if program is None:
        pytest.skip("needs tclsh")

    def run(*words):
        script = STAND_INS + (
            f"set argv {{{' '.join(words)}}}\n"
            f'if {{[catch {{source {{{folder}/import.tcl}}}} message]}} {{ puts "error: $message"; exit }}\n'
            "foreach call $calls { puts [join $call \\t] }\n"
        )
        work = tmp_path / "work"
        work.mkdir(exist_ok=True)
        done = subprocess.run(
            [program], input=script, cwd=work, capture_output=True, text=True, check=True, timeout=60
        )
        assert done.stderr == ""
        return [line.split("\t") for line in done.stdout.splitlines()], work

    return run


def test_it_makes_a_project_of_copies_with_absolute_paths(vivado, folder):
    calls, work = vivado()
    project = work / "vivado"
    copies = project / "finn_sources"
    names = (folder / "filelist.f").read_text().split()
    memories = sorted(path.name for path in (folder / "memory").iterdir())
    assert calls == [
        ["create_project", "finn_design", str(project), "-part", PART],
        ["add_files", "-norecurse", " ".join(str(copies / name) for name in names)],
        ["add_files", "-norecurse", " ".join(str(copies / "memory" / name) for name in memories)],
        ["add_files", "-fileset", "constrs_1", "-norecurse", str(project / "finn_design_clock.xdc")],
        ["current_fileset"],
        ["set_property", "top", "finn_design", "the_fileset"],
        ["update_compile_order", "-fileset", "sources_1"],
    ]
    clock = (project / "finn_design_clock.xdc").read_text()
    assert clock == "create_clock -name ap_clk -period 5 [get_ports ap_clk]\n"
    text = "".join((copies / name).read_text() for name in names)
    loaded = re.findall(r'"([^"]*\.dat)"', text)
    assert loaded == [str(copies / "memory" / "MVAU_rtl_0_memblock.dat")]
    for name in memories:
        assert (copies / "memory" / name).read_text() == (folder / "memory" / name).read_text()


def test_it_synthesises_out_of_context(vivado):
    calls, work = vivado("-synth", "-project", "mine", "-part", "xczu3eg-sbva484-1-e")
    mine = work / "mine"
    assert calls[0] == ["create_project", "finn_design", str(mine), "-part", "xczu3eg-sbva484-1-e"]
    assert calls[-4:] == [
        ["synth_design", "-top", "finn_design", "-part", "xczu3eg-sbva484-1-e", "-mode", "out_of_context"],
        ["report_utilization", "-hierarchical", "-file", str(mine / "finn_design_utilization.rpt")],
        ["report_timing_summary", "-file", str(mine / "finn_design_timing.rpt")],
        ["write_checkpoint", "-force", str(mine / "finn_design.dcp")],
    ]


def test_it_adds_the_core_to_an_open_project(vivado, folder):
    calls, work = vivado("-ip")
    copies = work / "vivado" / "finn_sources"
    assert calls == [
        ["current_project"],
        ["get_property", "ip_repo_paths", "the_project"],
        ["current_project"],
        ["set_property", "ip_repo_paths", f"/elsewhere/cores {copies}", "the_project"],
        ["update_ip_catalog", "-rebuild"],
    ]
    description = (copies / "component.xml").read_text()
    assert description == (folder / "component.xml").read_text()
    for name in re.findall(r"<spirit:name>((?:hdl|memory)/[^<]*)<", description):
        assert (copies / name).is_file()


def test_a_second_core_does_not_silently_replace_the_first(vivado):
    calls, work = vivado("-ip")
    copies = work / "vivado" / "finn_sources"
    description = (copies / "component.xml").read_bytes()
    (copies / "component.xml").write_bytes(b"the first")
    assert vivado("-ip")[0] == [
        [
            f"error: {copies} has the sources of an accelerator already: remove it to replace that one, or name "
            "another folder with -project"
        ]
    ]
    assert (copies / "component.xml").read_bytes() == b"the first"
    shutil.rmtree(copies)
    assert vivado("-ip")[0] == calls
    assert (copies / "component.xml").read_bytes() == description


def test_every_command_is_documented(vivado):
    used = {call[0] for words in (["-synth", "-project", "a"], ["-ip"]) for call in vivado(*words)[0]}
    assert used == DOCUMENTED


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-sinth"], "unknown option -sinth: there is -project DIR, -part PART, -synth, -ip"),
        (["-part"], "-part needs a value"),
        (["-project", "."], "{work} is there already: remove it, or name another folder with -project"),
    ],
)
def test_mistakes_are_said(vivado, words, message):
    calls, work = vivado(*words)
    assert calls == [["error: " + message.replace("{work}", str(work))]]
