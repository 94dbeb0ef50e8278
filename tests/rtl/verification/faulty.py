"""A design with faults that are chosen when it runs: one build serves many tests.

Memory contents are read each time a simulation begins, so the test alters them where the built simulation keeps them.
Behind each layer sits a module that the wrapper of the layer holds, so that it belongs to the layer; the memory
`fault.dat` says who does what and when.
"""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from brainsmith.rtl.library.sources import RtlSource
from brainsmith.rtl.simulation.simulation_plan import Memory
from brainsmith.rtl.simulation.simulator import Simulator
from brainsmith.rtl.stitching.design import Design
from brainsmith.rtl.verification.diagnose import judge_links
from brainsmith.rtl.verification.link_watch import build_watched, watch_design

NOTHING, DROP, DOUBLE, SWAP, HANG = range(5)
FAULT, NO_FAULT = "fault.dat", "0\n0\n0\n"

SABOTEUR = """
// This design is altered where it is kept, so each process has its own; this one is number {number}.
module saboteur #(parameter WIDTH = 8, parameter LANE = 4, parameter WHO = 0) (
    input clk, input rst_n,
    input [WIDTH-1:0] idat, input ivld, output irdy, output [WIDTH-1:0] odat, output ovld, input ordy
);
reg [31:0] fault [0:2];
initial $readmemh("@brainsmith-data@/fault.dat", fault);
wire [31:0] what = fault[0] == WHO ? fault[1] : 0;
reg [31:0] n = 0;
reg second = 0;
wire now = n == fault[2];
wire after = n >= fault[2];
always @(posedge clk) if (!rst_n) begin n <= 0; second <= 0; end else begin
    if (ivld & irdy) n <= n + 1;
    if (ovld & ordy) second <= what == 2 & now & !second;
end
assign odat = what == 3 & now ? {{idat[WIDTH-1:2*LANE], idat[LANE-1:0], idat[2*LANE-1:LANE]}} : idat;
assign ovld = what == 1 & now ? 0 : what == 4 & after ? 0 : ivld;
assign irdy = what == 1 & now ? 1 : what == 2 & now ? ordy & second : what == 4 & after ? 0 : ordy;
endmodule
"""

WRAPPER = """
module faulty_{module} ({ports});
wire [{high}:0] data; wire valid, ready;
{module} inner ({inner});
saboteur #(.WIDTH({bits}), .LANE({lane}), .WHO({who})) saboteur (
    .clk(ap_clk), .rst_n(ap_rst_n), .idat(data), .ivld(valid), .irdy(ready),
    .odat(out0_V_TDATA), .ovld(out0_V_TVALID), .ordy(out0_V_TREADY));
endmodule
"""

FIFO = """
module fifo #(parameter DEPTH = 2, parameter DATA_WIDTH = 8) (
    input clk, input rst, input [DATA_WIDTH-1:0] idat, input ivld, output irdy,
    output [DATA_WIDTH-1:0] odat, output ovld, input ordy, output [31:0] count, output [31:0] maxcount
);
wire [DATA_WIDTH-1:0] data; wire valid, ready;
plain_fifo #(.DEPTH(DEPTH), .DATA_WIDTH(DATA_WIDTH)) plain (
    .clk(clk), .rst(rst), .idat(idat), .ivld(ivld), .irdy(irdy), .odat(data), .ovld(valid), .ordy(ready));
saboteur #(.WIDTH(DATA_WIDTH), .LANE(3), .WHO(DEPTH == 15 ? {who} : 99)) saboteur (
    .clk(clk), .rst_n(!rst), .idat(data), .ivld(valid), .irdy(ready), .odat(odat), .ovld(ovld), .ordy(ordy));
endmodule
"""

OWN = {"out0_V_TDATA": "data", "out0_V_TVALID": "valid", "out0_V_TREADY": "ready"}


@dataclass
class Faulty:
    """A design, its simulation with probes, and the folder of its memories, in which its faults are chosen."""

    design: Design
    simulator: Simulator
    folder: Path
    who: dict[str, int]
    clean: dict[str, str]

    def diagnose(self, inputs, golden, *, layer="", what=NOTHING, beat=0, memories=None, limit=None):
        """Run with one fault: of a layer's output, of the FIFO (`layer="fifo"`), or in memories, by their names."""
        fault = f"{self.who.get(layer, 0):x}\n{what:x}\n{beat:x}\n"
        self._write({**self.clean, **(memories or {}), FAULT: fault})
        run = watch_design(self.simulator, self.design, inputs, limit=limit)
        return judge_links(run, golden)

    def restore(self):
        """Leave the memories as they were built, so that the simulation is whole."""
        self._write({**self.clean, FAULT: NO_FAULT})

    def _write(self, memories):
        for name, text in memories.items():
            (self.folder / name).write_text(text)


def make_faulty(design, number):
    """Wrap every layer, and the FIFO module; designs with different numbers are kept apart."""
    links = {link.source.layer: link for link in design.links if not link.weights and link.source.layer}
    who = {name: at + 1 for at, name in enumerate(links)}
    sources, layers = [], []
    for source in design.sources:
        text = source.text
        if source.name == "fifo.sv":
            text = re.sub(r"\bfifo(?= #\(|$)", "plain_fifo", text, flags=re.M)
        sources.append(RtlSource(source.name, text, source.rules))
    for layer in design.layers:
        if layer.name not in links:
            layers.append(layer)
            continue
        sources.append(
            RtlSource(f"faulty_{layer.module}.v", _wrapper(layer, links[layer.name], who[layer.name]))
        )
        layers.append(replace(layer, module=f"faulty_{layer.module}"))
    sources.append(RtlSource("saboteur.v", SABOTEUR.format(number=number)))
    sources.append(RtlSource("faulty_fifo.v", FIFO.format(who=len(who) + 1)))
    memories = (*design.memories, Memory(FAULT, NO_FAULT))
    faulty = replace(design, layers=tuple(layers), sources=tuple(sources), memories=memories)
    clean = {memory.name: memory.text for memory in design.memories}
    simulator = build_watched(faulty, quick=True)
    kept = Path(simulator.library._name).parent / "memories"
    return Faulty(faulty, simulator, kept, {**who, "fifo": len(who) + 1}, clean)


def _wrapper(layer, link, who):
    widths = {"out0_V_TDATA": link.bits}
    ports, inner = [], []
    for name, is_input in layer.ports:
        bits = f" [{widths.get(name, 1023) - 1}:0]" if name.upper().endswith("DATA") else ""
        ports.append(f"{'input' if is_input else 'output'}{bits} {name}")
        inner.append(f".{name}({OWN.get(name, name)})")
    return WRAPPER.format(
        module=layer.module, ports=", ".join(ports), inner=", ".join(inner), high=link.bits - 1, bits=link.bits,
        lane=link.layout.lane_bits if link.layout.lanes > 1 else link.bits // 2, who=who,
    )  # fmt: skip
