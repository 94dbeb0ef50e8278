"""Vendor cells that FINN's library instantiates, as black boxes: their ports and parameters, nothing of their function.

Without them a reader either refuses the library or drops the cells, and a report would say that no DSP is needed.
"""

from __future__ import annotations

_CONTROL = (
    "CLK ALUMODE:4 CARRYINSEL:3 INMODE:5 CARRYIN CEA1 CEA2 CEAD CEALUMODE CEB1 CEB2 CEC CECARRYIN CECTRL CED "
    "CEINMODE CEM CEP RSTA RSTB RSTC RSTD RSTALLCARRYIN RSTALUMODE RSTCTRL RSTINMODE RSTM RSTP CARRYCASCIN MULTSIGNIN"
)
_STATUS = "CARRYCASCOUT MULTSIGNOUT OVERFLOW PATTERNBDETECT PATTERNDETECT UNDERFLOW CARRYOUT:4"
_REGISTERS = "ACASCREG ADREG ALUMODEREG AREG BCASCREG BREG CARRYINREG CARRYINSELREG CREG DREG INMODEREG MREG OPMODEREG PREG"
_MODES = (
    "A_INPUT B_INPUT USE_MULT USE_SIMD AUTORESET_PATDET MASK PATTERN SEL_MASK SEL_PATTERN USE_PATTERN_DETECT "
    + _REGISTERS
)
_NEWER = (
    "AMULTSEL BMULTSEL PREADDINSEL RND USE_WIDEXOR XORSIMD AUTORESET_PRIORITY IS_ALUMODE_INVERTED IS_CARRYIN_INVERTED "
    "IS_CLK_INVERTED IS_INMODE_INVERTED IS_OPMODE_INVERTED IS_RSTALLCARRYIN_INVERTED IS_RSTALUMODE_INVERTED "
    "IS_RSTA_INVERTED IS_RSTB_INVERTED IS_RSTCTRL_INVERTED IS_RSTC_INVERTED IS_RSTD_INVERTED IS_RSTINMODE_INVERTED "
    "IS_RSTM_INVERTED IS_RSTP_INVERTED"
)
_FLOAT = (
    "A_FPTYPE A_INPUT BCASCSEL B_D_FPTYPE B_INPUT PCOUTSEL USE_MULT IS_CLK_INVERTED IS_FPINMODE_INVERTED "
    "IS_FPOPMODE_INVERTED IS_RSTA_INVERTED IS_RSTB_INVERTED IS_RSTC_INVERTED IS_RSTD_INVERTED IS_RSTFPA_INVERTED "
    "IS_RSTFPINMODE_INVERTED IS_RSTFPMPIPE_INVERTED IS_RSTFPM_INVERTED IS_RSTFPOPMODE_INVERTED ACASCREG AREG "
    "FPA_PREG FPBREG FPCREG FPDREG FPMPIPEREG FPM_PREG FPOPMREG INMODEREG RESET_MODE"
)
_FLOAT_CONTROL = (
    "CLK FPINMODE FPOPMODE:7 ASYNC_RST CEA1 CEA2 CEB CEC CED CEFPA CEFPINMODE CEFPM CEFPMPIPE CEFPOPMODE RSTA RSTB RSTC "
    "RSTD RSTFPA RSTFPINMODE RSTFPM RSTFPMPIPE RSTFPOPMODE"
)


def _words(a: int, b: int, d: int, p: int, opmode: int) -> tuple[str, str]:
    """Return a DSP slice's inputs and outputs that differ in width from one generation to the next."""
    ends = f"A:{a} ACIN:{a} B:{b} BCIN:{b} C:{p} D:{d} PCIN:{p} OPMODE:{opmode}"
    return f"{ends} {_CONTROL}", f"ACOUT:{a} BCOUT:{b} P:{p} PCOUT:{p} {_STATUS}"


_E1 = _words(30, 18, 25, 48, 7)
_E2 = _words(30, 18, 27, 48, 9)
_58 = _words(34, 24, 27, 58, 9)

CELLS = {
    "DSP48E1": (f"{_MODES} USE_DPORT", *_E1),
    "DSP48E2": (f"{_MODES} {_NEWER}", _E2[0], f"{_E2[1]} XOROUT:8"),
    "DSP58": (
        f"{_MODES} {_NEWER} DSP_MODE IS_NEGATE_INVERTED RESET_MODE",
        f"{_58[0]} NEGATE:3 ASYNC_RST",
        f"{_58[1]} XOROUT:8",
    ),
    "DSPFP32": (
        _FLOAT,
        "A_SIGN A_EXP:8 A_MAN:23 B_SIGN B_EXP:8 B_MAN:23 C:32 D_SIGN D_EXP:8 D_MAN:23 ACIN_SIGN ACIN_EXP:8 ACIN_MAN:23 "
        f"BCIN_SIGN BCIN_EXP:8 BCIN_MAN:23 PCIN:32 {_FLOAT_CONTROL}",
        "ACOUT_SIGN ACOUT_EXP:8 ACOUT_MAN:23 BCOUT_SIGN BCOUT_EXP:8 BCOUT_MAN:23 PCOUT:32 FPM_OUT:32 FPA_OUT:32 "
        "FPM_INVALID FPM_OVERFLOW FPM_UNDERFLOW FPA_INVALID FPA_OVERFLOW FPA_UNDERFLOW",
    ),
    "LUT6_2": ("INIT", "I0 I1 I2 I3 I4 I5", "O5 O6"),
    "SRL16E": ("INIT", "CLK CE D A0 A1 A2 A3", "Q"),
}
"""Of each cell: parameters, inputs, outputs; `name:bits` where a port is wider than one (AMD UG479, UG579, AM004)."""


def black_boxes() -> str:
    """Return the cells as empty modules in Verilog."""
    return "\n".join(_module(name, *ports) for name, ports in CELLS.items())


def _module(name: str, parameters: str, inputs: str, outputs: str) -> str:
    ports = [
        f"{way} [{int(bits or 1) - 1}:0] {port}"
        for way, names in (("input", inputs), ("output", outputs))
        for port, _, bits in (word.partition(":") for word in names.split())
    ]
    values = ", ".join(f"parameter {parameter} = 0" for parameter in parameters.split())
    return f"(* blackbox *)\nmodule {name} #({values}) (\n    " + ",\n    ".join(ports) + "\n);\nendmodule\n"
