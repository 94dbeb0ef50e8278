"""`brainsmith sbom`: the bill of materials on standard output or in a file."""

import pytest

from brainsmith.build.bill_of_materials import sbom
from tests.build.test_provenance import FILES, made
from tests.cli.command import in_this_process

pytest.importorskip("cyclonedx", reason="needs cyclonedx-python-lib")


def test_the_command_prints_it_or_writes_it(elsewhere, capsys):
    bill = sbom(made(elsewhere / "out", FILES))
    done = in_this_process(capsys, "sbom", "out")
    assert (done.returncode, done.stdout) == (0, bill)
    assert in_this_process(capsys, "sbom", "out", "--output", "bill.json").stdout == "bill.json is written\n"
    assert (elsewhere / "bill.json").read_text() == bill
    done = in_this_process(capsys, "sbom", "out", "--output", "none/bill.json")
    assert (done.returncode, done.stderr) == (
        1,
        "error: none/bill.json cannot be written: No such file or directory\n",
    )
