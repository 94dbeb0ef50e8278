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
    bit POWER_BLOCK = 0                // it is block RAM
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

    typedef logic [SIMD-1:0][IN_BITS-1:0] keys_t;
    typedef logic [SIMD-1:0][POWER_BITS-1:0] powers_t;

    // The sign bit turned over, signed numbers are in the order of unsigned ones, at the same distances.
    keys_t keys;
    assign keys = in_data ^ {SIMD{IN_SIGNED, {(IN_BITS - 1){1'b0}}}};

    // The greatest element: of a beat, then of the row.
    logic [IN_BITS-1:0] beat_most, most, greatest;
    logic beat_valid, beat_first, beat_last, most_valid, most_ready, most_hold, elements_ready, take;
    logic [AT_BITS-1:0] taken;  // beats of this row

    // A tree, so that a beat of SIMD elements is as deep as log2 SIMD comparisons.
    function automatic logic [IN_BITS-1:0] greatest_of(input keys_t several);
        keys_t left;
        left = several;
        for (int unsigned gap = 1; gap < SIMD; gap *= 2)
            for (int unsigned lane = 0; lane + gap < SIMD; lane += 2 * gap)
                if (left[lane+gap] > left[lane]) left[lane] = left[lane+gap];
        return left[0];
    endfunction

    assign most_hold = beat_valid && most_valid && !most_ready;  // the row before is not taken yet
    assign in_ready = elements_ready && !most_hold;
    assign take = in_valid && in_ready;
    assign greatest = beat_first || beat_most > most ? beat_most : most;

    always_ff @(posedge clk) begin
        if (rst) begin
            taken <= '0;
            beat_valid <= 1'b0;
            most_valid <= 1'b0;
        end else begin
            if (take) taken <= taken == AT_BITS'(BEATS - 1) ? '0 : taken + 1'b1;
            if (!most_hold) beat_valid <= take;
            if (beat_valid && !most_hold) most_valid <= beat_last;
            else if (most_ready) most_valid <= 1'b0;
        end
        if (!most_hold) begin
            beat_most <= greatest_of(keys);
            beat_first <= taken == '0;
            beat_last <= taken == AT_BITS'(BEATS - 1);
        end
        if (beat_valid && !most_hold) most <= greatest;
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

    // Powers: the difference is the address, the table's word comes a cycle later; the stages move together.
    logic [IN_BITS-1:0] row_most;
    logic [AT_BITS-1:0] looked_up;  // beats of this row
    logic row_active, row_last, move;
    logic address_valid, address_first, address_last, power_valid, power_first, power_last;
    logic [SIMD-1:0][ADDRESS_BITS-1:0] address;
    powers_t power;
    logic [SUM_BITS-1:0] sum, new_sum;
    logic sum_valid, sum_ready, powers_ready;

    assign move = !power_valid || (powers_ready && !(sum_valid && !sum_ready));
    assign element_taken = row_active && move;
    assign row_last = element_valid && element_taken && looked_up == AT_BITS'(BEATS - 1);
    assign most_ready = !row_active || row_last;

    // A difference beyond the table is as good as its last entry, which is 0 then.
    function automatic logic [ADDRESS_BITS-1:0] address_of(input logic [IN_BITS-1:0] difference);
        if (32'(difference) >= 32'(1) << ADDRESS_BITS) return '1;
        return ADDRESS_BITS'(difference);
    endfunction

    always_comb begin
        new_sum = power_first ? '0 : sum;
        for (int unsigned lane = 0; lane < SIMD; lane++) new_sum = new_sum + SUM_BITS'(power[lane]);
    end

    always_ff @(posedge clk) begin
        if (rst) begin
            row_active <= 1'b0;
            looked_up <= '0;
            address_valid <= 1'b0;
            power_valid <= 1'b0;
            sum_valid <= 1'b0;
        end else begin
            if (most_ready) row_active <= most_valid;
            if (element_valid && element_taken) looked_up <= row_last ? '0 : looked_up + 1'b1;
            if (move) begin
                address_valid <= element_valid && row_active;
                power_valid <= address_valid;
            end
            if (power_valid && move) sum_valid <= power_last;
            else if (sum_ready) sum_valid <= 1'b0;
        end
        if (most_ready) row_most <= most;
        if (move) begin
            address_first <= looked_up == '0;
            address_last <= looked_up == AT_BITS'(BEATS - 1);
            power_first <= address_first;
            power_last <= address_last;
            for (int unsigned lane = 0; lane < SIMD; lane++)
                address[lane] <= address_of(row_most - element[lane]);
        end
        if (power_valid && move) sum <= new_sum;
    end

    for (genvar lane = 0; lane < SIMD; lane++) begin : gen_tables
        constant_rom #(
            .BITS(POWER_BITS), .DEPTH(1 << ADDRESS_BITS), .FILE(TABLE), .STYLE(TABLE_STYLE)
        ) powers_of (
            .clk,
            .enable(move),
            .address(address[lane]),
            .word(power[lane])
        );
    end

    powers_t waiting;
    logic waiting_valid, waiting_taken;

    row_queue #(.BITS(SIMD * POWER_BITS), .DEPTH(POWER_DEPTH), .BLOCK(POWER_BLOCK)) powers (
        .clk,
        .rst,
        .in_data(power),
        .in_valid(power_valid && move),
        .in_ready(powers_ready),
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

    // Products, rounded; both stages move together.
    logic [AT_BITS-1:0] given;  // beats of this row
    logic scaling, last, advance, product_valid;
    logic [SIMD-1:0][PRODUCT_BITS-1:0] product;

    assign advance = !out_valid || out_ready;
    assign waiting_taken = scaling && advance;
    assign last = waiting_valid && waiting_taken && given == AT_BITS'(BEATS - 1);
    assign found_ready = !scaling || last;

    function automatic logic [OUT_BITS-1:0] rounded(input logic [PRODUCT_BITS-1:0] exact);
        logic [PRODUCT_BITS:0] whole;
        whole = ({1'b0, exact} + ((PRODUCT_BITS + 1)'(1) << (DROP - 1))) >> DROP;
        if (64'(whole) >= 64'(1) << OUT_BITS) return '1;
        return OUT_BITS'(whole);
    endfunction

    always_ff @(posedge clk) begin
        if (rst) begin
            scaling <= 1'b0;
            given <= '0;
            product_valid <= 1'b0;
            out_valid <= 1'b0;
        end else begin
            if (found_ready) scaling <= found_valid;
            if (waiting_valid && waiting_taken) given <= last ? '0 : given + 1'b1;
            if (advance) begin
                product_valid <= waiting_valid && scaling;
                out_valid <= product_valid;
            end
        end
        if (found_ready) reciprocal <= found;
        if (advance) begin
            for (int unsigned lane = 0; lane < SIMD; lane++) begin
                product[lane] <= PRODUCT_BITS'(waiting[lane]) * PRODUCT_BITS'(reciprocal);
                out_data[lane*OUT_BITS+:OUT_BITS] <= rounded(product[lane]);
            end
        end
    end

endmodule
