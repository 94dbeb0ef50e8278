"""The picture of handshakes that a build puts into its report: drawn once, kept, and never the end of a build."""

import pytest

from brainsmith.build.wave_picture import wave_for_report
from brainsmith.rtl.drawing.wave_drawing import draw_wave
from tests.rtl.drawing.packed import write_small


@pytest.fixture
def folder(tmp_path, simulations, monkeypatch):
    """A build's folder with a small accelerator; simulations are kept where those of all tests are."""
    (tmp_path / "brainsmith").mkdir()
    (tmp_path / "brainsmith" / "rtl").symlink_to(simulations)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made = write_small(tmp_path / "out")
    (made / "report").mkdir()
    (made / "report" / "rtl_simulation.json").write_text("{}")
    return made


@pytest.mark.slow
def test_the_picture_is_that_of_the_wave_command_and_is_kept(folder, tmp_path, simulations):
    found = wave_for_report(folder, "as built", tmp_path / "cache")
    wave = draw_wave(folder)
    assert found == {
        "file": "report/wave.svg", "frame": 0, "cycles": wave.cycles, "interval": wave.interval, "reason": "",
    }  # fmt: skip
    assert (folder / "report" / "wave.svg").read_text() == wave.svg
    (folder / "accelerator" / "design.json").unlink()  # what is kept needs no simulation
    (folder / "report" / "wave.svg").unlink()
    assert wave_for_report(folder, "as built", tmp_path / "cache") == found
    assert (folder / "report" / "wave.svg").read_text() == wave.svg


def test_a_picture_that_cannot_be_drawn_has_a_reason_and_is_tried_again(folder, tmp_path):
    plan = folder / "accelerator" / "design.json"
    content = plan.read_text()
    plan.unlink()
    found = wave_for_report(folder, "as built", tmp_path / "cache")
    assert found["reason"] == (
        "the build's folder/accelerator holds no whole design: the build's folder/accelerator/design.json: No such file or "
        "directory"
    )
    assert (found["file"], found["frame"], found["cycles"], found["interval"]) == (None, None, None, None)
    plan.write_text(content)
    assert wave_for_report(folder, "as built", tmp_path / "cache")["reason"] == ""


def test_what_takes_too_long_is_left_to_the_command(folder, tmp_path):
    found = wave_for_report(folder, None, tmp_path / "cache", most=107)
    assert found["reason"] == (
        "36 cycles on 3 links are too many to simulate for a report; `brainsmith wave` draws them"
    )
    assert not (folder / "report" / "wave.svg").exists()
    assert wave_for_report(folder, None, tmp_path / "cache", most=108)["reason"] == ""


def test_without_a_package_or_a_simulation_there_is_none(folder, tmp_path):
    assert wave_for_report(tmp_path, None, tmp_path / "cache") is None
    (folder / "report" / "rtl_simulation.json").unlink()
    assert wave_for_report(folder, None, tmp_path / "cache") is None
