"""The page about the tape is true: its code runs, and it names every function."""

import re
import types
from pathlib import Path

from brainsmith.ops import CustomLayer, Tensor
from brainsmith.ops import functional as F

PAGE = (Path(__file__).parents[2] / "docs" / "tape.md").read_text()


def test_its_code_runs(capsys):
    program = "\n".join(re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))
    names = {"__name__": "page"}
    exec(compile(program, "docs/tape.md", "exec"), names)
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == (
        "operation 'round' has no gradient: its derivative is zero almost everywhere; to stop the gradient before it, "
        "give it x.detach()"
    )
    assert float(printed[1].removeprefix("accuracy ")) > 0.95
    assert names["network"].list_parameters() == [
        "layers.0.weight",
        "layers.0.bias",
        "layers.1.weight",
        "layers.1.bias",
    ]


def test_it_names_every_function_and_every_method():
    functions = {
        name
        for name, value in vars(F).items()
        if isinstance(value, types.FunctionType)
        and value.__module__.startswith("brainsmith.autodiff.functional")
    }
    methods = {name for kind in (Tensor, CustomLayer) for name in dir(kind) if name[0] != "_"}
    inner = {"tracked", "changed", "position", "is_tape_tensor", "apply", "realize"}
    assert (functions | methods) - inner - set(re.findall(r"\w+", PAGE)) == set()
