"""What ports are for, by their names."""

import pytest

from brainsmith.errors import RtlSourceError
from brainsmith.rtl.importing.module_reader import ModuleInterface, ModulePort
from brainsmith.rtl.importing.port_roles import CONVENTIONS, PortStream, place_ports


def module(*ports):
    """Return a module; `<` is an input, `>` an output, and a number behind the name its bits."""
    made = []
    for text in ports:
        name, _, bits = text[1:].partition(" ")
        made.append(ModulePort(name, text[0] == "<", int(bits or 1)))
    return ModuleInterface("m", (), tuple(made))


AXI = ("<ap_clk", "<ap_rst_n", "<s_axis_tdata 16", "<s_axis_tvalid", ">s_axis_tready")


@pytest.mark.parametrize(
    ("ports", "stream"),
    [
        (
            ("<in_data 8", "<in_valid", ">in_ready"),
            PortStream("in", ("in_data", "in_valid", "in_ready"), True, 8, 1),
        ),
        ((">odat 3", ">ovld", "<ordy"), PortStream("o", ("odat", "ovld", "ordy"), False, 3, 1)),
        (
            ("<in0_V_TDATA 8", "<in0_V_TVALID", ">in0_V_TREADY"),
            PortStream("in0_V", ("in0_V_TDATA", "in0_V_TVALID", "in0_V_TREADY"), True, 8, 1),
        ),
        (
            (">d_data 12", ">d_valid 3", "<d_ready 3"),
            PortStream("d", ("d_data", "d_valid", "d_ready"), False, 4, 3),
        ),
        (("<data 8", "<valid", ">ready"), PortStream("data", ("data", "valid", "ready"), True, 8, 1)),
    ],
)
def test_streams_in_every_convention(ports, stream):
    assert place_ports(module("<clk", "<rst", *ports)).streams == (stream,)


@pytest.mark.parametrize("clock", ["clk", "ap_clk", "aclk", "clock", "ap_clk2x"])
@pytest.mark.parametrize(
    ("reset", "low"),
    [("rst", False), ("ap_rst_n", True), ("aresetn", True), ("reset", False), ("rst_n", True)],
)
def test_clocks_and_resets(clock, reset, low):
    roles = place_ports(module(f"<{clock}", f"<{reset}", "<a_data", "<a_valid", ">a_ready"))
    assert (roles.pins.clocks, roles.pins.reset, roles.pins.reset_low) == ((clock,), reset, low)


def test_axi_lite_is_tied_off_and_tlast_stays_open():
    roles = place_ports(
        module(
            *AXI,
            ">m_axis_tdata 8",
            ">m_axis_tvalid",
            "<m_axis_tready",
            ">m_axis_tlast",
            "<c_AWADDR 5",
            "<c_AWVALID",
            ">c_AWREADY",
            "<c_WDATA 32",
            ">c_RDATA 32",
            ">c_BRESP 2",
        )
    )
    assert roles.pins.held == {"c_AWADDR": 0, "c_AWVALID": 0, "c_WDATA": 0}
    assert roles.open == ("c_AWREADY", "c_RDATA", "c_BRESP", "m_axis_tlast")


def test_a_port_that_fits_nothing_is_named_with_what_to_do():
    with pytest.raises(RtlSourceError) as raised:
        place_ports(module(*AXI, "<mode 2", ">busy", "<s_axis_tlast"))
    assert str(raised.value) == (
        "these ports of module 'm' fit no convention:\n"
        "  input 'mode' of 2 bits: --tie mode=0, if that is right\n"
        "  output 'busy' of 1 bit: --open busy, if that is right\n"
        "  input 's_axis_tlast' of 1 bit: --tie s_axis_tlast=0, if that is right\n"
        f"  {CONVENTIONS}\n"
        "  give an input a constant with --tie PORT=VALUE, leave an output open with --open PORT, or rename the port"
    )
    roles = place_ports(module(*AXI, "<mode 2", ">busy"), {"mode": 3}, ("busy",))
    assert (roles.pins.held, roles.open) == ({"mode": 3}, ("busy",))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ({"nope": 0}, ()),
            "--tie: module 'm' has no port 'nope'; it has ap_clk, ap_rst_n, s_axis_tdata, s_axis_tvalid, "
            "s_axis_tready",
        ),
        (({"s_axis_tready": 0}, ()), "--tie: port 's_axis_tready' of 'm' is not an input"),
        (({}, ("ap_clk",)), "--open: port 'ap_clk' of 'm' is not an output"),
    ],
)
def test_what_is_named_must_be_there(arguments, said):
    with pytest.raises(RtlSourceError) as raised:
        place_ports(module(*AXI), *arguments)
    assert str(raised.value) == said


@pytest.mark.parametrize(
    ("ports", "what"),
    [(("<clk", "<rst"), "stream"), (("<rst", "<a_data", "<a_valid", ">a_ready"), "clock")],
)
def test_a_module_without_streams_or_clock(ports, what):
    with pytest.raises(RtlSourceError) as raised:
        place_ports(module(*ports))
    assert str(raised.value) == f"module 'm' has no {what}\n  {CONVENTIONS}"


def test_ports_that_contradict_each_other_are_no_stream():
    with pytest.raises(
        RtlSourceError, match=r"^these ports of module 'm' fit no convention:\n  input 'b_data' of 8"
    ):
        place_ports(module(*AXI, "<b_data 8", ">b_valid", "<b_ready"))


@pytest.mark.parametrize("name", ["ce", "en", "enable", "clken", "ap_ce", "clk_en", "ENA"])
def test_a_clock_enable_is_to_be_held_at_1(name):
    with pytest.raises(RtlSourceError) as raised:
        place_ports(module(*AXI, f"<{name}", "<open", "<len 4"))
    assert str(raised.value).splitlines()[1:4] == [
        f"  input {name!r} of 1 bit: --tie {name}=1, if that is right",
        "  input 'open' of 1 bit: --tie open=0, if that is right",
        "  input 'len' of 4 bits: --tie len=0, if that is right",
    ]


def test_clocks_of_two_domains_are_refused():
    ports = ("<s_clk", "<m_clk", "<rst", "<a_data", "<a_valid", ">a_ready")
    with pytest.raises(RtlSourceError) as raised:
        place_ports(module(*ports))
    assert str(raised.value) == (
        "module 'm' has the clocks s_clk, m_clk, and a layer has one clock domain\n"
        "  import a module around it that has one clock, and crosses domains inside if it must"
    )
    assert place_ports(module("<ap_clk", "<ap_clk2x", *ports[2:])).pins.clocks == ("ap_clk", "ap_clk2x")
    assert place_ports(module("<clk", "<clk_2x", *ports[2:])).pins.clocks == ("clk", "clk_2x")
