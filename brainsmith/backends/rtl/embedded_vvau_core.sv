// SPDX-License-Identifier: MIT
// Products of windows with weights of the same channel, which it holds itself: a depthwise convolution.
//
// A window comes as a depthwise sliding window gives it: all positions of the first PE channels, SIMD positions a beat,
// then those of the next PE channels. A result is the sum of the products of all positions of one channel. Where inputs
// and weights are single bits for -1 and 1, it is how many of these products are 1.
// One enable holds the whole pipeline while a result is not taken. Weights in block RAM are read ahead (`table_in_step`),
// so that they have registers of their own before the multipliers, and no beat waits for them.
module embedded_vvau_core #(
    int unsigned SIMD = 3,         // positions of a window in a beat
    int unsigned PE = 2,           // channels in a beat
    int unsigned BEATS = 3,        // of a window of PE channels
    int unsigned FOLDS = 2,        // groups of PE channels
    int unsigned IN_BITS = 4,      // of a value
    int unsigned IN_KIND = 0,      // 0 is unsigned, 1 signed, 2 one bit for -1 or 1
    int unsigned WEIGHT_BITS = 4,
    int unsigned WEIGHT_KIND = 1,
    int unsigned OUT_BITS = 12,    // of a result, which fits
    parameter STYLE = "distributed",  // where the weights lie, or "block"
    parameter WEIGHTS = ""         // file: one word for each beat; the first position of the first channel is lowest
) (
    input  logic clk,
    input  logic rst,

    input  logic [SIMD-1:0][PE-1:0][IN_BITS-1:0] in_data,
    input  logic                                 in_valid,
    output logic                                 in_ready,

    output logic [PE-1:0][OUT_BITS-1:0] out_data,
    output logic                        out_valid,
    input  logic                        out_ready
);

    localparam int unsigned WORDS = BEATS * FOLDS;
    localparam int unsigned WORD_BITS = WORDS > 1 ? $clog2(WORDS) : 1;
    localparam int unsigned BEAT_BITS = BEATS > 1 ? $clog2(BEATS) : 1;
    localparam int unsigned DELAY = 2 + $clog2(SIMD);  // from the stream to the sum of a beat
    localparam bit COUNTS = IN_KIND == 2 && WEIGHT_KIND == 2;
    localparam bit SIGNED = !COUNTS && (IN_KIND != 0 || WEIGHT_KIND != 0);
    localparam int unsigned TERM_BITS = COUNTS ? 1 : IN_BITS + WEIGHT_BITS;
    localparam int unsigned SUM_BITS = TERM_BITS + $clog2(SIMD);

    logic enable, ready, taken;

    assign enable   = !out_valid || out_ready;
    assign in_ready = enable && ready;
    assign taken    = in_valid && in_ready;

    logic ends;  // a beat is the last of a window

    if (BEATS == 1) begin : g_whole
        assign ends = 1'b1;
    end else begin : g_beats
        logic [BEAT_BITS-1:0] beat;

        assign ends = beat == BEAT_BITS'(BEATS - 1);

        always_ff @(posedge clk) begin
            if (rst)        beat <= '0;
            else if (taken) beat <= ends ? '0 : beat + 1'b1;
        end
    end

    // First stage: operands.
    logic [SIMD-1:0][PE-1:0][IN_BITS-1:0]     values;
    logic [SIMD-1:0][PE-1:0][WEIGHT_BITS-1:0] weights;

    always_ff @(posedge clk) begin
        if (enable) values <= in_data;
    end

    if (STYLE == "block" && WORDS > 1) begin : g_ahead
        logic [SIMD-1:0][PE-1:0][WEIGHT_BITS-1:0] fetched;

        table_in_step #(
            .BITS(SIMD * PE * WEIGHT_BITS), .DEPTH(WORDS), .FILE(WEIGHTS), .STYLE(STYLE)
        ) rom (
            .clk, .rst, .step(taken), .ready, .word(fetched)
        );

        always_ff @(posedge clk) begin
            if (enable) weights <= fetched;
        end
    end else begin : g_in_step
        logic [WORD_BITS-1:0] word, next_word;  // the latter in a register, since the memory may be read with it

        assign ready = 1'b1;

        always_ff @(posedge clk) begin
            if (rst) begin
                word      <= '0;
                next_word <= WORD_BITS'(WORDS > 1 ? 1 : 0);
            end else if (taken) begin
                word      <= next_word;
                next_word <= next_word == WORD_BITS'(WORDS - 1) ? '0 : next_word + 1'b1;
            end
        end

        constant_rom #(
            .BITS(SIMD * PE * WEIGHT_BITS), .DEPTH(WORDS), .FILE(WEIGHTS), .STYLE(STYLE)
        ) rom (
            .clk, .enable, .address(word), .word(weights)
        );
    end

    // What is valid, and what ends a window, on its way beside the data.
    logic [DELAY-1:0] valid, last;

    always_ff @(posedge clk) begin
        if (rst)         valid <= '0;
        else if (enable) valid <= {valid[DELAY-2:0], taken};
        if (enable)      last  <= {last[DELAY-2:0], ends};
    end

    // Second stage: products, then their sum in a tree, then the sum over the beats of a window, which is the output.
    logic fresh;  // the next beat begins a window

    always_ff @(posedge clk) begin
        if (rst)                            fresh <= 1'b1;
        else if (enable && valid[DELAY-1]) fresh <= last[DELAY-1];
    end

    for (genvar p = 0; p < PE; p++) begin : g_channel
        logic [SIMD-1:0][TERM_BITS-1:0] terms;
        logic [SUM_BITS-1:0]            sum;
        logic [OUT_BITS-1:0]            added;

        for (genvar s = 0; s < SIMD; s++) begin : g_position
            if (COUNTS) begin : g_alike
                always_ff @(posedge clk) if (enable) terms[s] <= ~(values[s][p] ^ weights[s][p]);
            end else begin : g_product
                logic [TERM_BITS-1:0] product;

                integer_product #(
                    .A_BITS(IN_BITS), .A_KIND(IN_KIND), .B_BITS(WEIGHT_BITS), .B_KIND(WEIGHT_KIND), .OUT_BITS(TERM_BITS)
                ) factors (
                    .a(values[s][p]), .b(weights[s][p]), .product
                );

                always_ff @(posedge clk) if (enable) terms[s] <= product;
            end
        end

        binary_mvau_sum #(
            .COUNT(SIMD), .BITS(TERM_BITS), .SIGNED(SIGNED ? 1 : 0)
        ) tree (
            .clk, .enable, .numbers(terms), .sum
        );

        if (SIGNED) begin : g_extended
            assign added = OUT_BITS'(signed'(sum));
        end else begin : g_filled
            assign added = OUT_BITS'(sum);
        end

        always_ff @(posedge clk) begin
            if (enable && valid[DELAY-1]) out_data[p] <= (BEATS == 1 || fresh ? '0 : out_data[p]) + added;
        end
    end

    always_ff @(posedge clk) begin
        if (rst)         out_valid <= 1'b0;
        else if (enable) out_valid <= valid[DELAY-1] && last[DELAY-1];
    end

endmodule
