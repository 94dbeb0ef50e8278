"""Printing: columns, cutting and styles, with and without a terminal."""

import io

import pytest

from brainsmith.cli import terminal as module
from brainsmith.cli.terminal import Terminal, complain
from brainsmith.errors import OutputError

ROWS = [("kernel", "", "MVAU"), ("transform", "", "Streamline, and a long text behind it")]
HEADING = ("type", "stage", "name")


class Screen(io.StringIO):
    """A stream that says it is a terminal; its width is what a terminal without a size has, 80."""

    encoding = "utf-8"

    def isatty(self):
        return True

    def fileno(self):
        raise OSError("it has none")


@pytest.fixture
def screen(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    return Terminal(Screen())


def shown(terminal):
    return terminal._stream.getvalue()


def test_a_table_on_a_terminal(screen):
    screen.width = 30
    screen.table(HEADING, ROWS)
    assert shown(screen) == (
        "TYPE       NAME\n"
        "kernel     MVAU\n"
        "transform  Streamline, and a …\n"
    )  # fmt: skip


def test_a_table_in_a_file_is_whole_and_has_every_column():
    terminal = Terminal(io.StringIO())
    terminal.table(HEADING, ROWS)
    terminal.table(HEADING, [])
    assert shown(terminal) == "kernel\t\tMVAU\ntransform\t\tStreamline, and a long text behind it\n"


def test_a_table_without_rows_has_a_heading_on_a_terminal(screen):
    screen.table(HEADING, [])
    assert shown(screen) == "\n"


def test_pairs_are_aligned_line_by_line():
    terminal = Terminal(io.StringIO())
    terminal.pairs([("a", "one\ntwo"), ("long name", ""), ("b", "three")], "  ")
    assert shown(terminal) == "  a          one\n             two\n  long name\n  b          three\n"


def test_styles_only_where_colour_is_wanted(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured = Terminal(Screen())
    assert coloured.style("x", "bold") == "\x1b[1mx\x1b[0m"
    assert coloured.style("", "bold") == ""
    assert Terminal(io.StringIO()).style("x", "bold") == "x"


def test_a_line_that_is_replaced_needs_a_cursor(screen, monkeypatch):
    screen.write_over("working ...")
    assert shown(screen) == ""
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "xterm")
    moving = Terminal(Screen())
    moving.write_over("working ...")
    assert shown(moving) == "\r\x1b[Kworking ..."


def test_without_a_stream_nothing_is_printed(monkeypatch):
    monkeypatch.setattr("sys.stdout", None)
    terminal = Terminal()
    terminal.write("x")
    terminal.table(HEADING, ROWS)
    terminal.flush()
    assert (terminal.is_terminal, terminal.colour) == (False, False)


def test_an_error_stream_that_is_gone_is_ignored(monkeypatch):
    monkeypatch.setattr("sys.stderr", None)
    complain("x")
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr("sys.stderr", closed)
    complain("x")


def test_an_output_that_fails_is_an_error():
    class Full(io.StringIO):
        def write(self, text):
            raise OSError(28, "No space left on device")

    with pytest.raises(OutputError) as caught:
        Terminal(Full()).write("x")
    assert str(caught.value) == "the output cannot be written: No space left on device"


@pytest.mark.parametrize(("columns", "width"), [(3, 20), (0, 80), (132, 132)])
def test_the_width_is_never_too_small(monkeypatch, columns, width):
    monkeypatch.setattr(module.os, "get_terminal_size", lambda _: module.os.terminal_size((columns, 1)))

    class Narrow(Screen):
        def fileno(self):
            return 1

    assert Terminal(Narrow()).width == width


def test_what_would_do_something_to_a_terminal_is_written_out(monkeypatch, capsys):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    hostile = "a\x1b]0;owned\x07\x1b[2J\r\x9b1A\u202e\tb\nü"
    harmless = "a\\x1b]0;owned\\x07\\x1b[2J\\r\\x9b1A\\u202e\tb\nü"
    coloured = Terminal(Screen())
    coloured.write(coloured.style(hostile, "red"))
    assert shown(coloured) == f"\x1b[31m{harmless}\x1b[0m\n"
    plain = Terminal(io.StringIO())
    plain.table(HEADING, [("kernel", hostile.replace("\n", ""))])
    assert shown(plain) == "kernel\t" + harmless.replace("\n", "").replace("\\r", " ") + "\n"
    coloured.write_over("\x1b[2J")
    assert shown(coloured).endswith("\r\x1b[K\\x1b[2J")
    complain(f"error: {hostile}")
    assert capsys.readouterr().err == f"error: {harmless}\n"
