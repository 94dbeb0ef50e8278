// SPDX-License-Identifier: MIT
// The softmax of rows of integers, as the kernel Softmax computes it, bit for bit.
//
// Four rows are in it at a time: of one the greatest element is searched, of one the powers of the differences to it
// are looked up and summed, of one the sum's reciprocal is found, and one is multiplied by it. Two queues hold the
// elements and the powers. So a row takes as many cycles as it has beats or as its division takes.
module softmax_core #(
    int unsigned SIZE = 8,  // elements of a row
    int unsigned SIMD = 1,  // elements of a beat; divides SIZE
    int unsigned IN_BITS = 8,
    bit IN_SIGNED = 1,
    int unsigned OUT_BITS = 8,  // of an output, unsigned
    int unsigned ADDRESS_BITS = 8,     // of the table
    int unsigned POWER_BITS = 13,      // of its words; that of 0 is 2^(POWER_BITS - 1)
    int unsigned SUM_BITS = 16,        // of a row's sum of powers
    int unsigned RECIPROCAL_BITS = 11,
    int unsigned DROP = 14,            // bits behind the point of a product that the output has not
    parameter    TABLE = "",           // the powers by the difference, one hexadecimal number a line
    parameter    TABLE_STYLE = "distributed",  // or "block"
    int unsigned IN_DEPTH = 14,        // beats that the queue of elements holds
    bit IN_BLOCK = 0,                  // it is block RAM
    int unsigned POWER_DEPTH = 22,     // beats that the queue of powers holds
    bit POWER_BLOCK = 0,               // it is block RAM
    int unsigned ROWS = 2,             // whose sums are under way or wait for their reciprocal
    int unsigned PLACES = 7            // of beats that are under way to the output or wait for it
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
    localparam int unsigned PRODUCT_BITS = POWER_BITS + RECIPROCAL_BITS;
    localparam int unsigned ROUNDS = $clog2(SIMD);               // of pairs, until one of a beat's lanes is left
    localparam int unsigned FOUND = SIMD > 1 ? ROUNDS : 1;       // cycles until the greatest of a beat is known

    typedef logic [SIMD-1:0][IN_BITS-1:0] keys_t;
    typedef logic [SIMD-1:0][POWER_BITS-1:0] powers_t;

    // The sign bit turned over, signed numbers are in the order of unsigned ones, at the same distances.
    keys_t keys;
    assign keys = in_data ^ {SIMD{IN_SIGNED, {(IN_BITS - 1){1'b0}}}};

    // The greatest element: of a beat, then of the row.
    logic [IN_BITS-1:0] beat_most, most, greatest;
    logic [FOUND-1:0] beat_valid, beat_first, beat_last;  // on the way there
    logic most_valid, most_ready, most_hold, elements_ready, take;
    logic [AT_BITS-1:0] taken;  // beats of this row

    if (SIMD == 1) begin : gen_single
        always_ff @(posedge clk) if (!most_hold) beat_most <= keys[0];
    end else begin : gen_greatest
        label_select_order #(.COUNT(SIMD), .FIRST(1), .BITS(IN_BITS)) order (
            .clk,
            .enable(!most_hold),
            .numbers(keys),
            .ordered(beat_most)
        );
    end

    assign most_hold = beat_valid[FOUND-1] && most_valid && !most_ready;  // the row before is not taken yet
    assign in_ready = elements_ready && !most_hold;
    assign take = in_valid && in_ready;
    assign greatest = beat_first[FOUND-1] || beat_most > most ? beat_most : most;

    always_ff @(posedge clk) begin
        if (rst) begin
            taken <= '0;
            beat_valid <= '0;
            most_valid <= 1'b0;
        end else begin
            if (take) taken <= taken == AT_BITS'(BEATS - 1) ? '0 : taken + 1'b1;
            if (!most_hold) beat_valid <= FOUND'({beat_valid, take});
            if (beat_valid[FOUND-1] && !most_hold) most_valid <= beat_last[FOUND-1];
            else if (most_ready) most_valid <= 1'b0;
        end
        if (!most_hold) begin
            beat_first <= FOUND'({beat_first, taken == '0});
            beat_last <= FOUND'({beat_last, taken == AT_BITS'(BEATS - 1)});
        end
        if (beat_valid[FOUND-1] && !most_hold) most <= greatest;
    end

    keys_t element;
    logic element_valid, element_taken;

    row_queue #(.BITS(SIMD * IN_BITS), .DEPTH(IN_DEPTH), .BLOCK(IN_BLOCK)) elements (
        .clk,
        .rst,
        .in_data(keys),
        .in_valid(in_valid && !most_hold),
        .in_ready(elements_ready),
        .out_data(element),
        .out_valid(element_valid),
        .out_ready(element_taken)
    );

    // Powers: the difference is the address, the table's word comes a cycle later, or two from block RAM, whose words come
    // late in a cycle. An element's power is looked up if there is a place where it can wait for its row's reciprocal, and a
    // row is begun if there is one for its sum.
    localparam int unsigned READ = TABLE_STYLE == "block" ? 2 : 1;  // cycles from an address to its power
    localparam int unsigned ADDED = READ + ROUNDS;                  // to the sum of the beat's powers

    logic [IN_BITS-1:0] row_most;
    logic [AT_BITS-1:0] looked_up;  // beats of this row
    logic row_active, row_free, row_begun, row_first, row_ends, row_last, power_free, look;
    logic [SIMD-1:0][ADDRESS_BITS-1:0] address;
    powers_t power;
    logic [SUM_BITS-1:0] running_sum, next_sum, sum;
    logic [POWER_BITS+ROUNDS-1:0] beat_sum;
    logic [ADDED:0] under_way, under_way_first, under_way_last;  // beats: which have an address, then a power, then a sum
    logic sum_valid, sum_ready;

    assign element_taken = row_active && power_free && (row_free || !row_first);
    assign look = element_valid && element_taken;
    assign row_ends = looked_up == AT_BITS'(BEATS - 1);
    assign row_last = look && row_ends;
    assign most_ready = !row_active || row_last;

    // A difference beyond the table is as good as its last entry, which is 0 then.
    function automatic logic [ADDRESS_BITS-1:0] address_of(input logic [IN_BITS-1:0] difference);
        if (32'(difference) >= 32'(1) << ADDRESS_BITS) return '1;
        return ADDRESS_BITS'(difference);
    endfunction

    binary_mvau_sum #(.COUNT(SIMD), .BITS(POWER_BITS), .SIGNED(0)) powers_tree (
        .clk,
        .enable(1'b1),
        .numbers(power),
        .sum(beat_sum)
    );

    assign next_sum = (under_way_first[ADDED] ? '0 : running_sum) + SUM_BITS'(beat_sum);

    always_ff @(posedge clk) begin
        if (rst) begin
            row_active <= 1'b0;
            looked_up <= '0;
            row_first <= 1'b1;
            under_way <= '0;
        end else begin
            if (most_ready) row_active <= most_valid;
            if (look) looked_up <= row_ends ? '0 : looked_up + 1'b1;
            if (look) row_first <= row_ends;
            under_way <= (ADDED + 1)'({under_way, look});
        end
        under_way_first <= (ADDED + 1)'({under_way_first, row_first});
        under_way_last <= (ADDED + 1)'({under_way_last, row_ends});
        if (most_ready) row_most <= most;
        for (int unsigned lane = 0; lane < SIMD; lane++) address[lane] <= address_of(row_most - element[lane]);
        if (under_way[ADDED]) running_sum <= next_sum;
    end

    // Its place is taken a cycle after its first beat is, and the next row's first beat is later than that; a row of one
    // beat takes it at once.
    assign row_begun = BEATS > 1 ? under_way[0] && under_way_first[0] : look;

    reserved_queue #(.BITS(SUM_BITS), .PLACES(ROWS), .KEPT(1'b1)) sums (
        .clk,
        .rst,
        .free(row_free),
        .begun(row_begun),
        .in_data(next_sum),
        .in_valid(under_way[ADDED] && under_way_last[ADDED]),
        .kept(running_sum),
        .out_data(sum),
        .out_valid(sum_valid),
        .out_ready(sum_ready)
    );

    powers_t word;

    for (genvar lane = 0; lane < SIMD; lane++) begin : gen_tables
        constant_rom #(
            .BITS(POWER_BITS), .DEPTH(1 << ADDRESS_BITS), .FILE(TABLE), .STYLE(TABLE_STYLE)
        ) powers_of (
            .clk,
            .enable(1'b1),
            .address(address[lane]),
            .word(word[lane])
        );
    end

    if (READ == 2) begin : gen_behind
        always_ff @(posedge clk) power <= word;
    end else begin : gen_direct
        assign power = word;
    end

    powers_t waiting;
    logic waiting_valid, waiting_taken;

    reserved_queue #(.BITS(SIMD * POWER_BITS), .PLACES(POWER_DEPTH), .BLOCK(POWER_BLOCK)) powers (
        .clk,
        .rst,
        .free(power_free),
        .begun(look),
        .in_data(power),
        .in_valid(under_way[READ]),
        .kept('0),
        .out_data(waiting),
        .out_valid(waiting_valid),
        .out_ready(waiting_taken)
    );

    logic [RECIPROCAL_BITS-1:0] found, reciprocal;
    logic found_valid, found_ready;

    softmax_reciprocal #(.SUM_BITS(SUM_BITS), .START(POWER_BITS - 1), .BITS(RECIPROCAL_BITS)) division (
        .clk,
        .rst,
        .in_sum(sum),
        .in_valid(sum_valid),
        .in_ready(sum_ready),
        .out_reciprocal(found),
        .out_valid(found_valid),
        .out_ready(found_ready)
    );

    // Products, rounded, clipped. A beat is begun if there is a place where it can wait for the output. A factor has two
    // registers, one of them in the DSP slice.
    localparam int unsigned STAGES = 4;

    typedef logic [PRODUCT_BITS-DROP:0] whole_t;

    logic [AT_BITS-1:0] given;  // beats of this row
    logic scaling, free, begun, last;
    logic [STAGES-1:0] valid;
    logic [RECIPROCAL_BITS-1:0] factor;
    powers_t scaled;
    logic [SIMD-1:0][PRODUCT_BITS-1:0] product;
    whole_t [SIMD-1:0] whole;
    logic [SIMD-1:0][OUT_BITS-1:0] result;

    assign waiting_taken = scaling && free;
    assign begun = waiting_valid && waiting_taken;
    assign last = begun && given == AT_BITS'(BEATS - 1);
    assign found_ready = !scaling || last;

    function automatic whole_t rounded(input logic [PRODUCT_BITS-1:0] exact);
        return whole_t'(({1'b0, exact} + ((PRODUCT_BITS + 1)'(1) << (DROP - 1))) >> DROP);
    endfunction

    function automatic logic [OUT_BITS-1:0] clipped(input whole_t value);
        if (64'(value) >= 64'(1) << OUT_BITS) return '1;
        return OUT_BITS'(value);
    endfunction

    always_ff @(posedge clk) begin
        if (rst) begin
            scaling <= 1'b0;
            given <= '0;
            valid <= '0;
        end else begin
            if (found_ready) scaling <= found_valid;
            if (begun) given <= last ? '0 : given + 1'b1;
            valid <= STAGES'({valid, begun});
        end
        if (found_ready) reciprocal <= found;
        factor <= reciprocal;
        scaled <= waiting;
        for (int unsigned lane = 0; lane < SIMD; lane++) begin
            product[lane] <= PRODUCT_BITS'(scaled[lane]) * PRODUCT_BITS'(factor);
            whole[lane] <= rounded(product[lane]);
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
