"""A frame's handshakes from a package: a real simulation, and its picture."""

import xml.etree.ElementTree as ET

import pytest

from brainsmith.errors import OutputError, UsageError
from brainsmith.rtl.drawing.wave_drawing import check_file, draw_wave, write_picture

from .packed import write_small

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    return write_small(tmp_path_factory.mktemp("small"))


def rows(wave):
    return [g.get("data-link") for g in ET.fromstring(wave.svg).iter(f"{SVG}g") if g.get("class") == "row"]


@pytest.mark.slow
def test_a_frame_is_simulated_and_drawn(package, simulations):
    wave = draw_wave(package / "accelerator", 1)
    assert (wave.design, wave.frame, wave.interval, wave.changed) == ("small_design", 1, 8, ())
    assert 7 <= wave.cycles <= 9  # four beats, one in two cycles
    assert rows(wave) == list(wave.links) == ["s_axis_0", "fast_out0_V", "slow_out0_V"]
    assert "small_design, handshakes of frame 1" in wave.svg
    assert "at 200 MHz (5 ns a cycle)" in wave.svg


@pytest.mark.slow
def test_links_and_cycles_are_chosen(package, simulations):
    assert rows(draw_wave(package, 0, ["slow_out0_V"])) == ["slow_out0_V"]
    wave = draw_wave(package, 0, ["fast"], (2, 5))
    assert rows(wave) == ["s_axis_0", "fast_out0_V"]
    assert "Shown: cycles 2 to 5." in wave.svg


def test_cycles_that_the_frame_does_not_take(package, simulations):
    taken = draw_wave(package, 0).cycles
    with pytest.raises(UsageError) as caught:
        draw_wave(package, 0, window=(0, 100))
    assert str(caught.value) == f"cycles 0 to 100 cannot be drawn: frame 0 takes cycles 0 to {taken}"


@pytest.mark.slow
def test_changed_files_are_said(tmp_path, simulations):
    folder = write_small(tmp_path)
    source = folder / "accelerator" / "hdl" / "slow.v"
    source.write_text(source.read_text() + "// mine\n")
    assert draw_wave(folder, 0).changed == ("hdl/slow.v is not as it was packed",)


def test_a_picture_that_cannot_be_written(package, simulations, tmp_path):
    wave = draw_wave(package, 0)
    file = tmp_path / "absent" / "a.svg"
    with pytest.raises(OutputError) as caught:
        write_picture(wave.svg, file)
    assert str(caught.value) == (
        f"{file}: the picture cannot be written: No such file or directory\n  name a file in a folder that is writable"
    )
    write_picture(wave.svg, tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text("utf-8") == wave.svg
    check_file(tmp_path / "a.svg")
