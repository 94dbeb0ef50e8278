"""From a part's name to its device; and the table, against figures of the same product tables that are not in it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainsmith.blueprint.goal import _PART
from brainsmith.errors import BuildError
from brainsmith.rtl.devices.device import (
    FpgaDevice,
    board_name,
    boards,
    device_name,
    device_of,
    known_devices,
    part_of,
    require_device,
)
from brainsmith.rtl.synthesis.fpga_families import family_of

PARTS = {
    "xczu7ev-ffvc1156-2-e": "xczu7ev",
    "XCZU9EG-FFVB1156-2-E": "xczu9eg",
    "xczu3eg-sbva484-1-e": "xczu3eg",
    "xczu28dr-ffvg1517-2-e": "xczu28dr",
    "xqzu5ev-ffrb900-1-i": "xczu5ev",
    "xck26-sfvc784-2LV-c": "xck26",
    "xcku3p-ffva676-1-e": "xcku3p",
    "xcku040-ffva1156-2-e": "xcku040",
    "xqrku060-cna1509-1-m": "xcku060",
    "xcvu57p-fsvk2892-2-e": "xcvu57p",
    "xcu250-figd2104-2L-e": "xcu250",
    "xcu55c-fsvh2892-2L-e": "xcu55c",
    "xcvc1902-vsva2197-2MP-e-S": "xcvc1902",
    "xcv80-lsva4737-2MHP-e-S": "xcv80",
    "xc7z020clg400-1": "xc7z020",
    "xa7z010-1clg225": "xc7z010",
    "xc7a35tcpg236-1": "xc7a35t",
    "xc7a35ticsg324-1L": "xc7a35t",
    "xc7vx690tffg1761-2": "xc7vx690t",
    "LFE5U-85F-6BG381C": "lfe5u-85f",
    "LFE5UM5G-45F-8BG381I": "lfe5um5g-45f",
}
CELLS = """
xc7s15 12800  xc7s25 23360  xc7s50 52160  xc7s75 76800  xc7s100 102400  xc7a12t 12800  xc7a15t 16640
xc7a25t 23360  xc7a35t 33280  xc7a50t 52160  xc7a75t 75520  xc7a100t 101440  xc7a200t 215360  xc7k70t 65600
xc7k160t 162240  xc7k325t 326080  xc7k355t 356160  xc7k410t 406720  xc7k420t 416960  xc7k480t 477760
xc7v585t 582720  xc7v2000t 1954560  xc7vx330t 326400  xc7vx415t 412160  xc7vx485t 485760  xc7vx550t 554240
xc7vx690t 693120  xc7vx980t 979200  xc7vx1140t 1139200  xc7vh580t 580480  xc7vh870t 876160  xc7z007s 23000
xc7z012s 55000  xc7z014s 65000  xc7z010 28000  xc7z015 74000  xc7z020 85000  xc7z030 125000  xc7z035 275000
xc7z045 350000  xc7z100 444000  xcku025 318150  xcku035 444343  xcku040 530250  xcku060 725550
xcku085 1088325  xcku095 1176000  xcku115 1451100  xcvu065 783300  xcvu080 975000  xcvu095 1176000
xcvu125 1566600  xcvu160 2026500  xcvu190 2349900  xcvu440 5540850  xcau7p 81900  xcau10p 96250
xcau15p 170100  xcau20p 238437  xcau25p 308437  xcku3p 355950  xcku5p 474600  xcku9p 599550  xcku11p 653100
xcku13p 746550  xcku15p 1143450  xcku19p 1842750  xcvu3p 862050  xcvu5p 1313763  xcvu7p 1724100
xcvu9p 2586150  xcvu11p 2835000  xcvu13p 3780000  xcvu19p 8937600  xcvu27p 2835000  xcvu29p 3780000
xcvu31p 961800  xcvu33p 961800  xcvu35p 1906800  xcvu37p 2851800  xczu1eg 81900  xczu2eg 103320
xczu3eg 154350  xczu4ev 192150  xczu5ev 256200  xczu6eg 469446  xczu7ev 504000  xczu9eg 599550
xczu11eg 653100  xczu15eg 746550  xczu17eg 926194  xczu19eg 1143450  xczu28dr 930300  xczu48dr 930300
xcvc1902 1968400  xcvm1802 1968400  xcve2302 328720  xcve2802 1139040  xcvp1202 1969240  xcvp1502 3763480
xcvp1702 5557720  xcvp1802 7351960
"""
"""Logic cells, of 7 series, and system logic cells, as the product tables count them."""


@pytest.mark.parametrize("part", PARTS)
def test_a_part_has_its_device(part):
    assert require_device(part).name == PARTS[part]


@pytest.mark.parametrize(
    "part",
    ["xczu7ev", "xc7z020clg400", "xczu7ev-", "xczu7evx-ffvc1156-2-e", "xc7z0200clg400-1", "", "lfe5u-85f"],
)
def test_what_only_begins_like_a_device_is_none(part):
    assert device_of(part) is None


def test_a_device_alone_is_no_part():
    with pytest.raises(BuildError) as caught:
        require_device("XC7S6")
    assert str(caught.value) == (
        "the part 'XC7S6' has no package and speed grade, or one of another form\n"
        "  write all of its name, such as xczu7ev-ffvc1156-2-e, xc7z020clg400-1 or LFE5U-85F-6BG381C, or a board's"
    )


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (
            "xczu8ev-ffvc1156-2-e",
            "no device 'xczu8ev' is known, for the part 'xczu8ev-ffvc1156-2-e'. "
            "Did you mean 'xczu7ev' or 'xczu5ev' or 'xczu4ev'?",
        ),
        (
            "xc7z021clg400-1",
            "no device 'xc7z021' is known, for the part 'xc7z021clg400-1'. "
            "Did you mean 'xc7z020' or 'xc7z015' or 'xc7z010'?",
        ),
        ("pynq-z9", "no device 'pynq' is known, for the part 'pynq-z9'. Did you mean 'pynq-z2'?"),
        ("xc4vlx25-ff668-10", "no device 'xc4vlx25' is known, for the part 'xc4vlx25-ff668-10'."),
    ],
)
def test_an_unknown_one_is_said_with_what_is_spelt_alike(part, said):
    with pytest.raises(BuildError) as caught:
        require_device(part)
    assert str(caught.value) == (
        f"{said}\n  one that is not listed is declared beside it: target: {{part: ..., device: {{lut: 117120, ff: 234240, "
        "bram18: 288, uram: 64, dsp: 1248}}"
    )


@pytest.mark.parametrize("board", boards())
def test_a_board_carries_a_device_that_is_known(board):
    assert require_device(boards()[board])
    assert boards()[board].startswith("LFE5U") or family_of(boards()[board])
    assert _PART.fullmatch(boards()[board])
    assert board_name(board) == board


def test_another_name_is_a_part_already():
    assert part_of("xc7z020clg400-1") == "xc7z020clg400-1"
    assert part_of(" Pynq_Z1 ") == "xc7z020clg400-1"


def test_the_page_names_every_board():
    page = (Path(__file__).parents[3] / "docs/blueprint.md").read_text(encoding="utf-8")
    assert [board for board in boards() if f"`{board}`" not in page] == []


def a_part_of(name):
    return f"{name}-6BG381C" if name.startswith("lfe") else f"{name}-ffvc1156-2-e"


@given(st.sampled_from(known_devices()))
def test_every_device_is_found_by_its_own_parts_and_has_a_family(name):
    assert device_of(a_part_of(name)).name == device_name(a_part_of(name)) == name
    if not name.startswith("lfe"):
        assert family_of(name)


def test_known_figures():
    assert require_device("xczu7ev-ffvc1156-2-e") == FpgaDevice("xczu7ev", 230400, 460800, 624, 96, 1728)
    assert require_device("xc7z020clg400-1") == FpgaDevice("xc7z020", 53200, 106400, 280, 0, 220)
    assert require_device("LFE5U-85F-6BG381C") == FpgaDevice("lfe5u-85f", 83640, 83640, 208, 0, 156)


@pytest.mark.parametrize("line", [pair for line in CELLS.strip().splitlines() for pair in line.split("  ")])
def test_luts_follow_from_logic_cells(line):
    name, cells = line.split()
    ratio = 1.6 if name.startswith("xc7") else 2.1875
    found = device_of(f"{name}-ffvc1156-2-e")
    assert found.lut * ratio == pytest.approx(int(cells), rel=0.02 if name.startswith("xc7z") else 0.002)
    assert found.ff == 2 * found.lut


def test_ultraram_is_where_the_family_has_it():
    having = [name for name in known_devices() if require_device(a_part_of(name)).uram]
    assert [name for name in having if name.startswith(("xc7", "xcku0", "xcvu0", "lfe"))] == []


REPORTED = """
lfe5u-25f 24288 56 0 28  lfe5u-45f 43848 108 0 72  lfe5u-85f 83640 208 0 156
xc7a35t 20800 100 0 90  xc7z020 53200 280 0 220  xczu3eg 70560 432 0 360  xczu7ev 230400 624 96 1728
xczu9eg 274080 1824 0 2520  xck26 117120 288 64 1248  xcvu9p 1182240 4320 960 6840  xcu50 871680 2688 640 5952
xcu250 1728000 5376 1280 12288  xcu280 1303680 4032 960 9024
"""
"""LUTs, block RAMs of 18 Kbit, UltraRAMs and DSP slices that Lattice Diamond and Vivado report as available."""


@pytest.mark.parametrize("line", [row for line in REPORTED.strip().splitlines() for row in line.split("  ")])
def test_what_the_vendors_tools_report(line):
    name, *figures = line.split()
    found = device_of(a_part_of(name))
    assert [found.lut, found.bram18, found.uram, found.dsp] == list(map(int, figures))


BOARDS = {
    "Pynq-Z1": "xc7z020",
    "Ultra96": "xczu3eg",
    "ZCU104": "xczu7ev",
    "ZCU102": "xczu9eg",
    "ZCU111": "xczu28dr",
    "U200": "xcu200",
    "U250": "xcu250",
    "U280": "xcu280",
    "U50": "xcu50",
    "U55C": "xcu55c",
}


FINN = """
import json
from brainsmith.plugin.adapters.finn_runtime import prepare_finn
prepare_finn()
from finn.util.basic import part_map
from finn.util import platforms
boards = {name: platforms.platforms[name]().compute_resources for name in BOARDS}
print(json.dumps([part_map, boards]))
"""


@pytest.mark.slow
def test_the_parts_and_figures_of_finn():
    """FINN rounds, and some cards lose a share to their shell; none has more than its device, nor less than half."""
    done = subprocess.run(
        [sys.executable, "-c", f"BOARDS = {list(BOARDS)}\n{FINN}"], capture_output=True, text=True, check=True
    )
    parts, platforms = json.loads(done.stdout.splitlines()[-1])
    assert [part for part in parts.values() if device_of(part) is None] == []
    assert {name: part_of(name).lower() for name in parts} == {
        name: part.lower() for name, part in parts.items()
    }
    for board, regions in platforms.items():
        device = device_of(a_part_of(BOARDS[board]))
        for at, name in enumerate(("lut", "ff", "bram18", "uram", "dsp")):
            there, counted = getattr(device, name), sum(region[at] for region in regions)
            assert 0.5 * there <= counted <= 1.01 * there, (board, name)
