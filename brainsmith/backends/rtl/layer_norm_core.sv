// SPDX-License-Identifier: MIT
// Normalises rows of integers to mean 0 and deviation 2^F, as the kernel LayerNorm does, bit for bit.
//
// While a row is summed, the root of the row before it is found and the one before that is normalised; a queue holds
// their elements. So a row takes as many cycles as it has beats, or as its root takes, whichever is more.
module layer_norm_core #(
    int unsigned SIZE = 8,  // elements of a row
    int unsigned SIMD = 1,  // elements of a beat; divides SIZE
    int unsigned IN_BITS = 8,
    bit IN_SIGNED = 1,
    int unsigned OUT_BITS = 11,       // of an output, signed
    int unsigned EPSILON_TERM = 1,
    int unsigned SUM_BITS = 12,       // of a row's sum, signed
    int unsigned SQUARE_BITS = 18,    // of a row's sum of squares
    int unsigned DEVIATION_BITS = 20,
    int unsigned ROOT_BITS = 18,
    int unsigned REMAINDER_BITS = 31,
    int unsigned REMAINDER_START = 6,
    int unsigned CENTRED_BITS = 12,   // of SIZE element - sum, signed
    int unsigned DROP = 13,           // bits behind the point of a product that the output has not
    int unsigned DEPTH = 18,          // beats that the queue holds
    bit BLOCK = 0                     // the queue is block RAM
) (
    input logic clk,
    input logic rst,

    input  logic [SIMD*IN_BITS-1:0] in_data,
    input  logic                    in_valid,
    output logic                    in_ready,

    output logic [SIMD*OUT_BITS-1:0] out_data,
    output logic                     out_valid,
    input  logic                     out_ready
);

    localparam int unsigned BEATS = SIZE / SIMD;
    localparam int unsigned AT_BITS = BEATS > 1 ? $clog2(BEATS) : 1;
    localparam int unsigned ROUNDS = $clog2(SIMD);  // of pairs, until a beat's elements are added up
    localparam int unsigned PRODUCT_BITS = CENTRED_BITS + ROOT_BITS + 1;
    localparam int unsigned WIDE = CENTRED_BITS + SUM_BITS;
    localparam int unsigned EXACT_BITS = PRODUCT_BITS > OUT_BITS ? PRODUCT_BITS : OUT_BITS + 1;  // an output fits, too

    typedef logic signed [EXACT_BITS-1:0] exact_t;
    localparam exact_t HALF = exact_t'(1) << (DROP - 1);

    typedef logic signed [IN_BITS:0] element_t;

    // An element of a beat, with room for both kinds of sign.
    function automatic element_t element(input logic [SIMD*IN_BITS-1:0] beat, input int unsigned lane);
        return {IN_SIGNED && beat[lane*IN_BITS+IN_BITS-1], beat[lane*IN_BITS+:IN_BITS]};
    endfunction

    // Sums: a beat is registered, then its squares are, then they are added up in a tree, and that is added to the row's.
    localparam int unsigned SUMMED = ROUNDS + 1;  // cycles from the first register to a beat's sums

    logic [SIMD*IN_BITS-1:0] came, beat;
    logic [SIMD-1:0][2*IN_BITS+1:0] beat_squares;
    logic [SUMMED:0] beat_valid, beat_first, beat_last;  // of the beat and of its sums on their way
    logic [AT_BITS-1:0] taken;  // beats of this row
    logic [SIMD-1:0][IN_BITS:0] elements;
    logic [IN_BITS+ROUNDS:0] beat_sum;
    logic [2*IN_BITS+1+ROUNDS:0] beat_square_sum;
    logic unused_bits;
    logic signed [SUM_BITS-1:0] sum;
    logic [SQUARE_BITS-1:0] squares;
    logic sums_valid, sums_ready, queue_ready, add, take;

    assign add = !beat_valid[SUMMED] || !sums_valid || sums_ready;  // else the row before is not taken yet
    assign in_ready = queue_ready && add;
    assign take = in_valid && in_ready;

    for (genvar lane = 0; lane < SIMD; lane++) begin : gen_elements
        assign elements[lane] = element(beat, lane);
    end

    binary_mvau_sum #(.COUNT(SIMD), .BITS(IN_BITS + 1), .SIGNED(1)) elements_tree (
        .clk,
        .enable(add),
        .numbers(elements),
        .sum(beat_sum)
    );

    binary_mvau_sum #(.COUNT(SIMD), .BITS(2 * IN_BITS + 2), .SIGNED(0)) squares_tree (
        .clk,
        .enable(add),
        .numbers(beat_squares),
        .sum(beat_square_sum)
    );

    assign unused_bits = ^{beat_sum, beat_square_sum};  // of sums that fit without them

    always_ff @(posedge clk) begin
        if (rst) begin
            taken <= '0;
            beat_valid <= '0;
            sums_valid <= 1'b0;
        end else begin
            if (take) taken <= taken == AT_BITS'(BEATS - 1) ? '0 : taken + 1'b1;
            if (add) beat_valid <= (SUMMED + 1)'({beat_valid, take});
            if (beat_valid[SUMMED] && add) sums_valid <= beat_last[SUMMED];
            else if (sums_ready) sums_valid <= 1'b0;
        end
        if (add) begin
            came <= in_data;
            beat <= came;
            beat_first <= (SUMMED + 1)'({beat_first, taken == '0});
            beat_last <= (SUMMED + 1)'({beat_last, taken == AT_BITS'(BEATS - 1)});
            for (int unsigned lane = 0; lane < SIMD; lane++)
                beat_squares[lane] <= element(came, lane) * element(came, lane);
        end
        if (beat_valid[SUMMED] && add) begin
            sum <= (beat_first[SUMMED] ? '0 : sum) + SUM_BITS'(signed'(beat_sum));
            squares <= (beat_first[SUMMED] ? '0 : squares) + SQUARE_BITS'(beat_square_sum);
        end
    end

    // The root of a row.
    logic signed [SUM_BITS-1:0] root_sum, row_sum;
    logic [ROOT_BITS-1:0] root, row_root;
    logic root_valid, root_ready;

    layer_norm_root #(
        .SIZE(SIZE), .EPSILON_TERM(EPSILON_TERM), .SUM_BITS(SUM_BITS), .SQUARE_BITS(SQUARE_BITS),
        .DEVIATION_BITS(DEVIATION_BITS), .ROOT_BITS(ROOT_BITS), .REMAINDER_BITS(REMAINDER_BITS),
        .REMAINDER_START(REMAINDER_START)
    ) roots (
        .clk,
        .rst,
        .in_sum(sum),
        .in_squares(squares),
        .in_valid(sums_valid),
        .in_ready(sums_ready),
        .out_sum(root_sum),
        .out_root(root),
        .out_valid(root_valid),
        .out_ready(root_ready)
    );

    // Its elements, which waited.
    logic [SIMD*IN_BITS-1:0] kept;
    logic kept_valid, kept_ready;

    row_queue #(.BITS(SIMD * IN_BITS), .DEPTH(DEPTH), .BLOCK(BLOCK)) queue (
        .clk,
        .rst,
        .in_data,
        .in_valid(in_valid && add),
        .in_ready(queue_ready),
        .out_data(kept),
        .out_valid(kept_valid),
        .out_ready(kept_ready)
    );

    // Normalise: centre, multiply, round, clip; the stages move together. Behind a product are two registers: where several
    // multipliers make it, one of them is before the sum of theirs.
    logic [AT_BITS-1:0] given;  // beats of this row
    logic row_active, last, advance;
    logic centred_valid, multiplied_valid, product_valid, whole_valid;
    logic signed [SIMD-1:0][CENTRED_BITS-1:0] centred;
    logic signed [SIMD-1:0][PRODUCT_BITS-1:0] multiplied, product;
    exact_t [SIMD-1:0] whole;
    logic [ROOT_BITS-1:0] centred_root;

    assign advance = !out_valid || out_ready;
    assign kept_ready = row_active && advance;
    assign last = kept_valid && kept_ready && given == AT_BITS'(BEATS - 1);
    assign root_ready = !row_active || last;

    // By shifts and adders: sizes have few bits that are 1, and a multiplier would be a DSP slice.
    function automatic logic signed [WIDE-1:0] times_size(input logic signed [WIDE-1:0] value);
        times_size = '0;
        for (int unsigned at = 0; at < 32; at++)
            if (SIZE[at]) times_size = times_size + (value <<< at);
    endfunction

    function automatic logic [OUT_BITS-1:0] clipped(input exact_t value);
        // Within the output's range all bits above it are its sign.
        if (value[EXACT_BITS-1:OUT_BITS-1] == {(EXACT_BITS - OUT_BITS + 1){value[EXACT_BITS-1]}})
            return value[OUT_BITS-1:0];
        return {value[EXACT_BITS-1], {(OUT_BITS - 1){!value[EXACT_BITS-1]}}};
    endfunction

    always_ff @(posedge clk) begin
        if (rst) begin
            row_active <= 1'b0;
            given <= '0;
            centred_valid <= 1'b0;
            multiplied_valid <= 1'b0;
            product_valid <= 1'b0;
            whole_valid <= 1'b0;
            out_valid <= 1'b0;
        end else begin
            if (root_ready) row_active <= root_valid;
            if (kept_valid && kept_ready) given <= last ? '0 : given + 1'b1;
            if (advance) begin
                centred_valid <= kept_valid && row_active;
                multiplied_valid <= centred_valid;
                product_valid <= multiplied_valid;
                whole_valid <= product_valid;
                out_valid <= whole_valid;
            end
        end
        if (root_ready) begin
            row_sum <= root_sum;
            row_root <= root;
        end
        if (advance) begin
            centred_root <= row_root;
            for (int unsigned lane = 0; lane < SIMD; lane++) begin
                centred[lane] <= CENTRED_BITS'(times_size(WIDE'(element(kept, lane))) - WIDE'(row_sum));
                multiplied[lane] <= signed'(centred[lane]) * signed'({1'b0, centred_root});
                product[lane] <= multiplied[lane];
                whole[lane] <= (exact_t'(signed'(product[lane])) + HALF) >>> DROP;
                out_data[lane*OUT_BITS+:OUT_BITS] <= clipped(whole[lane]);
            end
        end
    end

endmodule
