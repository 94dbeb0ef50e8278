"""The devices of the families, and what each holds, as their vendors' product tables say it.

Sources, by family: AMD DS180 (7 series), DS190 (Zynq-7000), DS890 (UltraScale and UltraScale+), DS891 (Zynq UltraScale+),
DS889 (RFSoC), DS987 (Kria K26) and DS998 (K24), the Alveo data sheets DS962, DS965 and DS978, DS950 (Versal), DS1013 (V80);
Lattice FPGA-DS-02012 (ECP5), with the exact numbers of LUTs of its chips from project Trellis.

The figures were entered by hand. What was checked since: AMD's LUTs against the tables' numbers of logic cells (1.6 for
each LUT of 7 series, 2.1875 for each later one; the tests do it again, but for Alveo, Kria and a few others); ten boards
against FINN+'s rounded figures (`finn.util.platforms`); and, exactly, what the vendors' own tools reported as available in
published designs: all three ECP5 (Lattice Diamond), xc7a35t, xc7z020, xczu3eg, xczu7ev, xczu9eg, xck26, xcvu9p, xcu50,
xcu250 and xcu280 (Vivado, and what others took from its reports). Nothing differed: where a report has 960 LUTs fewer of an
Alveo card, its shell prohibits these. Block RAM, UltraRAM and DSP slices of the other rows have no second source: where
a figure matters, compare it with the data sheet; `target: {device: ...}` overrides it, and declares a device that is not
here.

A row is names, LUTs, block RAMs of 36 Kbit, UltraRAMs of 288 Kbit, DSP slices. AMD's devices have two flip-flops for
each LUT.
"""

from __future__ import annotations

Row = tuple[str, int, int, int, int]

AMD: tuple[Row, ...] = (
    # Spartan-7
    ("xc7s6", 3_752, 5, 0, 10),
    ("xc7s15", 8_000, 10, 0, 20),
    ("xc7s25", 14_600, 45, 0, 80),
    ("xc7s50", 32_600, 75, 0, 120),
    ("xc7s75", 48_000, 90, 0, 140),
    ("xc7s100", 64_000, 120, 0, 160),
    # Artix-7
    ("xc7a12t", 8_000, 20, 0, 40),
    ("xc7a15t", 10_400, 25, 0, 45),
    ("xc7a25t", 14_600, 45, 0, 80),
    ("xc7a35t", 20_800, 50, 0, 90),
    ("xc7a50t", 32_600, 75, 0, 120),
    ("xc7a75t", 47_200, 105, 0, 180),
    ("xc7a100t", 63_400, 135, 0, 240),
    ("xc7a200t", 134_600, 365, 0, 740),
    # Kintex-7
    ("xc7k70t", 41_000, 135, 0, 240),
    ("xc7k160t", 101_400, 325, 0, 600),
    ("xc7k325t", 203_800, 445, 0, 840),
    ("xc7k355t", 222_600, 715, 0, 1_440),
    ("xc7k410t", 254_200, 795, 0, 1_540),
    ("xc7k420t", 260_600, 835, 0, 1_680),
    ("xc7k480t", 298_600, 955, 0, 1_920),
    # Virtex-7
    ("xc7v585t", 364_200, 795, 0, 1_260),
    ("xc7v2000t", 1_221_600, 1_292, 0, 2_160),
    ("xc7vx330t", 204_000, 750, 0, 1_120),
    ("xc7vx415t", 257_600, 880, 0, 2_160),
    ("xc7vx485t", 303_600, 1_030, 0, 2_800),
    ("xc7vx550t", 346_400, 1_180, 0, 2_880),
    ("xc7vx690t", 433_200, 1_470, 0, 3_600),
    ("xc7vx980t", 612_000, 1_500, 0, 3_600),
    ("xc7vx1140t", 712_000, 1_880, 0, 3_360),
    ("xc7vh580t", 362_800, 940, 0, 1_680),
    ("xc7vh870t", 547_600, 1_410, 0, 2_520),
    # Zynq-7000
    ("xc7z007s", 14_400, 50, 0, 66),
    ("xc7z012s", 34_400, 72, 0, 120),
    ("xc7z014s", 40_600, 107, 0, 170),
    ("xc7z010", 17_600, 60, 0, 80),
    ("xc7z015", 46_200, 95, 0, 160),
    ("xc7z020", 53_200, 140, 0, 220),
    ("xc7z030", 78_600, 265, 0, 400),
    ("xc7z035", 171_900, 500, 0, 900),
    ("xc7z045", 218_600, 545, 0, 900),
    ("xc7z100", 277_400, 755, 0, 2_020),
    # Kintex and Virtex UltraScale
    ("xcku025", 145_440, 360, 0, 1_152),
    ("xcku035", 203_128, 540, 0, 1_700),
    ("xcku040", 242_400, 600, 0, 1_920),
    ("xcku060", 331_680, 1_080, 0, 2_760),
    ("xcku085", 497_520, 1_620, 0, 4_100),
    ("xcku095", 537_600, 1_680, 0, 768),
    ("xcku115", 663_360, 2_160, 0, 5_520),
    ("xcvu065", 358_080, 1_260, 0, 600),
    ("xcvu080", 445_440, 1_421, 0, 672),
    ("xcvu095", 537_600, 1_728, 0, 768),
    ("xcvu125", 716_160, 2_520, 0, 1_200),
    ("xcvu160", 926_400, 3_276, 0, 1_560),
    ("xcvu190", 1_074_240, 3_780, 0, 1_800),
    ("xcvu440", 2_532_960, 2_520, 0, 2_880),
    # Artix UltraScale+
    ("xcau7p", 37_440, 108, 0, 216),
    ("xcau10p", 44_000, 100, 0, 400),
    ("xcau15p", 77_760, 144, 0, 576),
    ("xcau20p", 109_000, 200, 0, 900),
    ("xcau25p", 141_000, 300, 0, 1_200),
    # Kintex UltraScale+
    ("xcku3p", 162_720, 360, 48, 1_368),
    ("xcku5p", 216_960, 480, 64, 1_824),
    ("xcku9p", 274_080, 912, 0, 2_520),
    ("xcku11p", 298_560, 600, 80, 2_928),
    ("xcku13p", 341_280, 744, 112, 3_528),
    ("xcku15p", 522_720, 984, 128, 1_968),
    ("xcku19p", 842_400, 1_728, 288, 1_080),
    # Virtex UltraScale+
    ("xcvu3p", 394_080, 720, 320, 2_280),
    ("xcvu5p", 600_577, 1_024, 470, 3_474),
    ("xcvu7p", 788_160, 1_440, 640, 4_560),
    ("xcvu9p", 1_182_240, 2_160, 960, 6_840),
    ("xcvu11p", 1_296_000, 2_016, 960, 9_216),
    ("xcvu13p", 1_728_000, 2_688, 1_280, 12_288),
    ("xcvu19p", 4_085_760, 2_160, 320, 3_840),
    ("xcvu27p", 1_296_000, 2_016, 960, 9_216),
    ("xcvu29p", 1_728_000, 2_688, 1_280, 12_288),
    ("xcvu31p xcvu33p", 439_680, 672, 320, 2_880),
    ("xcvu35p xcvu45p", 871_680, 1_344, 640, 5_952),
    ("xcvu37p xcvu47p xcvu57p", 1_303_680, 2_016, 960, 9_024),
    # Alveo cards, by the chips on them
    ("xcu50", 871_680, 1_344, 640, 5_952),
    ("xcu55c", 1_303_680, 2_016, 960, 9_024),
    ("xcu200", 1_182_240, 2_160, 960, 6_840),
    ("xcu250", 1_728_000, 2_688, 1_280, 12_288),
    ("xcu280", 1_303_680, 2_016, 960, 9_024),
    # Zynq UltraScale+ MPSoC and Kria
    ("xczu1cg xczu1eg", 37_440, 108, 0, 216),
    ("xczu2cg xczu2eg", 47_232, 150, 0, 240),
    ("xczu3cg xczu3eg xck24", 70_560, 216, 0, 360),
    ("xczu4cg xczu4eg xczu4ev", 87_840, 128, 48, 728),
    ("xczu5cg xczu5eg xczu5ev xck26", 117_120, 144, 64, 1_248),
    ("xczu6cg xczu6eg", 214_604, 714, 0, 1_973),
    ("xczu7cg xczu7eg xczu7ev", 230_400, 312, 96, 1_728),
    ("xczu9cg xczu9eg", 274_080, 912, 0, 2_520),
    ("xczu11eg", 298_560, 600, 80, 2_928),
    ("xczu15eg", 341_280, 744, 112, 3_528),
    ("xczu17eg", 423_403, 796, 102, 1_590),
    ("xczu19eg", 522_720, 984, 128, 1_968),
    # Zynq UltraScale+ RFSoC
    ("xczu21dr xczu27dr xczu28dr xczu29dr xczu39dr", 425_280, 1_080, 80, 4_272),
    ("xczu43dr xczu46dr xczu47dr xczu48dr xczu49dr", 425_280, 1_080, 80, 4_272),
    # Versal
    ("xcvc1902 xcvm1802", 899_840, 967, 463, 1_968),
    ("xcve2302", 150_272, 155, 155, 464),
    ("xcve2802", 520_704, 600, 264, 1_312),
    ("xcvp1202", 900_224, 1_341, 677, 3_984),
    ("xcvp1502", 1_720_448, 2_541, 1_301, 7_440),
    ("xcvp1702", 2_540_672, 3_741, 1_925, 10_896),
    ("xcvp1802", 3_360_896, 4_941, 2_549, 14_304),
    ("xcv80", 2_574_208, 3_741, 1_925, 10_848),
)

LATTICE: tuple[Row, ...] = (
    # Names, LUTs of 4 inputs (each with a flip-flop), block RAMs of 18 Kbit, none, multipliers of 18 by 18 bits
    ("lfe5u-25f lfe5um-25f lfe5um5g-25f", 24_288, 56, 0, 28),
    ("lfe5u-45f lfe5um-45f lfe5um5g-45f", 43_848, 108, 0, 72),
    ("lfe5u-85f lfe5um-85f lfe5um5g-85f", 83_640, 208, 0, 156),
)
