"""Ports as Verilator states them, and the streams among them."""

from brainsmith.rtl.simulation.ports import (
    Interface,
    Port,
    Stream,
    axi_streams,
    find_interface,
    port_table,
    read_ports,
)

HEADER = """
    VL_IN8(&ap_clk,0,0);
    VL_IN8(&ap_rst_n,0,0);
    VL_OUT64(&total,39,0);
    VL_INW(&in0_V_TDATA,610,0,20);
    VL_IN8(&in0_V_TVALID,0,0);
    VL_OUT8(&in0_V_TREADY,0,0);
    VL_OUT(&m_axis___05F0_tdata,23,0);
    VL_OUT8(&m_axis___05F0_tvalid,0,0);
    VL_IN8(&m_axis___05F0_tready,0,0);
    VL_IN(&config_tdata,31,0);
"""


def test_ports_are_read_with_their_widths():
    ports = read_ports(HEADER)
    assert ports[2:4] == (Port("total", "total", 40, False), Port("in0_V_TDATA", "in0_V_TDATA", 611, True))
    assert Port("m_axis__0_tdata", "m_axis___05F0_tdata", 24, False) in ports
    assert len(ports) == 10


def test_streams_are_found_by_their_names():
    streams = (
        Stream("in0_V", "in0_V_TDATA", "in0_V_TVALID", "in0_V_TREADY"),
        Stream("m_axis__0", "m_axis__0_tdata", "m_axis__0_tvalid", "m_axis__0_tready"),
    )
    assert axi_streams(read_ports(HEADER)) == streams
    assert find_interface("x", read_ports(HEADER)) == Interface(streams)


def test_the_table_of_ports_is_what_the_driver_reads():
    assert port_table(read_ports("VL_IN8(&a,0,0); VL_OUT8(&b,0,0);")) == (
        "#define BRAINSMITH_PORT_COUNT 2\n"
        "#define BRAINSMITH_PORTS(top) \\\n    {&(top).a, sizeof((top).a)}, \\\n    {&(top).b, sizeof((top).b)},\n"
    )
