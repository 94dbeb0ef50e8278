"""A design in parts: each layer alone, then sections of layers in which every link lies."""

from dataclasses import replace

import pytest

from brainsmith.errors import VerificationError
from brainsmith.rtl.library.sources import RtlSource
from brainsmith.rtl.simulation.simulation_plan import Memory
from brainsmith.rtl.stitching.sections import cut_out, layer_names, without_names
from brainsmith.rtl.stitching.top_module import plan_design
from brainsmith.rtl.verification.frame_time import predict
from brainsmith.rtl.verification.layers import LayerCheck, take_apart
from brainsmith.rtl.verification.parts import Parts, Section, choose_sections, verify_parts


def test_layers_that_are_cut_out_have_the_links_between_them_and_ends_for_all_others(mlp):
    names = layer_names(mlp.design)[3:5]
    section = cut_out(mlp.design, names)
    assert layer_names(section) == names
    assert {link.target.layer for link in section.links if link.weights} <= set(names)
    inside = [link for link in section.links if link.layout and link.source.layer and link.target.layer]
    assert [(link.source.layer, link.target.layer) for link in inside] == [tuple(names)]
    assert all(link in mlp.design.links for link in inside)  # with its FIFO
    assert [stream.name.rpartition("_")[2] for stream in (*section.inputs, *section.outputs)] == [
        "fed",
        "given",
    ]
    assert {source.name for source in section.sources} < {source.name for source in mlp.design.sources}
    assert section.memories
    assert all(any(memory.name.startswith(f"{name}_") for name in names) for memory in section.memories)


@pytest.mark.slow
def test_equal_layers_of_a_network_are_one_simulation(cnn):
    """What tells them apart are the names of tensors, and the contents of memories."""

    def plan(name):
        alone = take_apart(without_names(cut_out(cnn.design, [name])))
        assert name not in str(plan_design(alone).sources)
        return replace(plan_design(alone), memories=()).digest()

    names = layer_names(cnn.design)
    plans = {name: plan(name) for name in names}
    equal = [(a, b) for a in names for b in names if a < b and plans[a] == plans[b]]
    assert all(a.rpartition("_")[0] == b.rpartition("_")[0] for a, b in equal)
    layers = (replace(cnn.design.layers[0], name="A_1"), replace(cnn.design.layers[0], name="A_10"))
    two = replace(cnn.design, layers=layers, links=(), inputs=(), outputs=(), memories=())
    text = "A_1 A_10_x BA_1 A_1_y"
    two = replace(two, sources=(RtlSource("A_10.v", text),))
    (source,) = without_names(two).sources
    assert (source.name, source.text) == ("layer1.v", "layer0 layer1_x BA_1 layer0_y")


def test_every_link_between_layers_lies_in_a_section(mlp, cnn):
    for design in (mlp.design, cnn.design):
        costs = dict.fromkeys(layer_names(design), 1e-6)
        for seconds in (0, 0.01, 1e6):
            sections = choose_sections(design, costs, seconds)
            for link in design.links:
                if link.layout and link.source.layer and link.target.layer:
                    assert any({link.source.layer, link.target.layer} <= set(section) for section in sections)
        assert sections == [tuple(layer_names(design))]
        assert all(len(section) == 2 for section in choose_sections(design, costs, 0))


def test_the_time_of_a_frame_is_that_of_an_earlier_simulation_or_a_cautious_guess(mlp):
    guess = predict(mlp.design)
    assert (guess.cycles, guess.measured) == (mlp.design.latency, False)
    assert predict(mlp.design, 3_000_000, 5_000).seconds == 600
    assert str(predict(mlp.design, 3_000_000, 5_000)) == (
        "about 10 min 0 s (3,000,000 cycles, 5,000 a second, measured)"
    )


def test_what_was_simulated_is_said():
    check = LayerCheck("a", "MVAU_rtl", 1, 1200, 0, 0, 0, 0, None, share=0.25)
    assert str(check) == (
        "layer 'a' (MVAU_rtl) alone computes what the golden model computes: 1200 values of 25.00 % of 1 frame"
    )
    done = Parts(1, (check, check), (Section(("a", "b"), 1, 1, 90),), ())
    assert str(done) == (
        "each of 2 layers alone on the activations of 1 frame, 0 of 2,400 values differ; 1 section of layers as they are "
        "stitched, in which every link and FIFO between layers lies: 0 of 1 frame differ in each, and 0 with random stalls"
    )


@pytest.mark.slow
def test_parts_and_a_layer_that_is_wrong(mlp, tensors, simulations):
    few = {name: tensor[:1] for name, tensor in tensors.items()}
    done = verify_parts(mlp.design, few, 0)
    assert [check.layer for check in done.layers] == layer_names(mlp.design)
    assert all(check.right and check.cycles and check.share == 1 for check in done.layers)
    assert len(done.sections) == len(done.layers) - 1
    assert str(done).startswith("each of 8 layers alone on the activations of 1 frame, 0 of ")
    assert len(done.uncovered) == 2
    flipped = tuple(
        _flipped(one) if one.name == "MVAU_rtl_2_memblock.dat" else one for one in mlp.design.memories
    )
    wrong = replace(mlp.design, memories=flipped)
    with pytest.raises(VerificationError, match=r"layer 'MVAU_rtl_2' \(MVAU_rtl\) alone is wrong"):
        verify_parts(wrong, tensors, 0)


def _flipped(memory):
    first, _, rest = memory.text.partition("\n")
    return Memory(memory.name, f"{int(first, 16) ^ 1:0{len(first)}x}\n{rest}")


WRONG_FIFO = """
module fifo #(int unsigned DEPTH, int unsigned DATA_WIDTH) (
    input clk, input rst, input [DATA_WIDTH-1:0] idat, input ivld, output irdy,
    output [DATA_WIDTH-1:0] odat, output ovld, input ordy,
    output [$clog2(DEPTH+1):0] count, output [$clog2(DEPTH+1):0] maxcount
);
    assign odat = idat ^ 1'b1, ovld = ivld, irdy = ordy, count = 0, maxcount = 0;
endmodule
"""


@pytest.mark.slow
def test_a_fault_between_layers_is_found_by_a_section(mlp, tensors, simulations):
    """Each layer alone is right; the FIFOs between them are not."""
    sources = [replace(one, text=WRONG_FIFO) if one.name == "fifo.sv" else one for one in mlp.design.sources]
    wrong = replace(mlp.design, sources=tuple(sources))
    few = {name: tensor[:1] for name, tensor in tensors.items()}
    first, second = layer_names(mlp.design)[:2]
    text = f"^layers {first}, {second}, as they are stitched: the RTL does not compute what the golden model computes: "
    with pytest.raises(VerificationError, match=text) as caught:
        verify_parts(wrong, few, 0)
    assert "the FIFO" in str(caught.value)
