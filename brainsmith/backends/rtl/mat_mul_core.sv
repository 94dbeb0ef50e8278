// SPDX-License-Identifier: MIT
// Multiplies a matrix that comes row by row by one that was collected before, PE columns and SIMD products a cycle.
//
// Two right-hand matrices are stored: the next one is collected while one is used. A left-hand row is used as it comes
// for the first PE columns, and is in a memory for the others. A sum is begun if there is a place where it can wait for
// the output. So no stage behind that ever stands still, and no signal has to reach all of them in a cycle.
module mat_mul_core #(
    int unsigned ROWS = 2,      // of the left-hand matrix
    int unsigned DEPTH = 2,     // its columns, and the rows of the right-hand matrix
    int unsigned COLUMNS = 2,   // of the right-hand matrix
    int unsigned PE = 1,        // divides COLUMNS
    int unsigned SIMD = 1,      // divides DEPTH
    int unsigned LHS_BITS = 4,
    int unsigned RHS_BITS = 4,
    int unsigned LHS_KIND = 1,  // 0 is unsigned, 1 signed, 2 one bit for -1 or 1
    int unsigned RHS_KIND = 1,
    int unsigned OUT_BITS = 9,  // of a sum, which fits
    bit BLOCK = 0,              // right-hand matrices in block RAM, else in LUTs
    int unsigned SET = 1,       // lanes of the memory that have one address
    bit HELD = 0,               // factors have one more register, which DSP slices have inside
    int unsigned PLACES = 10    // of sums that are under way or wait for the output: 2 or more
) (
    input logic clk,
    input logic rst,

    input  logic [SIMD-1:0][LHS_BITS-1:0] in0_data,  // row by row, SIMD values of a row
    input  logic                          in0_valid,
    output logic                          in0_ready,

    input  logic [PE-1:0][RHS_BITS-1:0] in1_data,  // row by row, PE values of a row
    input  logic                        in1_valid,
    output logic                        in1_ready,

    output logic [PE-1:0][OUT_BITS-1:0] out_data,  // row by row, PE values of a row
    output logic                        out_valid,
    input  logic                        out_ready
);

    localparam int unsigned PARTS = DEPTH / SIMD;    // beats of a left-hand row
    localparam int unsigned GROUPS = COLUMNS / PE;   // beats of a right-hand row
    localparam int unsigned WORDS = PARTS * GROUPS;  // of a right-hand matrix
    localparam int unsigned AT_BITS = $clog2(2 * WORDS);
    localparam int unsigned PART_BITS = PARTS > 1 ? $clog2(PARTS) : 1;
    localparam int unsigned GROUP_BITS = GROUPS > 1 ? $clog2(GROUPS) : 1;
    localparam int unsigned ROW_BITS = ROWS > 1 ? $clog2(ROWS) : 1;
    localparam int unsigned LANE_BITS = SIMD > 1 ? $clog2(SIMD) : 1;
    localparam int unsigned SETS = (SIMD + SET - 1) / SET;

    typedef logic [AT_BITS-1:0] at_t;
    localparam at_t LAST_OF_FIRST = at_t'(WORDS - 1);
    localparam at_t LAST = at_t'(2 * WORDS - 1);

    logic [1:0] full;  // these right-hand matrices are complete

    // Collect: a word has PE columns of SIMD rows. Words are in the order in which they are used, so those of a row
    // are PARTS apart. A beat is written a cycle after it came, as the memories are read a cycle after a turn.
    at_t collect_at, write_at;
    logic collect_page, collect, row_ends, word_ends, collect_ends;
    logic [GROUP_BITS-1:0] collect_group;
    logic [LANE_BITS-1:0] collect_lane;
    logic [SIMD-1:0] write;
    logic [PE-1:0][RHS_BITS-1:0] write_data;

    assign in1_ready    = !full[collect_page];
    assign collect      = in1_valid && in1_ready;
    assign row_ends     = collect_group == GROUP_BITS'(GROUPS - 1);
    assign word_ends    = collect_lane == LANE_BITS'(SIMD - 1);
    assign collect_ends = row_ends && word_ends && (collect_at == LAST_OF_FIRST || collect_at == LAST);

    always_ff @(posedge clk) begin
        if (rst) begin
            collect_at    <= '0;
            collect_page  <= '0;
            collect_group <= '0;
            collect_lane  <= '0;
        end else if (collect) begin
            collect_group <= row_ends ? '0 : collect_group + 1'b1;
            if (row_ends) collect_lane <= word_ends ? '0 : collect_lane + 1'b1;
            if (collect_ends) collect_page <= !collect_page;
            if (!row_ends) collect_at <= collect_at + at_t'(PARTS);
            else if (!word_ends) collect_at <= collect_at - at_t'((GROUPS - 1) * PARTS);
            else if (!collect_ends) collect_at <= collect_at - at_t'((GROUPS - 1) * PARTS - 1);
            else collect_at <= collect_page ? '0 : at_t'(WORDS);
        end
    end

    always_ff @(posedge clk) begin
        for (int s = 0; s < SIMD; s++) write[s] <= collect && collect_lane == LANE_BITS'(s);
        write_at   <= collect_at;
        write_data <= in1_data;
    end

    // Use: the parts of a row for one group of columns after the other, then the next row.
    logic use_page, ready, step, fresh, first_part, last_part, last_group, last_row, use_ends;
    logic [PART_BITS-1:0] part;
    logic [GROUP_BITS-1:0] group;
    logic [ROW_BITS-1:0] row;
    logic free;  // there is a place for a sum

    assign fresh      = group == '0;  // this part of the row comes now
    assign first_part = part == '0;
    assign ready      = full[use_page] && (free || !first_part);
    assign in0_ready  = ready && fresh;
    assign step       = ready && (!fresh || in0_valid);
    assign last_part  = part == PART_BITS'(PARTS - 1);
    assign last_group = group == GROUP_BITS'(GROUPS - 1);
    assign last_row   = row == ROW_BITS'(ROWS - 1);
    assign use_ends   = step && last_part && last_group && last_row;

    always_ff @(posedge clk) begin
        if (rst) begin
            use_page <= '0;
            part     <= '0;
            group    <= '0;
            row      <= '0;
        end else if (step) begin
            part <= last_part ? '0 : part + 1'b1;
            if (last_part) group <= last_group ? '0 : group + 1'b1;
            if (last_part && last_group) row <= last_row ? '0 : row + 1'b1;
            if (use_ends) use_page <= !use_page;
        end
    end

    always_ff @(posedge clk) begin
        if (rst) begin
            full <= '0;
        end else begin
            if (collect && collect_ends) full[collect_page] <= 1'b1;
            if (use_ends) full[use_page] <= 1'b0;
        end
    end

    // First stage: addresses. Each set of lanes has its own, for one register cannot be near to many memories.
    at_t read_at[SETS], next_row_at;
    logic reading, row_ended;

    always_ff @(posedge clk) begin
        reading     <= !rst && step;
        row_ended   <= last_part && last_group;
        next_row_at <= use_page ^ last_row ? at_t'(WORDS) : '0;
    end

    for (genvar i = 0; i < SETS; i++) begin : sets
        always_ff @(posedge clk) begin
            if (rst) read_at[i] <= '0;
            else if (reading) read_at[i] <= row_ended ? next_row_at : read_at[i] + 1'b1;
        end
    end

    // Second stage: operands.
    logic [SIMD-1:0][LHS_BITS-1:0] lhs_word, lhs;
    logic [SIMD-1:0][PE-1:0][RHS_BITS-1:0] rhs_word, rhs;

    for (genvar s = 0; s < SIMD; s++) begin : lanes
        page_memory #(
            .WORDS(2 * WORDS),
            .BITS(PE * RHS_BITS),
            .BLOCK(BLOCK)
        ) memory (
            .clk,
            .write(write[s]),
            .write_at,
            .write_data,
            .read(1'b1),
            .read_at(read_at[s / SET]),
            .read_data(rhs_word[s])
        );
    end

    if (PARTS == 1 || GROUPS == 1) begin : row_in_register
        logic [SIMD*LHS_BITS-1:0] beat;

        always_ff @(posedge clk) begin
            if (fresh) beat <= in0_data;
            lhs_word <= beat;
        end
    end else begin : row_in_memory
        logic [PART_BITS-1:0] read_part;

        always_ff @(posedge clk) read_part <= part;

        page_memory #(
            .WORDS(PARTS),
            .BITS(SIMD * LHS_BITS),
            .BLOCK(1'b0)
        ) memory (
            .clk,
            .write(fresh),  // what no turn took is written over by the beat that comes
            .write_at(part),
            .write_data(in0_data),
            .read(1'b1),
            .read_at(read_part),
            .read_data(lhs_word)
        );
    end

    if (HELD) begin : factors_held
        always_ff @(posedge clk) begin
            lhs <= lhs_word;
            rhs <= rhs_word;
        end
    end else begin : factors_at_once
        assign lhs = lhs_word;
        assign rhs = rhs_word;
    end

    // Third stage: products. Then their sum in a tree, then the sum over the parts of a row.
    localparam bit SIGNED = LHS_KIND != 0 || RHS_KIND != 0;
    localparam int unsigned WIDTH = LHS_BITS + RHS_BITS;
    localparam int unsigned SUM_BITS = WIDTH + $clog2(SIMD);
    localparam int unsigned DELAY = 3 + 32'(HELD) + $clog2(SIMD);  // from a turn to the sum of its products

    logic [DELAY-1:0] valid, first, last;
    logic [PE-1:0][OUT_BITS-1:0] total, running;
    logic total_valid;

    always_ff @(posedge clk) begin
        if (rst) valid <= '0;
        else valid <= {valid[DELAY-2:0], step};
        first <= {first[DELAY-2:0], first_part};
        last  <= {last[DELAY-2:0], last_part};
    end

    for (genvar p = 0; p < PE; p++) begin : columns
        logic [SIMD-1:0][WIDTH-1:0] products;
        logic [SUM_BITS-1:0]        sum;
        logic [OUT_BITS-1:0]        added;

        for (genvar s = 0; s < SIMD; s++) begin : factors
            logic [WIDTH-1:0] product;

            integer_product #(
                .A_BITS(LHS_BITS), .A_KIND(LHS_KIND), .B_BITS(RHS_BITS), .B_KIND(RHS_KIND), .OUT_BITS(WIDTH)
            ) multiplier (
                .a(lhs[s]), .b(rhs[s][p]), .product
            );

            always_ff @(posedge clk) products[s] <= product;
        end

        binary_mvau_sum #(
            .COUNT(SIMD), .BITS(WIDTH), .SIGNED(SIGNED ? 1 : 0)
        ) tree (
            .clk, .enable(1'b1), .numbers(products), .sum
        );

        if (SIGNED) begin : extended
            assign added = OUT_BITS'(signed'(sum));
        end else begin : filled
            assign added = OUT_BITS'(sum);
        end

        assign total[p] = (first[DELAY-1] ? '0 : running[p]) + added;
    end

    assign total_valid = valid[DELAY-1] && last[DELAY-1];

    if (PARTS > 1) begin : sum_of_parts
        always_ff @(posedge clk) if (valid[DELAY-1]) running <= total;
    end else begin : one_part
        assign running = '0;
    end

    // A sum has its place from its first part on.
    reserved_queue #(
        .BITS(PE * OUT_BITS), .PLACES(PLACES), .KEPT(PARTS > 1)
    ) results (
        .clk, .rst,
        .free, .begun(step && first_part),
        .in_data(total), .in_valid(total_valid), .kept(running),
        .out_data, .out_valid, .out_ready
    );

endmodule
