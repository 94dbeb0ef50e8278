"""The picture of handshakes in the page: an image, so that nothing in it can run; or the reason why there is none."""

import base64
import copy

import pytest

from brainsmith.web.page import page

from .circuits import RTL
from .pages import Page
from .test_page import whole

PICTURE = '<svg role="img" viewBox="0 0 1424 602" width="1424" height="602"><script>alert(1)</script></svg>\n'
WAVE = {"file": "report/wave.svg", "frame": 0, "cycles": 1869, "interval": 512, "reason": ""}


@pytest.fixture
def simulated(report):
    """The report of a circuit of which a frame was drawn."""
    return {**report, "rtl": {**copy.deepcopy(RTL), "wave": dict(WAVE)}}


def test_the_picture_is_an_image_with_its_words(simulated):
    document = page(simulated, PICTURE)
    parsed = Page(document)
    assert parsed.problems == []
    (image,) = parsed.all("img")
    assert base64.b64decode(image["src"].removeprefix("data:image/svg+xml;base64,")).decode() == PICTURE
    assert (image["width"], image["height"]) == ("1424", "602")
    words = "frame 0 on its way through the circuit, 1,869 cycles, the next one 512 cycles later"
    assert image["alt"] == f"Handshakes of every stream: {words}"
    assert f"Handshakes {words}" in parsed.text
    assert "alert" not in document


def test_without_a_following_frame_there_is_no_interval(simulated):
    simulated["rtl"]["wave"]["interval"] = None
    text = Page(page(simulated, PICTURE)).text
    assert "frame 0 on its way through the circuit, 1,869 cycles FIFOs" in text


@pytest.mark.parametrize("missing", ["frame", "cycles"])
def test_of_a_report_without_its_figures_the_picture_is_shown_all_the_same(simulated, missing):
    simulated["rtl"]["wave"][missing] = None
    (image,) = Page(page(simulated, PICTURE)).all("img")
    assert image["alt"] == "Handshakes of every stream: one frame on its way through the circuit"


def test_a_picture_that_could_not_be_drawn_says_why(simulated):
    simulated["rtl"]["wave"] |= {"file": None, "reason": "g++ is gone"}
    assert "The handshakes of a frame were not drawn: g++ is gone" in whole(simulated).text


def test_where_none_was_to_be_drawn_nothing_is_said(simulated):
    simulated["rtl"]["wave"] = None
    assert "andshakes" not in whole(simulated).text
    assert "andshakes" not in Page(page(simulated, "no picture")).text


def test_a_picture_whose_frames_come_slower_than_at_full_speed_says_why(simulated):
    simulated["rtl"]["interval_cycles"] = 400
    assert (
        "1,869 cycles, the next one 512 cycles later, because its inputs come evenly spread; at full speed it is 400 cycles"
        in Page(page(simulated, PICTURE)).text
    )
