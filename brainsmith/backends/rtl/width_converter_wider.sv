// SPDX-License-Identifier: MIT
// Gathers narrow beats into wide ones: takes a beat per cycle.
//
// What is taken is shifted in at the top, so an output beat is a window whose place depends only on how many units
// came after it, which are fewer than an input beat has.
module width_converter_wider #(
    int unsigned UNIT = 1,   // bits
    int unsigned TAKEN = 2,  // units of an input beat
    int unsigned GIVEN = 3,  // units of an output beat, more than TAKEN
    bit STAGED = 0           // whether a window is chosen in two cycles
) (
    input  logic clk,
    input  logic rst,

    input  logic [TAKEN*UNIT-1:0] in_data,
    input  logic                  in_valid,
    output logic                  in_ready,

    output logic [GIVEN*UNIT-1:0] out_data,
    output logic                  out_valid,
    input  logic                  out_ready
);

    localparam int unsigned HELD = GIVEN + TAKEN - 1;  // units
    localparam int unsigned SPARE_BITS = $clog2(GIVEN) + 1;

    typedef logic [SPARE_BITS-1:0] spare_t;

    logic [TAKEN*UNIT-1:0] kept, taken;
    logic                  keeps, shifts, full, goes, gives;
    logic [HELD*UNIT-1:0]  held;
    spare_t                spare;  // units that are held beyond an output beat; negative while there is none

    assign in_ready = !keeps;
    assign taken    = keeps ? kept : in_data;
    assign full     = !spare[SPARE_BITS-1];
    assign gives    = full && goes;  // an output beat leaves what is held
    assign shifts   = (keeps || in_valid) && (!full || goes);

    if (TAKEN > 1) begin : gen_windows
        localparam int unsigned PLACE_BITS = $clog2(TAKEN);
        localparam int unsigned PLACES = 1 << PLACE_BITS;
        localparam int unsigned DIGITS = (PLACE_BITS + 1) / 2;
        localparam int unsigned BITS = (PLACES - 1 + GIVEN) * UNIT;
        localparam int unsigned NEAR = GIVEN + (PLACES > 4 ? 3 : PLACES - 1);  // units

        logic [DIGITS:1][BITS-1:0] moved;
        logic [2*DIGITS-1:0]       places;  // how far the window is moved down
        logic [NEAR*UNIT-1:0]      near;  // what the last digit is still to move
        logic [1:0]                digit;

        // The place has digits of two bits, each of which chooses among four distances; the highest one moves first.
        for (genvar at = 1; at < DIGITS; at++) begin : gen_digit
            digit_shift #(.UNIT(UNIT << (2 * at)), .HELD(BITS), .KEPT(BITS)) shift (
                .digit(places[2*at +: 2]), .from(moved[at+1]), .to(moved[at])
            );
        end
        assign moved[DIGITS] = BITS'(held) << ((PLACES - TAKEN) * UNIT);
        assign places        = (2 * DIGITS)'({~spare[PLACE_BITS-1:0]});

        if (STAGED) begin : gen_stage
            assign goes = !out_valid || out_ready;

            always_ff @(posedge clk) begin
                if (goes) begin
                    near  <= moved[1][NEAR*UNIT-1:0];
                    digit <= places[1:0];
                end

                if (rst)       out_valid <= 1'b0;
                else if (goes) out_valid <= full;
            end
        end else begin : gen_at_once
            assign goes      = out_ready;
            assign near      = moved[1][NEAR*UNIT-1:0];
            assign digit     = places[1:0];
            assign out_valid = full;
        end

        digit_shift #(.UNIT(UNIT), .HELD(NEAR * UNIT), .KEPT(GIVEN * UNIT)) last (.digit, .from(near), .to(out_data));
    end else begin : gen_window
        assign goes      = out_ready;
        assign out_valid = full;
        assign out_data  = held;
    end

    always_ff @(posedge clk) begin
        if (!keeps) kept <= in_data;
        if (shifts) held <= (HELD * UNIT)'({taken, held} >> (TAKEN * UNIT));

        if (rst) begin
            keeps <= 1'b0;
            spare <= -spare_t'(GIVEN);
        end else begin
            keeps <= (keeps || in_valid) && !shifts;
            spare <= spare + (shifts ? (gives ? spare_t'(TAKEN) - spare_t'(GIVEN) : spare_t'(TAKEN))
                                     : (gives ? -spare_t'(GIVEN) : '0));
        end
    end

endmodule
