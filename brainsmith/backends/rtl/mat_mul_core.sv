// SPDX-License-Identifier: MIT
// Multiplies a matrix that comes row by row by one that was collected before, PE columns and SIMD products a cycle.
//
// Two right-hand matrices are stored: the next one is collected while one is used. A left-hand row is used as it comes
// for the first PE columns, and from a memory of one row for the others. All stages stand still while the output waits.
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
    bit BLOCK = 0               // right-hand matrices in block RAM, else in LUTs
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

    typedef logic [AT_BITS-1:0] at_t;
    localparam at_t LAST_OF_FIRST = at_t'(WORDS - 1);
    localparam at_t LAST = at_t'(2 * WORDS - 1);

    logic [1:0] full;  // these right-hand matrices are complete

    // Collect: a word has PE columns of SIMD rows. Words are in the order in which they are used, so those of a row
    // are PARTS apart.
    at_t collect_at;
    logic collect_page, collect, row_ends, word_ends, collect_ends;
    logic [GROUP_BITS-1:0] collect_group;
    logic [LANE_BITS-1:0] collect_lane;

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

    // Use: the parts of a row for one group of columns after the other, then the next row.
    at_t use_at;
    logic use_page, go, step, fresh, last_part, last_group, last_row, use_ends;
    logic [PART_BITS-1:0] part;
    logic [GROUP_BITS-1:0] group;
    logic [ROW_BITS-1:0] row;

    assign go         = !out_valid || out_ready;
    assign fresh      = group == '0;  // this part of the row comes now
    assign in0_ready  = go && fresh && full[use_page];
    assign step       = go && full[use_page] && (!fresh || in0_valid);
    assign last_part  = part == PART_BITS'(PARTS - 1);
    assign last_group = group == GROUP_BITS'(GROUPS - 1);
    assign last_row   = row == ROW_BITS'(ROWS - 1);
    assign use_ends   = step && last_part && last_group && last_row;

    always_ff @(posedge clk) begin
        if (rst) begin
            use_at   <= '0;
            use_page <= '0;
            part     <= '0;
            group    <= '0;
            row      <= '0;
        end else if (step) begin
            part <= last_part ? '0 : part + 1'b1;
            if (last_part) group <= last_group ? '0 : group + 1'b1;
            if (last_part && last_group) row <= last_row ? '0 : row + 1'b1;
            if (use_ends) use_page <= !use_page;
            if (last_part && last_group) use_at <= use_page ^ last_row ? at_t'(WORDS) : '0;
            else use_at <= use_at + 1'b1;
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

    // First stage: operands.
    logic [SIMD-1:0][LHS_BITS-1:0] lhs;
    logic [SIMD-1:0][PE-1:0][RHS_BITS-1:0] rhs;

    for (genvar s = 0; s < SIMD; s++) begin : lanes
        page_memory #(
            .WORDS(2 * WORDS),
            .BITS(PE * RHS_BITS),
            .BLOCK(BLOCK)
        ) memory (
            .clk,
            .write(collect && collect_lane == LANE_BITS'(s)),
            .write_at(collect_at),
            .write_data(in1_data),
            .read(step),
            .read_at(use_at),
            .read_data(rhs[s])
        );
    end

    if (PARTS == 1) begin : one_part
        always_ff @(posedge clk) if (step && fresh) lhs <= in0_data;
    end else if (GROUPS == 1) begin : used_once
        always_ff @(posedge clk) if (step) lhs <= in0_data;
    end else begin : replayed
        (* ram_style = "distributed" *) logic [SIMD*LHS_BITS-1:0] parts[PARTS];

        always_ff @(posedge clk) begin
            if (step && fresh) parts[part] <= in0_data;
            if (step) lhs <= fresh ? in0_data : parts[part];
        end
    end

    // Second stage: products. Then their sum in a tree, then the sum over the parts of a row, which is the output.
    localparam bit SIGNED = LHS_KIND != 0 || RHS_KIND != 0;
    localparam int unsigned WIDTH = LHS_BITS + RHS_BITS;
    localparam int unsigned SUM_BITS = WIDTH + $clog2(SIMD);
    localparam int unsigned DELAY = 2 + $clog2(SIMD);  // from a part of a row to the sum of its products

    logic [DELAY-1:0] valid, first, last;

    always_ff @(posedge clk) begin
        if (rst) begin
            valid     <= '0;
            out_valid <= '0;
        end else if (go) begin
            valid     <= {valid[DELAY-2:0], step};
            out_valid <= valid[DELAY-1] && last[DELAY-1];
        end
        if (go) begin
            first <= {first[DELAY-2:0], part == '0};
            last  <= {last[DELAY-2:0], last_part};
        end
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

            always_ff @(posedge clk) if (go) products[s] <= product;
        end

        binary_mvau_sum #(
            .COUNT(SIMD), .BITS(WIDTH), .SIGNED(SIGNED ? 1 : 0)
        ) tree (
            .clk, .enable(go), .numbers(products), .sum
        );

        if (SIGNED) begin : extended
            assign added = OUT_BITS'(signed'(sum));
        end else begin : filled
            assign added = OUT_BITS'(sum);
        end

        always_ff @(posedge clk) begin
            if (go && valid[DELAY-1]) out_data[p] <= (first[DELAY-1] ? '0 : out_data[p]) + added;
        end
    end

endmodule
