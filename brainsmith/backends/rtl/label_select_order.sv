// SPDX-License-Identifier: MIT
// Puts numbers in order, the greatest first, one set of them a cycle: a sorting network with a register in each stage.
//
// The network is Batcher's merge exchange (Knuth, The Art of Computer Programming, 5.2.2, algorithm M), which takes any
// count. If only the greatest is asked for, the first stage of each of its rounds is enough. What leads to none of those
// that are asked for is not built.
module label_select_order #(
    int unsigned COUNT = 4,  // numbers
    int unsigned FIRST = 2,  // that are asked for
    int unsigned BITS  = 8   // of a number; all of them differ
) (
    input logic clk,
    input logic enable,  // all registers hold still where it is low

    input  logic [COUNT-1:0][BITS-1:0] numbers,
    output logic [FIRST-1:0][BITS-1:0] ordered
);

    localparam int unsigned ROUNDS = $clog2(COUNT);
    localparam int unsigned STAGES = FIRST == 1 ? ROUNDS : ROUNDS * (ROUNDS + 1) / 2;

    if (STAGES == 0) begin : g_one
        logic unused;
        assign unused  = clk ^ enable;
        assign ordered = numbers;
    end else begin : g_stages
        logic [STAGES-1:0][COUNT-1:0][BITS-1:0] came, after, kept;

        assign came[0] = numbers;
        for (genvar at = 1; at < STAGES; at++) begin : g_kept
            assign came[at] = kept[at-1];
        end

        for (genvar round = 0; round < ROUNDS; round++) begin : g_round
            for (genvar part = 0; part < (FIRST == 1 ? 1 : round + 1); part++) begin : g_part
                localparam int unsigned AT = FIRST == 1 ? round : round * (round + 1) / 2 + part;
                localparam int unsigned STEP = 1 << (ROUNDS - 1 - round);
                localparam int unsigned APART = part == 0 ? STEP : (1 << (ROUNDS - part)) - STEP;
                localparam int unsigned PHASE = part == 0 ? 0 : STEP;

                for (genvar i = 0; i < COUNT; i++) begin : g_number
                    if ((i & STEP) == PHASE && i + APART < COUNT) begin : g_greater
                        assign after[AT][i] =
                            came[AT][i+APART] > came[AT][i] ? came[AT][i+APART] : came[AT][i];
                    end else if (i >= APART && ((i - APART) & STEP) == PHASE) begin : g_less
                        assign after[AT][i] =
                            came[AT][i] > came[AT][i-APART] ? came[AT][i-APART] : came[AT][i];
                    end else begin : g_alone
                        assign after[AT][i] = came[AT][i];
                    end
                end
            end
        end

        always_ff @(posedge clk) if (enable) kept <= after;

        assign ordered = kept[STAGES-1][FIRST-1:0];
    end

endmodule
