"""How much of its device a design takes: beside the figures of the summary, and below those of the synthesis."""

from brainsmith.build.device_use import device_use
from brainsmith.figures import share
from brainsmith.rtl.devices.device import FpgaDevice
from brainsmith.web.subject import read_subject
from brainsmith.web.summary import summary
from brainsmith.web.synthesis import synthesis_section

DEVICE = FpgaDevice("xc7z010", 17600, 35200, 120, 0, 80)
SYNTHESIS = {"lut": 35200, "lutram": 5, "ff": 3520, "bram18": 12, "uram": 0, "dsp": 8, "layers": []}
ESTIMATE = {"lut": 176, "bram18": 6, "dsp": 4}


def report_of(synthesis):
    use = device_use(DEVICE, synthesis, ESTIMATE, [])
    return {"estimate": ESTIMATE, "synthesis": synthesis, "device": use}


def shown(synthesis):
    report = report_of(synthesis)
    return str(summary(report, read_subject(report), (), ()))


def test_tiles_say_it():
    page = shown(SYNTHESIS)
    assert (
        '<p class="note bad">look-up tables, synthesised; estimated 176; 200.00 % of the 17,600 in xc7z010</p>'
        in page
    )
    assert '<p class="note">multipliers, synthesised; estimated 4; 10.00 % of the 80 in xc7z010</p>' in page
    assert '<p class="note">multipliers; 5.00 % of the 80 in xc7z010</p>' in shown(None)


def test_the_synthesis_has_a_row_of_it():
    page = str(synthesis_section(SYNTHESIS, report_of(SYNTHESIS)["device"]))
    row = page[page.index("Of xc7z010") :].partition("</tr>")[0]
    assert [text for text in ("200.00 %", "10.00 %") if text in row] == ["200.00 %", "10.00 %"]
    assert "Of xc7z010" not in str(synthesis_section(SYNTHESIS, report_of(None)["device"]))
    assert "Of " not in str(synthesis_section(SYNTHESIS)).partition("<tfoot>")[2]


def test_a_share():
    assert [share(value) for value in (0.0, 0.5, 1.0, 6.82)] == ["0.00 %", "50.00 %", "100.00 %", "682.00 %"]
