"""Which family a part is of."""

import pytest
from finn.util.basic import get_dsp_block, part_map

from brainsmith.errors import BuildError
from brainsmith.rtl.synthesis.fpga_families import FAMILIES, family_of

PARTS = {
    "xc7": ("xc7z020clg400-1", "xc7a35tcpg236-1", "xc7s50csga324-1", "xc7k325tffg900-2", "xc7vx690tffg1761-2", "xa7z010"),
    "xcu": ("xcku040-ffva1156-2-e", "xcvu095-ffva2104-2-e", "xcku115-flva1517-2-e", "xcvu440-flga2892-1-c"),
    "xcup": (
        "xczu7ev-ffvc1156-2-e", "xczu3eg-sbva484-1-e", "xck26-sfvc784-2LV-c", "xck24-ubva530-2LV-c",
        "xcku5p-ffvb676-2-e", "xcvu9p-flga2104-2-i", "xcau25p-ffvb676-2-e", "xcu250-figd2104-2L-e", "xcu55c-fsvh2892-2L-e",
        "xcu50-fsvh2104-2L-e", "xczu28dr-ffvg1517-2-e", "XCZU9EG-FFVB1156-2-E", "xqzu7ev-ffrc1156-1-i",
    ),
    "versal": (
        "xcvc1902-vsva2197-2MP-e-S", "xcvm1802-vsvd1760-2MP-e-S", "xcve2802-vsvh1760-2MP-e-S", "xcvp1802-lsvc4072-2MP-e-S",
        "xcvh1582-vsva3697-2MP-e-S", "xcv80-lsva4737-2MHP-e-S", "xcve2302-sfva784-1LP-e-S",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("name", "part"), [(name, part) for name, parts in PARTS.items() for part in parts])
def test_a_part_is_of_one_family(name, part):
    assert family_of(part).name == name


@pytest.mark.parametrize("part", sorted(set(part_map.values())))
def test_every_board_of_finn_has_a_family_with_the_slice_that_finn_instantiates(part):
    assert family_of(part).dsp == get_dsp_block(part)


def test_names_are_distinct_and_each_family_counts_its_own_slice():
    assert len({family.name for family in FAMILIES}) == len(FAMILIES)
    assert all(family.dsp in family.slices for family in FAMILIES)


@pytest.mark.parametrize("part", ["", "10cx220", "xc6slx45", "zynq", "Pynq-Z1"])
def test_an_unknown_part_is_refused(part):
    with pytest.raises(BuildError) as caught:
        family_of(part)
    assert str(caught.value) == (
        f"part {part!r} is not supported: it is of none of these families (Versal, 7 series and "
        "Zynq-7000, UltraScale+, UltraScale)\n"
        "  target: part: in the blueprint is AMD's full name, such as xczu7ev-ffvc1156-2-e or xc7z020clg400-1"
    )


def test_an_ecp5_is_placed_on_besides():
    with pytest.raises(BuildError) as caught:
        family_of("LFE5U-85F-6BG381C")
    assert str(caught.value) == (
        "part 'LFE5U-85F-6BG381C' is not supported: FINN generates for AMD's parts only\n"
        "  a design for one of those can be placed on an ECP5 besides: {step: rtl_synthesise, args: {place: ecp5-85k}}"
    )
