"""Many layers side by side in one simulation, each with streams of its own: one build for many cases.

Each is fed several random frames, first as fast as it takes them, then with random stalls at both ends.
"""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from qonnx.util.basic import roundup_to_integer_multiple

from brainsmith.rtl.library.sources import RtlSource
from brainsmith.rtl.simulation.beats import pack, unpack
from brainsmith.rtl.simulation.simulation_plan import SimulationPlan, plan_simulation
from brainsmith.rtl.simulation.simulator_build import build_simulator
from brainsmith.rtl.simulation.stalls import Stalls
from brainsmith.rtl.stitching.codegen import read_layer
from tests.rtl.finn_cases.values import decode, encode, signed

TOP = "bench"
SIZE = 16
FRAMES = 3
SHARE = 0.3
PERIOD = 5.0
STREAM = ("TDATA", "TVALID", "TREADY")


@dataclass
class Instance:
    """One case in the bench.

    Attributes:
        name: Of the instance; the streams of the bench begin with it.
        case: What it is.
        code: What FINN generated.
    """

    name: str
    case: object
    code: object

    @property
    def inputs(self):
        """Return index and width of each stream that is fed."""
        names = list(self.case.layer.graph.node[0].input)
        return [
            (names.index(name), self.case.node.get_instream_width_padded(names.index(name)))
            for name in self.case.fed
        ]

    def verilog(self):
        """Return the bench's ports for this instance, and the instance."""
        ports, nets = [], {"ap_clk": "ap_clk", "ap_clk2x": "ap_clk2x", "ap_rst_n": "ap_rst_n"}
        out = self.case.node.get_outstream_width_padded(0)
        for stream, bits, fed in [
            *((f"in{at}_V", bits, True) for at, bits in self.inputs),
            ("out0_V", out, False),
        ]:
            forward, back = ("input", "output") if fed else ("output", "input")
            for kind, way, width in (("TDATA", forward, bits), ("TVALID", forward, 1), ("TREADY", back, 1)):
                ports.append(f"{way} [{width - 1}:0] {self.name}_{stream}_{kind}")
                nets[f"{stream}_{kind}"] = f"{self.name}_{stream}_{kind}"
        return ports, self._memory(nets) + [
            instance(self.code.module, f"{self.name}_layer", self.code.ports, nets)
        ]

    def _memory(self, nets):
        """Connect what streams the weights, if there is such a thing, and return it."""
        if not self.code.memory:
            return []
        node = self.case.node
        lanes = node.get_nodeattr("PE") * node.get_nodeattr("SIMD")
        width = roundup_to_integer_multiple(lanes * node.get_input_datatype(1).bitwidth(), 8)
        inner = {name: name for name in ("ap_clk", "ap_clk2x", "ap_rst_n")}
        for kind in STREAM:
            net = f"{self.name}_weights_{kind}"
            inner[f"s_axis_0_{kind}"] = nets.get(f"in1_V_{kind}", "0")
            nets[f"in1_V_{kind}"] = inner[f"m_axis_0_{kind}"] = inner[f"m_axis_0_{kind.lower()}"] = net
        wires = [
            f"wire [{width if kind == 'TDATA' else 1}-1:0] {self.name}_weights_{kind};" for kind in STREAM
        ]
        return [*wires, instance(self.code.memory, f"{self.name}_memory", self.code.memory_ports, inner)]


def with_loader(code, library, folder):
    """Add what FINN puts before a layer whose weights are an input: it gathers them and repeats them."""
    module = f"{code.module}_dynamic_load_wrapper"
    if not (folder / f"{module}.v").exists():
        return code
    plan = plan_simulation(module, ["dynload/hdl/dynamic_load.sv", folder / f"{module}.v"], library)
    ports = [("ap_clk", True), ("ap_rst_n", True)]
    ports += [(f"{end}_axis_0_{kind}", (end == "s") != (kind == "TREADY")) for end in "sm" for kind in STREAM]
    return replace(code, memory=module, memory_ports=tuple(ports), sources=(*code.sources, *plan.sources))


def instance(module, name, ports, nets):
    """Return an instance; inputs that nothing drives are 0."""
    connected = ", ".join(f".{port}({nets.get(port, '0' if fed else '')})" for port, fed in ports)
    return f"{module} {name} ({connected});"


class Bench:
    """Cases that are simulated together."""

    def __init__(self, cases, folder, library):
        self.instances = []
        for at, case in enumerate(cases):
            node = case.layer.graph.node[0]
            node.name = f"{node.op_type}_{at}"
            place = folder / node.name
            place.mkdir(parents=True)
            case.node.set_nodeattr("code_gen_dir_ipgen", str(place))
            case.node.code_generation_ipgen(case.layer, case.part, PERIOD)
            code = with_loader(read_layer(case.node, library), library, place)
            self.instances.append(Instance(f"c{at}", case, code))
        plan = self._plan()
        self.simulator = build_simulator(plan, quick=True)
        if any(case.doubled for case in cases):
            doubled = replace(self.simulator.interface, doubled=True)
            self.simulator = build_simulator(plan, interface=doubled, quick=True)

    def _plan(self):
        ports, parts = ["input ap_clk", "input ap_clk2x", "input ap_rst_n"], []
        sources, memories = {}, []
        for one in self.instances:
            more, body = one.verilog()
            ports += more
            parts += body
            memories += one.code.memories
            for source in one.code.sources:
                assert sources.setdefault(source.name, source) == source
        text = f"module {TOP} (\n" + ",\n".join(ports) + "\n);\n" + "\n".join(parts) + "\nendmodule\n"
        packages = sorted(sources.values(), key=lambda source: "endpackage" not in source.text)
        return SimulationPlan(TOP, (*packages, RtlSource(f"{TOP}.v", text)), tuple(memories))

    def run(self, frames, seed, share=0.0):
        """Simulate random frames of all cases; stalls are random ones with this probability, never by default.

        Returns:
            By case: what came, what was expected, and the cycles from the beginning to the first frame's last beat.
        """
        rng = np.random.default_rng(seed)
        data = [[one.case.random_frame(rng) for _ in range(frames)] for one in self.instances]
        expected = [
            np.stack([one.case.expected(frame) for frame in case])
            for one, case in zip(self.instances, data, strict=True)
        ]
        inputs, outputs, constant, stalls = {}, {}, [], {}
        for one, case, wanted in zip(self.instances, data, expected, strict=True):
            for (at, bits), name in zip(one.inputs, one.case.fed, strict=True):
                stream = f"{one.name}_in{at}_V"
                inputs[stream] = _words(one.case.node, at, bits, np.stack([frame[name] for frame in case]))
                stalls[stream] = Stalls.random(seed + len(stalls), share)
            stream = f"{one.name}_out0_V"
            outputs[stream] = frames * int(np.prod(one.case.node.get_folded_output_shape()[:-1]))
            if one.case.stalled:
                stalls[stream] = Stalls.random(seed + len(stalls), share)
            if np.unique(wanted.reshape(outputs[stream], -1), axis=0).shape[0] == 1:
                constant.append(stream)
        result = self.simulator.run(
            inputs,
            outputs,
            stalls=stalls if share else None,
            surplus=list(outputs),
            constant=constant,
            limit=2_000_000,
        )
        found = [
            self._values(one, result.streams[f"{one.name}_out0_V"].words, frames) for one in self.instances
        ]
        return found, expected, [self._cycles(one, result, frames) for one in self.instances]

    @staticmethod
    def _cycles(one, result, frames):
        """Return the cycle in which the last beat of a case's first frame moved, in or out."""
        streams = [f"{one.name}_out0_V", *(f"{one.name}_in{at}_V" for at, _ in one.inputs)]
        return max(result.streams[stream].frames(frames)[0][1] for stream in streams) + 1

    @staticmethod
    def _values(one, words, frames):
        node = one.case.node
        kind = node.get_output_datatype(0)
        lanes = int(node.get_folded_output_shape()[-1])
        values = unpack(words, kind.bitwidth(), lanes, signed(kind))
        return decode(values, kind).reshape(frames, *node.get_normal_output_shape())


def _words(node, at, bits, frames):
    kind = node.get_input_datatype(at)
    lanes = int(node.get_folded_input_shape(at)[-1])
    return pack(encode(frames, kind).reshape(-1, lanes), kind.bitwidth(), bits)


def check(make_case, parameters, tmp_path, library):
    """Simulate the cases of some parameters: each must give what its operator gives, in the cycles that FINN expects."""
    bench = Bench([make_case(*one) for one in parameters], tmp_path / "code", library)
    found, expected, cycles = bench.run(FRAMES, seed=1)
    compare(parameters, found, expected)
    for one, instance_, took in zip(parameters, bench.instances, cycles, strict=True):
        case, estimate = instance_.case, instance_.case.node.get_exp_cycles()
        if case.tolerance is not None:
            assert estimate > 0
            assert abs(took - estimate) <= case.tolerance + case.relative * took, (one, took, estimate)
    compare(parameters, *bench.run(FRAMES, seed=2, share=SHARE)[:2])


def compare(parameters, found, expected):
    """Compare all cases and name those that differ."""
    wrong = [
        one
        for one, given, wanted in zip(parameters, found, expected, strict=True)
        if not np.array_equal(given.reshape(wanted.shape), wanted)
    ]
    assert not wrong


def some(grid, count=8):
    """Return a few cases from all over a grid."""
    return grid[:: max(1, len(grid) // count)]


def batches(grid, size=SIZE):
    """Return a grid in parts that are simulated together, for `parametrize`."""
    return [
        pytest.param(grid[at : at + size], id=f"{at}-{min(at + size, len(grid)) - 1}")
        for at in range(0, len(grid), size)
    ]
