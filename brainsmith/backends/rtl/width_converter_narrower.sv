// SPDX-License-Identifier: MIT
// Serves wide beats in narrow ones: gives a beat per cycle.
//
// A beat is taken as it is, behind what is left of the one before, and moves down by an output beat at a time. So an
// output beat is a window at the bottom, at a place that stays the same until the next beat is taken.
module width_converter_narrower #(
    int unsigned UNIT = 1,   // bits
    int unsigned TAKEN = 3,  // units of an input beat
    int unsigned GIVEN = 2,  // units of an output beat, fewer than TAKEN
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

    localparam int unsigned REST = GIVEN - 1;        // units that may be left when a beat is taken, below it
    localparam int unsigned WHOLE = TAKEN / GIVEN;   // output beats that an input beat fills in any case
    localparam int unsigned BEATS_BITS = $clog2(WHOLE + 2);
    localparam int unsigned BITS = (REST + TAKEN) * UNIT;

    typedef logic [BEATS_BITS-1:0] beats_t;

    logic [BITS-1:0]       held, loaded, lower;  // when a beat is taken, or one is given
    logic [GIVEN*UNIT-1:0] given, kept;
    logic                  keeps, moves, takes, comes;
    beats_t                beats, filled;  // output beats that are held, and will be when an input beat is taken

    assign in_ready = beats == '0 || (beats == 1 && !keeps);
    assign takes    = in_valid && in_ready;
    assign moves    = beats != '0 && !keeps;

    // What gets free at the top may be anything, so it is what a beat that is taken has there.
    assign lower = {in_data[TAKEN*UNIT-1 -: GIVEN*UNIT], held[BITS-1:GIVEN*UNIT]};

    assign out_valid = keeps || comes;
    assign out_data  = keeps ? kept : given;

    always_ff @(posedge clk) begin
        if (!keeps) kept <= given;
        if (takes || moves) held <= takes ? loaded : lower;

        if (rst) begin
            keeps <= 1'b0;
            beats <= '0;
        end else begin
            keeps <= out_valid && !out_ready;
            if (takes)      beats <= filled;
            else if (moves) beats <= beats - 1'b1;
        end
    end

    if (GIVEN == 1) begin : gen_aligned
        assign loaded = in_data;
        assign filled = beats_t'(TAKEN);
        assign given  = held[UNIT-1:0];
        assign comes  = beats != '0;
    end else begin : gen_rest
        localparam int unsigned OVER = TAKEN % GIVEN;  // units beyond whole output beats
        localparam int unsigned PLACE_BITS = $clog2(GIVEN);
        localparam int unsigned DIGITS = (PLACE_BITS + 1) / 2;
        localparam int unsigned NEAR = GIVEN + (GIVEN > 3 ? 3 : REST);  // units

        typedef logic [PLACE_BITS-1:0] place_t;

        logic [DIGITS:1][BITS-1:0]         moved;
        logic [2*DIGITS-1:0]               places;
        logic [NEAR*UNIT-1:0]              near;  // what the last digit is still to move
        logic [1:0]                        digit;
        logic [3:0][REST*UNIT-1:0]         rests;
        logic [1:0]                        ended;
        place_t                            place, next;  // of the first unit that is not yet given
        logic                              high, goes;  // whether it is OVER or more, and the next one

        // The place has digits of two bits, each of which chooses among four distances; the highest one moves first.
        for (genvar at = 1; at < DIGITS; at++) begin : gen_digit
            digit_shift #(.UNIT(UNIT << (2 * at)), .HELD(BITS), .KEPT(BITS)) shift (
                .digit(places[2*at +: 2]), .from(moved[at+1]), .to(moved[at])
            );
        end
        assign moved[DIGITS] = held;
        assign places        = (2 * DIGITS)'(place);

        if (STAGED) begin : gen_stage
            always_ff @(posedge clk) begin
                if (!keeps) begin
                    near  <= moved[1][NEAR*UNIT-1:0];
                    digit <= places[1:0];
                end

                if (rst)         comes <= 1'b0;
                else if (!keeps) comes <= beats != '0;
            end
        end else begin : gen_at_once
            assign near  = moved[1][NEAR*UNIT-1:0];
            assign digit = places[1:0];
            assign comes = beats != '0;
        end

        digit_shift #(.UNIT(UNIT), .HELD(NEAR * UNIT), .KEPT(GIVEN * UNIT)) last (.digit, .from(near), .to(given));

        // When a beat is taken, what is held ends at OVER - 1 units, or one or two output beats above.
        for (genvar at = 0; at < REST; at++) begin : gen_rest_unit
            localparam int unsigned FROM = at + OVER >= GIVEN ? at + OVER - GIVEN : at + OVER;  // any, where none is left
            assign rests[0][at*UNIT +: UNIT] = held[FROM*UNIT +: UNIT];
        end
        assign rests[1] = held[OVER*UNIT +: REST*UNIT];
        assign rests[2] = held[(OVER+GIVEN)*UNIT +: REST*UNIT];
        assign rests[3] = rests[2];

        assign ended  = {1'b0, high} + {1'b0, beats != '0};
        assign loaded = {in_data, rests[ended]};
        assign next   = high ? place - place_t'(OVER) : place + place_t'(GIVEN - OVER);
        assign goes   = high ? 32'(place) >= 2 * OVER : 32'(place) + GIVEN >= 2 * OVER;
        assign filled = goes ? beats_t'(WHOLE) : beats_t'(WHOLE + 1);

        always_ff @(posedge clk) begin
            if (rst) begin
                place <= place_t'(OVER - 1);
                high  <= 1'b0;
            end else if (takes) begin
                place <= next;
                high  <= goes;
            end
        end
    end

endmodule
