// SPDX-License-Identifier: MIT
// Products of vectors with a matrix of 1-bit weights, which it holds itself.
//
// A weight is -1 (0) or 1 (1). XNOR: inputs are so too, and a result counts the products that are 1, so nothing is
// multiplied, and one look-up table takes three products. Otherwise inputs are integers: a result is twice the sum of
// those with weight 1, less the sum of all, and the latter is the same for all rows, so it is computed once.
// One enable holds the whole pipeline while a result is not taken.
module binary_mvau_core #(
    int unsigned MW = 8,         // values of a vector
    int unsigned MH = 4,         // rows, that is results for each vector
    int unsigned SIMD = 4,       // values of a beat
    int unsigned PE = 2,         // rows at once
    int unsigned XNOR = 1,       // whether inputs are -1 or 1
    int unsigned IN_BITS = 1,    // of a value
    int unsigned IN_SIGNED = 0,  // whether it is in two's complement
    int unsigned OUT_BITS = 4,   // of a result
    int unsigned BLOCK_ROM = 0,  // whether block RAM holds the weights
    parameter WEIGHTS = ""       // file: one word for each step; the first value of the first row is its lowest bit
) (
    input  logic clk,
    input  logic rst,

    input  logic [SIMD-1:0][IN_BITS-1:0] in_data,
    input  logic                         in_valid,
    output logic                         in_ready,

    output logic [PE-1:0][OUT_BITS-1:0] out_data,
    output logic                        out_valid,
    input  logic                        out_ready
);

    localparam int unsigned BEATS = MW / SIMD;
    localparam int unsigned FOLDS = MH / PE;
    localparam int unsigned WORDS = BEATS * FOLDS;
    localparam int unsigned WORD_BITS = WORDS > 1 ? $clog2(WORDS) : 1;
    localparam int unsigned GROUP = 9;  // bits that are counted at once
    localparam int unsigned GROUPS = (SIMD + GROUP - 1) / GROUP;
    localparam int unsigned BINARY = IN_BITS == 1 && IN_SIGNED == 0 ? 1 : 0;
    localparam int unsigned TERMS = BINARY != 0 ? GROUPS : SIMD;  // of the tree of adders
    localparam int unsigned TERM_BITS = BINARY != 0 ? 4 : IN_BITS;
    localparam int unsigned SUM_BITS = TERM_BITS + $clog2(TERMS);
    localparam int unsigned DOT_BITS = XNOR != 0 ? SUM_BITS : SUM_BITS + 1;
    localparam int unsigned DELAY = 1 + BINARY + $clog2(TERMS) + (XNOR != 0 ? 0 : 1);  // from memories to dot product

    logic enable;

    // Each vector, once for each fold of the rows.
    logic [SIMD-1:0][IN_BITS-1:0] given_data, values;
    logic                         given_last, given_valid;

    binary_mvau_replay #(
        .BITS(SIMD * IN_BITS), .BEATS(BEATS), .TIMES(FOLDS)
    ) replay (
        .clk, .rst, .in_data, .in_valid, .in_ready,
        .out_data(given_data), .out_last(given_last), .out_valid(given_valid), .out_ready(enable)
    );

    // The weights of each step.
    logic [PE-1:0][SIMD-1:0] weights;
    logic [WORD_BITS-1:0]    word, next_word;  // the latter in a register, since the memory may be read with it

    if (BLOCK_ROM != 0) begin : g_block
        (* rom_style = "block" *)
        logic [PE*SIMD-1:0] memory[WORDS];

        initial $readmemh(WEIGHTS, memory);
        always_ff @(posedge clk) if (enable) weights <= memory[word];
    end else begin : g_distributed
        (* rom_style = "distributed", ram_style = "registers" *)  // the latter is how Yosys calls a ROM of LUTs
        logic [PE*SIMD-1:0] memory[WORDS];

        initial $readmemh(WEIGHTS, memory);
        always_ff @(posedge clk) if (enable) weights <= memory[word];
    end

    always_ff @(posedge clk) begin
        if (rst) begin
            word      <= '0;
            next_word <= WORD_BITS'(WORDS > 1 ? 1 : 0);
        end else if (enable && given_valid) begin
            word      <= next_word;
            next_word <= next_word == WORD_BITS'(WORDS - 1) ? '0 : next_word + 1'b1;
        end
    end

    always_ff @(posedge clk) begin
        if (enable) values <= given_data;
    end

    // What is valid, and what ends a row, on its way beside the data.
    logic [DELAY-1:0] valid, last;
    logic             ends;  // a dot product is there that ends a row

    always_ff @(posedge clk) begin
        if (rst) begin
            valid <= '0;
            ends  <= 1'b0;
        end else if (enable) begin
            valid <= {valid[DELAY-2:0], given_valid};
            ends  <= valid[DELAY-2] && last[DELAY-2];
        end
        if (enable) last <= {last[DELAY-2:0], given_last};
    end

    // Counts the ones of 9 bits with full adders, each of which is one look-up table for a bit of its result.
    function automatic logic [3:0] ones(input logic [GROUP-1:0] bits);
        logic [2:0] odd, two;
        logic       carry, twos, fours;
        for (int i = 0; i < 3; i++) begin
            odd[i] = ^bits[3*i+:3];
            two[i] = majority(bits[3*i+:3]);
        end
        carry = majority(odd);
        twos  = ^two;
        fours = majority(two);
        return {fours & carry & twos, fours ^ (carry & twos), carry ^ twos, ^odd};
    endfunction

    function automatic logic majority(input logic [2:0] bits);
        return (bits[0] & bits[1]) | (bits[2] & (bits[0] | bits[1]));
    endfunction

    // The terms of a sum, for each row: one more set, of all values, where it is needed.
    localparam int unsigned SETS = XNOR != 0 ? PE : PE + 1;

    logic [SETS-1:0][TERMS-1:0][TERM_BITS-1:0] terms;
    logic [SETS-1:0][SUM_BITS-1:0]             sums;

    for (genvar set = 0; set < SETS; set++) begin : g_set
        logic [SIMD-1:0] chosen;

        if (set < PE) begin : g_row
            assign chosen = weights[set];
        end else begin : g_all
            assign chosen = '1;
        end

        if (BINARY != 0) begin : g_count
            logic [GROUPS*GROUP-1:0] products;

            always_comb begin
                products = '0;
                products[SIMD-1:0] = XNOR != 0 ? ~(values ^ chosen) : values & chosen;
            end

            always_ff @(posedge clk) begin
                if (enable) for (int i = 0; i < GROUPS; i++) terms[set][i] <= ones(products[GROUP*i+:GROUP]);
            end
        end else begin : g_mask
            for (genvar i = 0; i < SIMD; i++) begin : g_term
                assign terms[set][i] = values[i] & {IN_BITS{chosen[i]}};
            end
        end

        binary_mvau_sum #(
            .COUNT(TERMS), .BITS(TERM_BITS), .SIGNED(IN_SIGNED)
        ) tree (
            .clk, .enable, .numbers(terms[set]), .sum(sums[set])
        );
    end

    // A dot product of what one beat holds, then the sum over the beats of a vector.
    logic [PE-1:0][DOT_BITS-1:0] dots;

    if (XNOR != 0) begin : g_counted
        assign dots = sums;
    end else begin : g_difference
        always_ff @(posedge clk) begin
            if (enable) begin
                for (int row = 0; row < PE; row++)
                    dots[row] <= {sums[row], 1'b0} - {IN_SIGNED != 0 && sums[PE][SUM_BITS-1], sums[PE]};
            end
        end
    end

    logic [PE-1:0][OUT_BITS-1:0] totals;

    for (genvar row = 0; row < PE; row++) begin : g_total
        logic [OUT_BITS-1:0] dot;

        if (XNOR != 0) begin : g_unsigned
            assign dot = OUT_BITS'(dots[row]);
        end else begin : g_signed
            assign dot = OUT_BITS'(signed'(dots[row]));
        end

        if (BEATS == 1) begin : g_whole
            assign totals[row] = dot;
        end else begin : g_parts
            logic [OUT_BITS-1:0] earlier;

            assign totals[row] = dot + earlier;

            always_ff @(posedge clk) begin
                if (rst || (enable && ends))       earlier <= '0;
                else if (enable && valid[DELAY-1]) earlier <= totals[row];
            end
        end
    end

    assign enable = !out_valid || out_ready;

    always_ff @(posedge clk) begin
        if (rst)         out_valid <= 1'b0;
        else if (enable) out_valid <= ends;
        if (enable)      out_data  <= totals;
    end

endmodule
