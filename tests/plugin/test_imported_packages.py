"""Which installed packages imported modules import: an upgrade of one changes what was read."""

from tests.plugin.installed import run_python

PROGRAM = """
import json, sys
from pathlib import Path

import mine
from brainsmith.plugin.imported_packages import packages_read

def install(name, module):
    folder = Path({site!r}, f"{{name}}-1.0.dist-info")
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\\nName: {{name}}\\nVersion: 1.0\\n")
    (folder / "RECORD").write_text(f"{{module}}.py,,\\n{{folder.name}}/RECORD,,\\n")

def read():
    return [str(Path(path).relative_to({site!r})) for path in packages_read(["mine", "no_such_module"]).files]

install("other", "other")
before = read()
install("acme", "acme_library")
print(json.dumps([before, read()]))
"""


def test_what_is_installed_while_a_process_runs_counts_at_once(tmp_path):
    site = tmp_path / "site-packages"
    site.mkdir()
    (site / "acme_library.py").write_text("value = 1\n")
    (tmp_path / "mine.py").write_text("def later():\n    import acme_library.part, os\n")
    found = run_python(PROGRAM.format(site=str(site)), path=[tmp_path, site])
    assert found == [[], ["acme-1.0.dist-info/RECORD"]]
