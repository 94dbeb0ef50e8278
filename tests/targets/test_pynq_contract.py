"""The target pynq against a stand-in of PYNQ's API: bytes, plans and messages. Nothing here ran on a board."""

import re

import numpy as np
import pytest

from brainsmith.errors import InputError, TargetError, UnsupportedResourceError
from brainsmith.rtl.package.transfers import plan_transfers
from brainsmith.runtime.capabilities import Capabilities
from brainsmith.targets import pynq as target
from brainsmith.targets.pynq import PynqBoard
from tests.rtl.package.packed import FRAMES
from tests.targets.accelerators import SCALE, small, write_build  # noqa: F401  (a fixture)
from tests.targets.pynq_stand_in import Board, make_module


@pytest.fixture
def board(small):  # noqa: F811
    """A stand-in whose design computes what the golden vectors say, byte for byte."""
    return board_of(small)


def board_of(small, **options):  # noqa: F811
    sends, receives = plan_transfers(small.design, dict.fromkeys(("s_axis_0", "m_axis_0"), "axi_dma_0"))
    known = {
        sends.packed(given[None]).tobytes(): receives.packed(found[None])
        for given, found in zip(small.golden["s_axis_0"], small.golden["m_axis_0"], strict=True)
    }
    return Board(lambda frame: known[frame.tobytes()], sends.frame_bytes, receives.frame_bytes, **options)


@pytest.fixture
def use(monkeypatch):
    def put(board, **arguments):
        monkeypatch.setattr(target, "_runtime", lambda: make_module(board))
        return PynqBoard(**arguments)

    return put


@pytest.fixture
def folder(small, tmp_path):  # noqa: F811
    made = small.write(tmp_path / "accelerator")
    (made / "design.bit").write_bytes(b"")
    return made


@pytest.mark.slow
def test_frames_go_as_bytes_and_come_back(use, board, folder, small):  # noqa: F811
    pynq = use(board)
    prepared = pynq.prepare_resource(folder)
    frames = small.golden["s_axis_0"].reshape(FRAMES, 4, 24).astype(np.float32)
    found = pynq.execute(prepared, frames)
    assert list(found) == ["y"]
    assert found["y"].dtype == np.float32
    np.testing.assert_array_equal(found["y"], small.golden["m_axis_0"].reshape(FRAMES, 4, 12))
    sends, receives = prepared.payload.board.transfers
    one, all_in = ("receive", 0, receives.frame_bytes), ("send", 0, FRAMES * sends.frame_bytes)
    assert board.calls[:2] == [one, all_in]
    assert (
        board.calls[2:]
        == [call for _ in range(FRAMES - 1) for call in (("wait", 0), one)] + [("wait", 0)] * 2
    )
    prepared.payload.close()
    assert (board.freed, board.calls[-1]) == (2, ("free",))


def test_bytes_are_the_beats_of_the_design(small):  # noqa: F811
    sends, receives = plan_transfers(small.design, {"s_axis_0": "a", "m_axis_0": "b"})
    assert (sends.sends, sends.engine, receives.sends, receives.engine) == (True, "a", False, "b")
    for one, name in ((sends, "s_axis_0"), (receives, "m_axis_0")):
        stream = one.stream
        values = small.golden[name]
        data = one.packed(values)
        assert (
            len(data) == len(values) * one.frame_bytes == len(values) * stream.layout.beats * stream.bits // 8
        )
        np.testing.assert_array_equal(one.unpacked(data), values)
    first = small.golden["s_axis_0"].reshape(-1)[:2]
    bits = sends.stream.layout.lane_bits
    expected = sum((int(value) % (1 << bits)) << (bits * at) for at, value in enumerate(first)) % 256
    assert sends.packed(small.golden["s_axis_0"])[0] == expected


def test_the_length_register_bounds_a_transfer(use, small, folder):  # noqa: F811
    sends = plan_transfers(small.design, {"s_axis_0": "a", "m_axis_0": "a"})[0]
    bits = (3 * sends.frame_bytes).bit_length()
    board = board_of(small, length_bits=bits, packet=2)
    pynq = use(board)
    prepared = pynq.prepare_resource(folder, {"frames_per_packet": 2})
    frames = small.golden["s_axis_0"].reshape(FRAMES, 4, 24).astype(np.float32)
    found = pynq.execute(prepared, frames)
    np.testing.assert_array_equal(found["y"], small.golden["m_axis_0"].reshape(FRAMES, 4, 12))
    sizes = [size for what, *_, size in board.calls if what == "send"]
    assert all(size <= board.most and size % (2 * sends.frame_bytes) == 0 for size in sizes)
    assert sum(sizes) == FRAMES * sends.frame_bytes
    assert len(sizes) > 1
    with pytest.raises(TargetError, match=r"ends a packet after 2 frames, and 3 frames are not a multiple"):
        pynq.execute(prepared, frames[:3])
    with pytest.raises(
        TargetError, match=r"^pynq: a packet of 100 frames is more than the DMA's length register"
    ):
        pynq.prepare_resource(folder, {"frames_per_packet": 100})


def test_what_the_host_computes_is_computed(use, board, small, tmp_path):  # noqa: F811
    folder = write_build(tmp_path, small)
    (folder / "accelerator" / "design.bit").write_bytes(b"")
    pynq = use(board)
    prepared = pynq.prepare_resource(folder)
    inputs = small.golden["s_axis_0"].reshape(FRAMES, 4, 24).transpose(0, 2, 1)
    found = pynq.execute(prepared, {"picture": inputs.reshape(FRAMES, 24, 4, 1).astype(np.float32)})
    expected = np.maximum(small.golden["m_axis_0"].reshape(FRAMES, 4, 1, 12) * SCALE, 0)
    np.testing.assert_array_equal(found["scores"], expected)


@pytest.mark.parametrize(
    ("stuck", "what"),
    [
        ("sends", r"did not end in 0.01 s"),
        ("receives", r"did not end in 0.01 s"),
        ("error", "reports an error"),
    ],
)
def test_a_transfer_that_does_not_end_is_said(use, board, folder, small, stuck, what):  # noqa: F811
    pynq = use(board)
    prepared = pynq.prepare_resource(folder, {"timeout": 0.01})
    frames = small.golden["s_axis_0"].reshape(FRAMES, 4, 24).astype(np.float32)
    board.stuck = stuck
    with pytest.raises(TargetError) as caught:
        pynq.execute(prepared, frames)
    message = (
        rf"pynq: the transfer of stream m_axis_0 by axi_dma_0 {what}: the overlay must end a packet \(TLAST\) after "
        "each 1 frame of an output"
    )
    assert re.fullmatch(message, str(caught.value))
    assert board.calls[-2:] == [("stop", 0), ("start", 0)]
    with pytest.raises(
        TargetError, match=r"^pynq: a transfer failed before, and frames of it may be left in the logic"
    ):
        pynq.execute(prepared, frames)


def test_engines_are_named_where_there_are_several(use, small, folder):  # noqa: F811
    board = board_of(small, names=("axi_dma_0", "inner/axi_dma_1"))
    pynq = use(board)
    with pytest.raises(TargetError) as caught:
        pynq.prepare_resource(folder)
    assert str(caught.value) == (
        "pynq: each stream needs a DMA, s_axis_0, m_axis_0, not none; the overlay has axi_dma_0, inner/axi_dma_1\n"
        '  name them in the configuration: {"dma": {"s_axis_0": "axi_dma_0", "m_axis_0": "axi_dma_0"}}'
    )
    with pytest.raises(
        TargetError, match=r"^pynq: the overlay has no DMA 'axi_dma_2'; the overlay has axi_dma_0"
    ):
        pynq.prepare_resource(folder, {"dma": {"s_axis_0": "axi_dma_0", "m_axis_0": "axi_dma_2"}})
    named = {"s_axis_0": "axi_dma_0", "m_axis_0": "inner/axi_dma_1"}
    prepared = pynq.prepare_resource(folder, {"dma": named})
    frames = small.golden["s_axis_0"].reshape(FRAMES, 4, 24).astype(np.float32)
    assert np.array_equal(
        pynq.execute(prepared, frames)["y"], small.golden["m_axis_0"].reshape(FRAMES, 4, 12)
    )


def test_overlays_that_are_not_there_or_cannot_be_loaded(use, board, folder):
    (folder / "broken.bit").write_bytes(b"")
    with pytest.raises(
        TargetError, match=r"^pynq: .*broken.bit cannot be loaded: .* is not a valid bitstream$"
    ):
        use(board, bitfile=str(folder / "broken.bit")).prepare_resource(folder)
    pynq = use(board)
    advice = "make one with its import.tcl in Vivado, and put it there, or name it: PynqBoard(bitfile=FILE)"
    assert pynq.supports(folder.parent) == f"{folder} holds 2 overlays: {advice}"
    for file in folder.glob("*.bit"):
        file.unlink()
    assert pynq.supports(folder) == f"{folder} holds no overlay (.bit): {advice}"
    with pytest.raises(UnsupportedResourceError, match=r"holds no overlay \(.bit\): make one"):
        pynq.prepare_resource(folder)
    assert use(board, bitfile="none.bit").supports(folder) == "the overlay none.bit does not exist"
    with pytest.raises(
        UnsupportedResourceError, match=r"^pynq runs the folder of a build with an accelerator"
    ):
        pynq.prepare_resource(b"")


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"bit": 1}, "pynq takes the settings dma, frames_per_packet, timeout, not 'bit'"),
        ({"frames_per_packet": 0}, "frames_per_packet of pynq must be a whole number, 1 or more, not 0"),
        ({"timeout": 0}, "timeout of pynq must be a number of seconds above 0, not 0"),
    ],
)
def test_settings_that_cannot_be_are_refused(use, board, folder, config, message):
    with pytest.raises(TargetError, match=f"^{re.escape(message)}$"):
        use(board).prepare_resource(folder, config)


def test_values_that_do_not_fit_are_not_sent(use, board, folder):
    pynq = use(board)
    prepared = pynq.prepare_resource(folder)
    with pytest.raises(
        InputError, match=r"^input 'x' of the accelerator does not fit: it has values from 8 to 8"
    ):
        pynq.execute(prepared, np.full((1, 4, 24), 8, np.float32))
    assert not board.calls


def test_a_device_that_is_not_there(monkeypatch, board, folder):
    monkeypatch.setattr(target, "_runtime", lambda: make_module(board))
    with pytest.raises(TargetError, match=r"^pynq: there is no device 1; PYNQ finds 1$"):
        PynqBoard(device_id=1).prepare_resource(folder)


def test_here_it_says_what_is_missing_and_where_it_runs(monkeypatch, use, board):
    assert not PynqBoard().is_available()
    assert PynqBoard().unavailable_reason() == (
        "PYNQ is not installed: this target runs on a board, in the Python of a PYNQ 3 image for Zynq or Kria "
        "(https://www.pynq.io)"
    )
    monkeypatch.setattr(target, "find_spec", lambda name: object())
    assert use(board).is_available()
    module = make_module(board)
    module.Device.devices = []
    monkeypatch.setattr(target, "_runtime", lambda: module)
    assert PynqBoard().unavailable_reason() == "PYNQ finds no device: run as root, on a board of its image"

    def fail():
        raise RuntimeError("no XRT")

    monkeypatch.setattr(target, "_runtime", fail)
    assert PynqBoard().unavailable_reason() == "PYNQ does not start: no XRT"


def test_what_it_promises():
    assert PynqBoard().get_capabilities() == Capabilities(bit_exact=True, batch=True, streaming=True)
