"""What a process keeps of a plugin that it loads anew again and again.

A real process saves two modules of a plugin folder by a rename, as editors do, and calls the plugin, which is
another one each time.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import ROOT, compile_package, environment, row

TIMES = 10_000
"""The first tenth of these fills caches that fill once."""

GROWTH = 16.0
"""Mebibytes that may be kept after all others; of objects one may stay of nine reloads."""

RELOADING = """\
import gc, json, os, sys, time
from pathlib import Path
from brainsmith.plugin.manager import get_plugin_manager
from brainsmith.plugins import steps
times, registry, found = int(sys.argv[1]), get_plugin_manager().registry, []
source = (
    "from brainsmith import step\\nfrom .beside import NUMBER\\n\\n\\n"
    "@step\\ndef keep(model, cfg):\\n    return NUMBER, {0}\\n"
)
begin = time.perf_counter()
for number in range(times):
    for name, text in (("beside", f"NUMBER = {number}\\n"), ("keep", source.format(number))):
        path = Path("plugins") / f"{name}.py"
        path.with_suffix(".new").write_text(text)
        os.replace(path.with_suffix(".new"), path)
    registry.records("step", "project")
    assert steps.keep(None, None) == (number, number)
    if (number + 1) % (times // 10) == 0:
        gc.collect()
        resident = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        found.append((resident, len(gc.get_objects())))
seconds = (time.perf_counter() - begin) / times
print(json.dumps([found[-1][0] - found[0][0], found[-1][1] - found[0][1], seconds]))
"""


def reloads() -> None:
    """Load a plugin anew, and print by how much the process grew after the first tenth."""
    compile_package()
    with tempfile.TemporaryDirectory(prefix="brainsmith-bench-") as name:
        folder = Path(name)
        (folder / ".brainsmith").mkdir()
        (folder / "plugins").mkdir()
        env = environment(folder / "cache", PYTHONPATH=str(ROOT))
        command = [sys.executable, "-c", RELOADING, str(TIMES)]
        done = subprocess.run(command, cwd=folder, env=env, check=True, stdout=subprocess.PIPE, text=True)
        grown, objects, seconds = json.loads(done.stdout)
    row(
        f"{TIMES:,} reloads of a plugin ({seconds * 1e3:.1f} ms each): memory",
        f"{grown / 2**20:+.1f} MiB, {objects:+d}",
        f"{GROWTH:.0f} MiB, {TIMES // 10}",
        reached=grown < GROWTH * 2**20 and objects < TIMES // 10,
    )
