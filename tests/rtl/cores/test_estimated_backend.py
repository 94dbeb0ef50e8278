"""What FINN and the estimates ask a backend for, of what it states for a family of parts."""

import pytest

from brainsmith.backends.rtl.multiplier import multiplier
from brainsmith.backends.rtl.page_memory import page_memory_resources
from brainsmith.errors import BuildError
from brainsmith.rtl.cores.estimated_backend import EstimatedBackend, stated_resources
from brainsmith.rtl.resource_models.layer_needs import layer_needs
from brainsmith.rtl.synthesis.cells import Resources
from brainsmith.steps.resources import estimated_resources

ZYNQ, ULTRASCALE_PLUS = "xc7z020clg400-1", "xczu7ev-ffvc1156-2-e"


class Multiplying(EstimatedBackend):
    """A product of 26 by 18 bits with a memory of 64 words of 3 bits."""

    def core_resources(self, family):
        product = multiplier(26, 18, family, signed=(True, True))
        return product + page_memory_resources(64, 3, family)


class Earlier(EstimatedBackend):
    """As plugins for an earlier version are."""

    def core_resources(self):
        return Resources(lut=7, dsp=2)


def test_a_backend_states_what_it_needs_of_each_family():
    assert stated_resources(Multiplying(), ZYNQ) == Resources(lut=4, lutram=4, ff=3, dsp=2)
    assert stated_resources(Multiplying(), ULTRASCALE_PLUS) == Resources(lut=8, lutram=8, ff=3, dsp=1)


def test_finn_asks_with_a_part_or_without_one():
    layer = Multiplying()
    assert (layer.lut_estimation(ZYNQ), layer.dsp_estimation(ZYNQ)) == (4, 2)
    assert (layer.lut_estimation(), layer.dsp_estimation()) == (8, 1)
    assert (layer.bram_estimation(ZYNQ), layer.uram_estimation(ZYNQ)) == (0, 0)


def test_a_backend_of_an_earlier_version_is_asked_without_the_family():
    assert stated_resources(Earlier(), ZYNQ) == Resources(lut=7, dsp=2)
    assert Earlier().lut_estimation(ZYNQ) == 7


class Imported(EstimatedBackend):
    """Of someone else's core there is no formula."""

    def core_resources(self, family):
        return None


def test_a_backend_without_a_formula_is_one_without_a_model():
    layer = Imported()
    assert stated_resources(layer, ZYNQ) is None
    assert estimated_resources(layer, ZYNQ, None) == dict.fromkeys(("lut", "ff", "bram18", "dsp", "uram"))
    assert layer_needs(layer, ZYNQ, None) is None
    assert (layer.lut_estimation(ZYNQ), layer.bram_estimation(ZYNQ)) == (0, 0)  # FINN adds numbers up


def test_a_part_of_no_family_is_refused():
    with pytest.raises(BuildError, match=r"^part 'nosuch' is not supported: it is of none of these families"):
        stated_resources(Multiplying(), "nosuch")
