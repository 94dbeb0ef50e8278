"""A design that is read for drawing: blocks, memories and wires, nothing that can break it."""

import pytest

from brainsmith.rtl.drawing.block_plan import read_plan

from .plans import MLP, layer, link


def test_blocks_are_in_the_order_of_the_data_and_memories_are_blocks():
    plan = read_plan(MLP)
    assert plan.top == "finn_design"
    assert [block.name for block in plan.blocks] == [
        "s_axis_0",
        "Thresholding_rtl_0",
        "StreamingDataWidthConverter_rtl_0",
        "MVAU_rtl_0_memstream_wrapper",
        "MVAU_rtl_0",
        "m_axis_0",
    ]
    assert [block.is_port for block in plan.blocks] == [True, False, False, False, False, True]
    assert [block.is_memory for block in plan.blocks] == [False, False, False, True, False, False]
    assert [block.cycles for block in plan.blocks] == [None, 64, None, None, 512, None]
    assert plan.busiest == 512
    assert plan.inputs == 1
    assert [(wire.source, wire.target) for wire in plan.wires] == [(0, 1), (1, 2), (2, 4), (3, 4), (4, 5)]
    memory = plan.wires[3]
    assert memory.sentence == "MVAU_rtl_0_memstream_wrapper.m_axis_0 to MVAU_rtl_0.in1_V, 24 bit, no FIFO"
    assert plan.lost == 0


def test_a_wire_says_what_it_is():
    wire = read_plan(MLP).wires[2]
    assert wire.label == "1,024 bit, FIFO 1,200"
    assert wire.sentence == (
        "StreamingDataWidthConverter_rtl_0.out0_V to MVAU_rtl_0.in0_V, 1,024 bit, t, FIFO of 1,200 beats"
    )


def test_links_of_absent_layers_are_counted():
    plan = read_plan(
        {"layers": [layer("a")], "links": [link("a.out0_V", "b.in0_V"), link("c.out", "a.in0_V")]}
    )
    assert (plan.wires, plan.lost) == ((), 2)


@pytest.mark.parametrize("value", [None, 1, "text", [], [None], {}, {"layers": 3}, {"links": [[]]}])
def test_what_is_no_design_is_an_empty_plan(value):
    plan = read_plan(value)
    assert (plan.blocks, plan.wires) == ((), ())
    assert read_plan({key: [value] for key in ("layers", "links", "inputs", "outputs")}) is not None
