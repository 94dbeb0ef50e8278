// A FIFO whose depth is an input: cycle for cycle what FINN's fifo.sv is with that DEPTH and RAM_STYLE "auto".
//
// FINN's FIFO is a memory, followed by what its output needs: a register (shift, distributed), a pipeline of two
// stages that halts with the output (block), or a pipeline that never halts and a queue behind it, which credits keep
// from overflowing (ultra). Here beats lie in one ring from their arrival to their departure, and only their number in
// each of these parts is kept.

module adjustable_fifo #(
    int unsigned WIDTH,
    int unsigned CAPACITY // beats; a power of two. A FIFO that reached it (maxcount) was not what `depth` says.
)(
    input  logic clk,
    input  logic rst,

    input  logic [WIDTH-1:0] idat,
    input  logic ivld,
    output logic irdy,

    output logic [WIDTH-1:0] odat,
    output logic ovld,
    input  logic ordy,

    input  logic [31:0] depth,   // constant; taken over in the reset. 0 is no bound but CAPACITY, with a register
    output logic [31:0] maxcount // most beats in it since the reset
);
    localparam int unsigned QUEUE = 16; // behind the pipeline of an ultra FIFO, besides the output register
    localparam int unsigned STAGES = 64;

    // What the depth means
    logic [31:0] places = 0; // of the memory
    logic [5:0] entry = 0;   // the stage of the pipeline where a beat enters it; it leaves from stage 0
    logic queued = 0;
    always_ff @(posedge clk) if (rst) begin
        automatic int unsigned needed, low, high, rest;
        queued <= depth > 2028 && WIDTH >= 5;
        entry <= 0;
        places <= depth == 0 ? CAPACITY : depth > 5 ? depth - 1 : 4;
        if (depth > 257 && WIDTH >= 5) begin
            needed = depth - (depth > 2028 ? QUEUE : 0) - 1;
            low = $clog2(needed);
            high = 0;
            if (low > (depth > 2028 ? 12 : 9)) begin // a second, smaller memory instead of one twice as large
                rest = $clog2(needed - (1 << (low - 1)));
                if (rest < low - 1) begin
                    low = low - 1;
                    high = rest == 0 ? 1 : rest;
                end
            end
            places <= (1 << low) + (high != 0 ? 1 << high : 0);
            entry <= depth > 2028 ? 6'(2 + ((1 << low) - 1) / 8192) : 6'd1;
        end
    end

    // How many beats are where
    logic [31:0] count = 0;           // in all parts
    logic [31:0] fill = 0;            // in the memory
    logic [STAGES-1:0] pipeline = 0;  // one bit is one beat
    logic [5:0] due = 0;              // beats in the pipeline and the queue and at the output, if there is a queue
    logic [5:0] waiting = 0;          // in the queue
    logic offered = 0;                // at the output behind the queue

    assign irdy = fill < places && count < CAPACITY;
    assign ovld = queued ? offered : pipeline[0];
    wire push = ivld && irdy;
    wire pop = ovld && ordy;
    wire moves = queued || ordy || !pipeline[0];
    wire drain = fill != 0 && (queued ? due <= 6'(QUEUE) : moves);
    wire serve = waiting != 0 && (!offered || ordy);
    wire [31:0] next_count = count + 32'(push) - 32'(pop);

    always_ff @(posedge clk) begin
        if (rst) begin
            count <= 0;
            maxcount <= 0;
            fill <= 0;
            pipeline <= 0;
            due <= 0;
            waiting <= 0;
            offered <= 0;
        end else begin
            count <= next_count;
            if (next_count > maxcount) maxcount <= next_count;
            fill <= fill + 32'(push) - 32'(drain);
            if (moves) pipeline <= (pipeline >> 1) | (64'(drain) << entry);
            if (queued) begin
                due <= due + 6'(drain) - 6'(pop);
                waiting <= waiting + 6'(pipeline[0]) - 6'(serve);
                if (!offered || ordy) offered <= waiting != 0;
            end
        end
    end

    // The beats
    logic [WIDTH-1:0] ring [CAPACITY];
    logic [$clog2(CAPACITY)-1:0] head = 0;
    logic [$clog2(CAPACITY)-1:0] tail = 0;
    assign odat = ring[tail];
    always_ff @(posedge clk) begin
        if (push) ring[head] <= idat;
        head <= rst ? 0 : head + push;
        tail <= rst ? 0 : tail + pop;
    end
endmodule
