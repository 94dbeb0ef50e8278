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
    bit BLOCK = 0,                    // the queue is block RAM
    int unsigned ROWS = 2,            // whose sums are under way or wait for their root
    int unsigned PLACES = 9           // of beats that are under way to the output or wait for it
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
    // A row is begun if there is a place where its sums can wait for their root.
    localparam int unsigned SUMMED = ROUNDS + 1;  // cycles from the first register to a beat's sums

    logic [SIMD*IN_BITS-1:0] came, beat;
    logic [SIMD-1:0][2*IN_BITS+1:0] beat_squares;
    logic [SUMMED:0] beat_valid, beat_first, beat_last;  // of the beat and of its sums on their way
    logic [AT_BITS-1:0] taken;  // beats of this row
    logic [SIMD-1:0][IN_BITS:0] elements;
    logic [IN_BITS+ROUNDS:0] beat_sum;
    logic [2*IN_BITS+1+ROUNDS:0] beat_square_sum;
    logic unused_bits;
    logic signed [SUM_BITS-1:0] running_sum, next_sum, sum;
    logic [SQUARE_BITS-1:0] running_squares, next_squares, squares;
    logic row_free, row_begun, may_take, take, first, last_taken, sums_valid, sums_ready, queue_ready;

    assign last_taken = taken == AT_BITS'(BEATS - 1);
    assign may_take = row_free || !first;
    assign in_ready = queue_ready && may_take;
    assign take = in_valid && in_ready;

    for (genvar lane = 0; lane < SIMD; lane++) begin : gen_elements
        assign elements[lane] = element(beat, lane);
    end

    binary_mvau_sum #(.COUNT(SIMD), .BITS(IN_BITS + 1), .SIGNED(1)) elements_tree (
        .clk,
        .enable(1'b1),
        .numbers(elements),
        .sum(beat_sum)
    );

    binary_mvau_sum #(.COUNT(SIMD), .BITS(2 * IN_BITS + 2), .SIGNED(0)) squares_tree (
        .clk,
        .enable(1'b1),
        .numbers(beat_squares),
        .sum(beat_square_sum)
    );

    assign unused_bits = ^{beat_sum, beat_square_sum};  // of sums that fit without them
    assign next_sum = (beat_first[SUMMED] ? '0 : running_sum) + SUM_BITS'(signed'(beat_sum));
    assign next_squares = (beat_first[SUMMED] ? '0 : running_squares) + SQUARE_BITS'(beat_square_sum);

    always_ff @(posedge clk) begin
        if (rst) begin
            taken <= '0;
            first <= 1'b1;
            beat_valid <= '0;
        end else begin
            if (take) taken <= last_taken ? '0 : taken + 1'b1;
            if (take) first <= last_taken;
            beat_valid <= (SUMMED + 1)'({beat_valid, take});
        end
        came <= in_data;
        beat <= came;
        beat_first <= (SUMMED + 1)'({beat_first, first});
        beat_last <= (SUMMED + 1)'({beat_last, last_taken});
        for (int unsigned lane = 0; lane < SIMD; lane++)
            beat_squares[lane] <= element(came, lane) * element(came, lane);
        if (beat_valid[SUMMED]) begin
            running_sum <= next_sum;
            running_squares <= next_squares;
        end
    end

    // Its place is taken a cycle after its first beat is, and the next row's first beat is later than that; a row of one
    // beat takes it at once.
    assign row_begun = BEATS > 1 ? beat_valid[0] && beat_first[0] : take;

    reserved_queue #(.BITS(SUM_BITS + SQUARE_BITS), .PLACES(ROWS), .KEPT(1'b1)) sums (
        .clk,
        .rst,
        .free(row_free),
        .begun(row_begun),
        .in_data({next_sum, next_squares}),
        .in_valid(beat_valid[SUMMED] && beat_last[SUMMED]),
        .kept({running_sum, running_squares}),
        .out_data({sum, squares}),
        .out_valid(sums_valid),
        .out_ready(sums_ready)
    );

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
        .in_valid(in_valid && may_take),
        .in_ready(queue_ready),
        .out_data(kept),
        .out_valid(kept_valid),
        .out_ready(kept_ready)
    );

    // Normalise: centre, multiply, round, clip. A beat is begun if there is a place where it can wait for the output. A factor
    // has two registers, one of them in the DSP slice; a product has two as well: where several multipliers make it, one of
    // them is before the sum of theirs.
    localparam int unsigned STAGES = 6;

    logic [AT_BITS-1:0] given;  // beats of this row
    logic row_active, free, begun, last;
    logic [STAGES-1:0] valid;
    logic [SIMD-1:0][CENTRED_BITS-1:0] centred, factor;
    logic signed [SIMD-1:0][PRODUCT_BITS-1:0] multiplied, product;
    exact_t [SIMD-1:0] whole;
    logic [SIMD-1:0][OUT_BITS-1:0] result;
    logic [ROOT_BITS-1:0] centred_root, factor_root;

    assign kept_ready = row_active && free;
    assign begun = kept_valid && kept_ready;
    assign last = begun && given == AT_BITS'(BEATS - 1);
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
            valid <= '0;
        end else begin
            if (root_ready) row_active <= root_valid;
            if (begun) given <= last ? '0 : given + 1'b1;
            valid <= STAGES'({valid, begun});
        end
        if (root_ready) begin
            row_sum <= root_sum;
            row_root <= root;
        end
        centred_root <= row_root;
        factor <= centred;
        factor_root <= centred_root;
        for (int unsigned lane = 0; lane < SIMD; lane++) begin
            centred[lane] <= CENTRED_BITS'(times_size(WIDE'(element(kept, lane))) - WIDE'(row_sum));
            multiplied[lane] <= signed'(factor[lane]) * signed'({1'b0, factor_root});
            product[lane] <= multiplied[lane];
            whole[lane] <= (exact_t'(signed'(product[lane])) + HALF) >>> DROP;
            result[lane] <= clipped(whole[lane]);
        end
    end

    reserved_queue #(.BITS(SIMD * OUT_BITS), .PLACES(PLACES)) results (
        .clk,
        .rst,
        .free,
        .begun,
        .in_data(result),
        .in_valid(valid[STAGES-1]),
        .kept('0),
        .out_data,
        .out_valid,
        .out_ready
    );

endmodule
