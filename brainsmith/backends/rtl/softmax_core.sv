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
    int unsigned PLACES = 6            // of beats that are under way to the output or wait for it
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
    // late in a cycle; the stages move together.
    localparam int unsigned READ = TABLE_STYLE == "block" ? 2 : 1;

    logic [IN_BITS-1:0] row_most;
    logic [AT_BITS-1:0] looked_up;  // beats of this row
    logic row_active, row_last, move;
    logic [READ:0] reading_valid, reading_first, reading_last;  // of the address, and of its power on the way
    logic power_valid, power_first, power_last;
    logic [SIMD-1:0][ADDRESS_BITS-1:0] address;
    powers_t power;
    logic [SUM_BITS-1:0] sum;
    logic [POWER_BITS+ROUNDS-1:0] beat_sum;
    logic beat_sum_valid, beat_sum_first, beat_sum_last, add;
    logic sum_valid, sum_ready, powers_ready;

    // A beat's powers are added up in a tree, which goes on while no beat comes.
    assign add = !(beat_sum_valid && sum_valid && !sum_ready);
    assign power_valid = reading_valid[READ];
    assign power_first = reading_first[READ];
    assign power_last = reading_last[READ];
    assign move = !power_valid || (powers_ready && add);
    assign element_taken = row_active && move;
    assign row_last = element_valid && element_taken && looked_up == AT_BITS'(BEATS - 1);
    assign most_ready = !row_active || row_last;

    // A difference beyond the table is as good as its last entry, which is 0 then.
    function automatic logic [ADDRESS_BITS-1:0] address_of(input logic [IN_BITS-1:0] difference);
        if (32'(difference) >= 32'(1) << ADDRESS_BITS) return '1;
        return ADDRESS_BITS'(difference);
    endfunction

    binary_mvau_sum #(.COUNT(SIMD), .BITS(POWER_BITS), .SIGNED(0)) powers_tree (
        .clk,
        .enable(add),
        .numbers(power),
        .sum(beat_sum)
    );

    if (SIMD == 1) begin : gen_no_tree
        assign beat_sum_valid = power_valid && powers_ready;
        assign beat_sum_first = power_first;
        assign beat_sum_last = power_last;
    end else begin : gen_beside_tree
        logic [ROUNDS-1:0] valid, first, last_of_row;

        assign beat_sum_valid = valid[ROUNDS-1];
        assign beat_sum_first = first[ROUNDS-1];
        assign beat_sum_last = last_of_row[ROUNDS-1];

        always_ff @(posedge clk) begin
            if (rst) valid <= '0;
            else if (add) valid <= ROUNDS'({valid, power_valid && powers_ready});
            if (add) begin
                first <= ROUNDS'({first, power_first});
                last_of_row <= ROUNDS'({last_of_row, power_last});
            end
        end
    end

    always_ff @(posedge clk) begin
        if (rst) begin
            row_active <= 1'b0;
            looked_up <= '0;
            reading_valid <= '0;
            sum_valid <= 1'b0;
        end else begin
            if (most_ready) row_active <= most_valid;
            if (element_valid && element_taken) looked_up <= row_last ? '0 : looked_up + 1'b1;
            if (move) reading_valid <= (READ + 1)'({reading_valid, element_valid && row_active});
            if (beat_sum_valid && add) sum_valid <= beat_sum_last;
            else if (sum_ready) sum_valid <= 1'b0;
        end
        if (most_ready) row_most <= most;
        if (move) begin
            reading_first <= (READ + 1)'({reading_first, looked_up == '0});
            reading_last <= (READ + 1)'({reading_last, looked_up == AT_BITS'(BEATS - 1)});
            for (int unsigned lane = 0; lane < SIMD; lane++)
                address[lane] <= address_of(row_most - element[lane]);
        end
        if (beat_sum_valid && add) sum <= (beat_sum_first ? '0 : sum) + SUM_BITS'(beat_sum);
    end

    powers_t word;

    for (genvar lane = 0; lane < SIMD; lane++) begin : gen_tables
        constant_rom #(
            .BITS(POWER_BITS), .DEPTH(1 << ADDRESS_BITS), .FILE(TABLE), .STYLE(TABLE_STYLE)
        ) powers_of (
            .clk,
            .enable(move),
            .address(address[lane]),
            .word(word[lane])
        );
    end

    if (READ == 2) begin : gen_behind
        always_ff @(posedge clk) if (move) power <= word;
    end else begin : gen_direct
        assign power = word;
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

    // Products, rounded. A beat is begun if there is a place where it can wait for the output. A factor has two registers,
    // one of them in the DSP slice.
    localparam int unsigned STAGES = 3;

    logic [AT_BITS-1:0] given;  // beats of this row
    logic scaling, free, begun, last;
    logic [STAGES-1:0] valid;
    logic [RECIPROCAL_BITS-1:0] factor;
    powers_t scaled;
    logic [SIMD-1:0][PRODUCT_BITS-1:0] product;
    logic [SIMD-1:0][OUT_BITS-1:0] result;

    assign waiting_taken = scaling && free;
    assign begun = waiting_valid && waiting_taken;
    assign last = begun && given == AT_BITS'(BEATS - 1);
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
            result[lane] <= rounded(product[lane]);
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
