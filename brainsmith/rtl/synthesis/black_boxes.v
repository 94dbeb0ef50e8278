// Vendor cells that FINN's library instantiates, as black boxes: their ports and parameters, nothing of their function
// (AMD UG479, UG579, AM004). Without them a reader either refuses the library or drops the cells, and a report would say
// that no DSP is needed.

(* blackbox *)
module DSP48E1 #(
    parameter A_INPUT = 0, B_INPUT = 0, USE_MULT = 0, USE_SIMD = 0, AUTORESET_PATDET = 0, MASK = 0,
        PATTERN = 0, SEL_MASK = 0, SEL_PATTERN = 0, USE_PATTERN_DETECT = 0, ACASCREG = 0, ADREG = 0,
        ALUMODEREG = 0, AREG = 0, BCASCREG = 0, BREG = 0, CARRYINREG = 0, CARRYINSELREG = 0, CREG = 0,
        DREG = 0, INMODEREG = 0, MREG = 0, OPMODEREG = 0, PREG = 0, USE_DPORT = 0
) (
    input [29:0] A, ACIN,
    input [17:0] B, BCIN,
    input [47:0] C,
    input [24:0] D,
    input [47:0] PCIN,
    input [6:0] OPMODE,
    input [0:0] CLK,
    input [3:0] ALUMODE,
    input [2:0] CARRYINSEL,
    input [4:0] INMODE,
    input [0:0] CARRYIN, CEA1, CEA2, CEAD, CEALUMODE, CEB1, CEB2, CEC, CECARRYIN, CECTRL, CED, CEINMODE, CEM,
        CEP, RSTA, RSTB, RSTC, RSTD, RSTALLCARRYIN, RSTALUMODE, RSTCTRL, RSTINMODE, RSTM, RSTP, CARRYCASCIN,
        MULTSIGNIN,
    output [29:0] ACOUT,
    output [17:0] BCOUT,
    output [47:0] P, PCOUT,
    output [0:0] CARRYCASCOUT, MULTSIGNOUT, OVERFLOW, PATTERNBDETECT, PATTERNDETECT, UNDERFLOW,
    output [3:0] CARRYOUT
);
endmodule

(* blackbox *)
module DSP48E2 #(
    parameter A_INPUT = 0, B_INPUT = 0, USE_MULT = 0, USE_SIMD = 0, AUTORESET_PATDET = 0, MASK = 0,
        PATTERN = 0, SEL_MASK = 0, SEL_PATTERN = 0, USE_PATTERN_DETECT = 0, ACASCREG = 0, ADREG = 0,
        ALUMODEREG = 0, AREG = 0, BCASCREG = 0, BREG = 0, CARRYINREG = 0, CARRYINSELREG = 0, CREG = 0,
        DREG = 0, INMODEREG = 0, MREG = 0, OPMODEREG = 0, PREG = 0, AMULTSEL = 0, BMULTSEL = 0,
        PREADDINSEL = 0, RND = 0, USE_WIDEXOR = 0, XORSIMD = 0, AUTORESET_PRIORITY = 0,
        IS_ALUMODE_INVERTED = 0, IS_CARRYIN_INVERTED = 0, IS_CLK_INVERTED = 0, IS_INMODE_INVERTED = 0,
        IS_OPMODE_INVERTED = 0, IS_RSTALLCARRYIN_INVERTED = 0, IS_RSTALUMODE_INVERTED = 0,
        IS_RSTA_INVERTED = 0, IS_RSTB_INVERTED = 0, IS_RSTCTRL_INVERTED = 0, IS_RSTC_INVERTED = 0,
        IS_RSTD_INVERTED = 0, IS_RSTINMODE_INVERTED = 0, IS_RSTM_INVERTED = 0, IS_RSTP_INVERTED = 0
) (
    input [29:0] A, ACIN,
    input [17:0] B, BCIN,
    input [47:0] C,
    input [26:0] D,
    input [47:0] PCIN,
    input [8:0] OPMODE,
    input [0:0] CLK,
    input [3:0] ALUMODE,
    input [2:0] CARRYINSEL,
    input [4:0] INMODE,
    input [0:0] CARRYIN, CEA1, CEA2, CEAD, CEALUMODE, CEB1, CEB2, CEC, CECARRYIN, CECTRL, CED, CEINMODE, CEM,
        CEP, RSTA, RSTB, RSTC, RSTD, RSTALLCARRYIN, RSTALUMODE, RSTCTRL, RSTINMODE, RSTM, RSTP, CARRYCASCIN,
        MULTSIGNIN,
    output [29:0] ACOUT,
    output [17:0] BCOUT,
    output [47:0] P, PCOUT,
    output [0:0] CARRYCASCOUT, MULTSIGNOUT, OVERFLOW, PATTERNBDETECT, PATTERNDETECT, UNDERFLOW,
    output [3:0] CARRYOUT,
    output [7:0] XOROUT
);
endmodule

(* blackbox *)
module DSP58 #(
    parameter A_INPUT = 0, B_INPUT = 0, USE_MULT = 0, USE_SIMD = 0, AUTORESET_PATDET = 0, MASK = 0,
        PATTERN = 0, SEL_MASK = 0, SEL_PATTERN = 0, USE_PATTERN_DETECT = 0, ACASCREG = 0, ADREG = 0,
        ALUMODEREG = 0, AREG = 0, BCASCREG = 0, BREG = 0, CARRYINREG = 0, CARRYINSELREG = 0, CREG = 0,
        DREG = 0, INMODEREG = 0, MREG = 0, OPMODEREG = 0, PREG = 0, AMULTSEL = 0, BMULTSEL = 0,
        PREADDINSEL = 0, RND = 0, USE_WIDEXOR = 0, XORSIMD = 0, AUTORESET_PRIORITY = 0,
        IS_ALUMODE_INVERTED = 0, IS_CARRYIN_INVERTED = 0, IS_CLK_INVERTED = 0, IS_INMODE_INVERTED = 0,
        IS_OPMODE_INVERTED = 0, IS_RSTALLCARRYIN_INVERTED = 0, IS_RSTALUMODE_INVERTED = 0,
        IS_RSTA_INVERTED = 0, IS_RSTB_INVERTED = 0, IS_RSTCTRL_INVERTED = 0, IS_RSTC_INVERTED = 0,
        IS_RSTD_INVERTED = 0, IS_RSTINMODE_INVERTED = 0, IS_RSTM_INVERTED = 0, IS_RSTP_INVERTED = 0,
        DSP_MODE = 0, IS_NEGATE_INVERTED = 0, RESET_MODE = 0
) (
    input [33:0] A, ACIN,
    input [23:0] B, BCIN,
    input [57:0] C,
    input [26:0] D,
    input [57:0] PCIN,
    input [8:0] OPMODE,
    input [0:0] CLK,
    input [3:0] ALUMODE,
    input [2:0] CARRYINSEL,
    input [4:0] INMODE,
    input [0:0] CARRYIN, CEA1, CEA2, CEAD, CEALUMODE, CEB1, CEB2, CEC, CECARRYIN, CECTRL, CED, CEINMODE, CEM,
        CEP, RSTA, RSTB, RSTC, RSTD, RSTALLCARRYIN, RSTALUMODE, RSTCTRL, RSTINMODE, RSTM, RSTP, CARRYCASCIN,
        MULTSIGNIN,
    input [2:0] NEGATE,
    input [0:0] ASYNC_RST,
    output [33:0] ACOUT,
    output [23:0] BCOUT,
    output [57:0] P, PCOUT,
    output [0:0] CARRYCASCOUT, MULTSIGNOUT, OVERFLOW, PATTERNBDETECT, PATTERNDETECT, UNDERFLOW,
    output [3:0] CARRYOUT,
    output [7:0] XOROUT
);
endmodule

(* blackbox *)
module DSPFP32 #(
    parameter A_FPTYPE = 0, A_INPUT = 0, BCASCSEL = 0, B_D_FPTYPE = 0, B_INPUT = 0, PCOUTSEL = 0,
        USE_MULT = 0, IS_CLK_INVERTED = 0, IS_FPINMODE_INVERTED = 0, IS_FPOPMODE_INVERTED = 0,
        IS_RSTA_INVERTED = 0, IS_RSTB_INVERTED = 0, IS_RSTC_INVERTED = 0, IS_RSTD_INVERTED = 0,
        IS_RSTFPA_INVERTED = 0, IS_RSTFPINMODE_INVERTED = 0, IS_RSTFPMPIPE_INVERTED = 0,
        IS_RSTFPM_INVERTED = 0, IS_RSTFPOPMODE_INVERTED = 0, ACASCREG = 0, AREG = 0, FPA_PREG = 0, FPBREG = 0,
        FPCREG = 0, FPDREG = 0, FPMPIPEREG = 0, FPM_PREG = 0, FPOPMREG = 0, INMODEREG = 0, RESET_MODE = 0
) (
    input [0:0] A_SIGN,
    input [7:0] A_EXP,
    input [22:0] A_MAN,
    input [0:0] B_SIGN,
    input [7:0] B_EXP,
    input [22:0] B_MAN,
    input [31:0] C,
    input [0:0] D_SIGN,
    input [7:0] D_EXP,
    input [22:0] D_MAN,
    input [0:0] ACIN_SIGN,
    input [7:0] ACIN_EXP,
    input [22:0] ACIN_MAN,
    input [0:0] BCIN_SIGN,
    input [7:0] BCIN_EXP,
    input [22:0] BCIN_MAN,
    input [31:0] PCIN,
    input [0:0] CLK, FPINMODE,
    input [6:0] FPOPMODE,
    input [0:0] ASYNC_RST, CEA1, CEA2, CEB, CEC, CED, CEFPA, CEFPINMODE, CEFPM, CEFPMPIPE, CEFPOPMODE, RSTA,
        RSTB, RSTC, RSTD, RSTFPA, RSTFPINMODE, RSTFPM, RSTFPMPIPE, RSTFPOPMODE,
    output [0:0] ACOUT_SIGN,
    output [7:0] ACOUT_EXP,
    output [22:0] ACOUT_MAN,
    output [0:0] BCOUT_SIGN,
    output [7:0] BCOUT_EXP,
    output [22:0] BCOUT_MAN,
    output [31:0] PCOUT, FPM_OUT, FPA_OUT,
    output [0:0] FPM_INVALID, FPM_OVERFLOW, FPM_UNDERFLOW, FPA_INVALID, FPA_OVERFLOW, FPA_UNDERFLOW
);
endmodule

(* blackbox *)
module LUT6_2 #(
    parameter INIT = 0
) (
    input [0:0] I0, I1, I2, I3, I4, I5,
    output [0:0] O5, O6
);
endmodule

(* blackbox *)
module SRL16E #(
    parameter INIT = 0
) (
    input [0:0] CLK, CE, D, A0, A1, A2, A3,
    output [0:0] Q
);
endmodule
