"""Files for the hub's tests: plugins, installed distributions, and fresh interpreters to look at them."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

from brainsmith.testing.installed_distribution import write_distribution

ROOT = Path(__file__).parents[2]

TRANSFORM = """\
from qonnx.transformation.base import Transformation

from brainsmith.plugin.core import transform


@transform({arguments})
class {name}(Transformation):
    \"\"\"Change nothing.\"\"\"

    def apply(self, model):
        return model, False
"""

STEP = """\
from brainsmith.plugin.core import step


@step
def {name}(model, cfg):
    return {result!r}
"""


def transform_file(name, arguments='stage="tidy"'):
    """Return the source of a file with one transform."""
    return TRANSFORM.format(name=name, arguments=arguments)


def step_file(name, result=None):
    """Return the source of a file with one step, which needs no framework to be imported."""
    return STEP.format(name=name, result=result)


class Site:
    """A folder in which files and distributions are put."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def __truediv__(self, name):
        return self.folder / name

    def __str__(self):
        return str(self.folder)

    def write(self, path, text):
        """Write a file with an old time, so that a discovery trusts what it read; return its path."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else textwrap.dedent(text).encode())
        return file

    def install(self, name, version="1.0.0", entry_points=None, **files):
        """Install a distribution: its files, and the dist-info that an installer would write.

        Args:
            name: The distribution's name as its metadata gives it.
            entry_points: Values by name, in the group `brainsmith.plugins`.
            **files: Texts by path, with `__` for a slash and without `.py`.
        """
        texts = {path.replace("__", "/", 1) + ".py": text for path, text in files.items()}
        return write_distribution(self.folder, name, texts, entry_points or {}, version)


def run_python(code, *, path=(), cwd=None, timeout=60, check=True, **variables):
    """Run code in a fresh interpreter; return the JSON that it prints last (None if nothing).

    Args:
        path: Folders to put first on `sys.path`.
        cwd: Where it runs.
        timeout: Seconds after which the test fails.
        check: Whether it must end with 0; if not, the whole result is returned.
        **variables: Environment variables to set.
    """
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([*map(str, path), str(ROOT)])} | variables
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    if not check:
        return done
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1]) if done.stdout.strip() else None


def shown(records):
    """Return records as plain values, in an order of their own, to compare."""
    return sorted((info.type, info.name, info.framework, info.reference, info.origin) for info in records)
