"""One frame's handshakes as data for a drawing."""

import json

import numpy as np
import pytest

from brainsmith.rtl.verification.handshakes import handshakes, spans


@pytest.mark.slow
def test_the_handshakes_of_one_frame_of_the_mlp(mlp, simulations):
    shown = handshakes(mlp.design, mlp.inputs(6), 2)
    assert json.loads(json.dumps(shown)) == shown
    assert (shown["frame"], shown["first_cycle"]) == (2, 1024)
    assert 512 < shown["cycles"] < 2000
    links = {link["name"]: link for link in shown["links"]}
    assert list(links) == [link.name for link in mlp.design.links if not link.weights]
    first = links["s_axis_0"]
    assert (first["source"], first["target"], first["bits"], first["depth"]) == (
        "s_axis_0", "Thresholding_rtl_0.in0_V", 8, 2,
    )  # fmt: skip
    for link in shown["links"]:
        cycles = np.zeros(shown["cycles"], int)
        for kind in ("moved", "blocked", "starved"):
            for begin, end in link[kind]:
                assert 0 <= begin < end <= shown["cycles"]
                cycles[begin:end] += 1
        assert cycles.max() == 1  # a cycle is one of them, or none
    last = links["MVAU_rtl_2_out0_V"]
    assert last["moved"][-1][1] == shown["cycles"]  # the frame's last beat
    assert sum(end - begin for begin, end in first["moved"]) >= 64


def test_a_frame_that_is_not_there_is_refused(mlp, simulations):
    with pytest.raises(ValueError, match=r"^frame must be from 0 to 5, not 6$"):
        handshakes(mlp.design, mlp.inputs(6), 6)


def test_spans_are_where_flags_are_set():
    assert spans(np.array([True, True, False, True])) == [[0, 2], [3, 4]]
    assert spans(np.array([False, False])) == []
