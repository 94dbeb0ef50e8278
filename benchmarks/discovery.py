"""Print how fast plugins are found, beside a bare interpreter, stevedore, and importing everything.

python benchmarks/discovery.py
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from measure import ROOT, compile_package, empty_cache, environment, in_turn, row

PYTHON = sys.executable
BRAINSMITH = str(Path(sys.executable).with_name("brainsmith"))
BLUEPRINT = str(ROOT / "blueprints" / "digits_mlp.yaml")

COLD = """
import sys, time
begin = time.perf_counter()
import stevedore
from brainsmith.plugin import get_plugin_manager
import brainsmith.plugin.discovery, brainsmith.plugin.adapters.entry_points, brainsmith.plugin.adapters.finn
import brainsmith.plugin.adapters.qonnx, brainsmith.plugin.adapters.project, brainsmith.plugin.adapters.brainsmith
manager = get_plugin_manager()
start = time.perf_counter()
found = manager.discover_plugins(modes=["full"])
end = time.perf_counter()
print((end - start) * 1e3, (end - begin) * 1e3, len(found))
"""

FLOOR = """
import time
from brainsmith.store.files import read_bytes
from brainsmith.plugin.package_files import package_folders
from brainsmith.plugin.source_files import list_sources
folders = [(package_folders(name)[0], name) for name in ("qonnx", "finn")]
best = 1e9
for _ in range(5):
    start = time.perf_counter()
    for folder, name in folders:
        for file in list_sources(folder, name).files:
            data = read_bytes(file.path)
            position = data.find(b"\\nclass ")
            while position >= 0:
                position = data.find(b"\\nclass ", position + 7)
    best = min(best, time.perf_counter() - start)
print(best * 1e3)
"""

EDIT = """
import os, statistics, sys, time
from brainsmith.plugin import get_plugin_manager
from brainsmith.plugins import steps

TEXT = "from brainsmith.plugin.core import step\\n\\n\\n@step\\ndef {name}(model, cfg):\\n    return model\\n"
os.makedirs(".brainsmith", exist_ok=True)
os.makedirs("plugins", exist_ok=True)
FRAMEWORK_FILE = sys.argv[1]

def write(path, name):
    with open(path, "w") as file:
        file.write(TEXT.format(name=name))

def timed(into, function):
    start = time.process_time()  # others on this machine cost what takes longer more than its share
    function()
    into.append((time.process_time() - start) * 1e3)

manager = get_plugin_manager()
full = lambda: manager.discover_plugins(modes=["full"])
write("plugins/edited.py", "step_first")
write("plugins/looked_up.py", "step_looked_up")
steps.step_looked_up  # its import makes plugins/__pycache__: the folder must not change while discoveries are timed
full()
time.sleep(0.1)
took = {name: [] for name in ("hit", "edit", "framework", "add", "remove", "look-up")}
text = open(FRAMEWORK_FILE).read()
for number in range(60):
    timed(took["hit"], full)
    assert manager.stats.last_source == "memory", manager.stats.last_source
    write("plugins/edited.py", f"step_{number}")
    timed(took["edit"], full)
    assert manager.stats.last_source == "update", manager.stats.last_source
    write("plugins/added.py", f"step_more_{number}")
    timed(took["add"], full)
    os.unlink("plugins/added.py")
    timed(took["remove"], full)
    with open(FRAMEWORK_FILE, "w") as file:
        file.write(text + "\\n# edited\\n" * number)
    timed(took["framework"], full)
    assert manager.stats.last_source == "update", manager.stats.last_source
    timed(took["look-up"], lambda: [steps.step_looked_up for _ in range(1000)])
print(*(value for times in took.values() for value in (min(times), statistics.median(times))))
"""

CACHED = "from brainsmith.plugin import get_plugin_manager as get; get().discover_plugins(modes=['full'])"
NAMED = f"from brainsmith.plugin import load_blueprint_plugins as load; load({BLUEPRINT!r})"

EVERYTHING = """
import importlib, time
start = time.perf_counter()
from brainsmith.plugin import get_plugin_manager
from brainsmith.errors import PluginLoadError
failed = 0
for info in get_plugin_manager().discover_plugins(modes=["full"]):
    try:
        info.load()
    except PluginLoadError:
        failed += 1
print((time.perf_counter() - start) * 1e3, failed)
"""

STEVEDORE = """
import time
from stevedore import ExtensionManager
start = time.perf_counter()
manager = ExtensionManager("benchmark.plugins", on_load_failure_callback=None)
print((time.perf_counter() - start) * 1e3, len(manager.extensions))
"""


def printed(program: str, env: dict[str, str], cwd: Path, *arguments: str) -> list[float]:
    """Run a program in a fresh interpreter in a folder and return the numbers that it prints."""
    command = [PYTHON, "-c", program, *arguments]
    done = subprocess.run(command, env=env, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return [float(word) for word in done.stdout.splitlines()[-1].split()]


def cold(runs: int = 9) -> tuple[float, float, int]:
    """Return the fastest discovery with no cache of any kind: milliseconds without and with imports, and the count."""
    times = []
    for _ in range(runs):
        with empty_cache() as cache:
            times.append(printed(COLD, environment(cache), cache))
    without, with_imports, count = min(times)
    return without, with_imports, int(count)


def edited(env: dict[str, str], folder: Path) -> dict[str, tuple[float, float]]:
    """Edit files in turn; return the fastest and the median discovery after each kind of edit, in milliseconds.

    The framework is a copy of FINN, so that one of its files can be edited.
    """
    places = find_spec("finn")
    assert places is not None
    assert places.submodule_search_locations is not None
    copy = folder / "copied" / "finn"
    shutil.copytree(places.submodule_search_locations[0], copy)
    file = next(path for path in sorted(copy.rglob("*.py")) if b"Transformation):" in path.read_bytes())
    figures = printed(EDIT, {**env, "PYTHONPATH": str(copy.parent)}, folder, str(file))
    names = ("hit", "edit", "framework", "add", "remove", "look-up")
    return dict(zip(names, zip(figures[::2], figures[1::2], strict=True), strict=True))


def rows_of_edits(edits: dict[str, tuple[float, float]]) -> None:
    """Print what a discovery takes after each kind of edit, beside one that finds nothing changed."""
    best, median = edits["hit"]
    print("processor time of discoveries in one process:")
    row("cache hit in process, all files validated", f"{best:.2f} ms", "1 ms", reached=best < 1)
    for name, what in (
        ("edit", "after an edited plugin file"),
        ("add", "after an added one"),
        ("remove", "after a removed one"),
        ("framework", "after an edited file of a framework"),
    ):
        ratio = edits[name][1] / median
        found = f"{edits[name][1]:.2f} ms = {ratio:.2f} x"
        row(f"{what}, over a hit (medians of 60, in turn)", found, "2 x", reached=ratio <= 2)
    print(f"    a look-up, the mean of a thousand: {edits['look-up'][0]:.2f} us")


def generated_plugins(folder: Path, count: int = 300) -> None:
    """Write an installed distribution with many entry points, each a small module of its own."""
    package = folder / "generated_plugins"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    lines = ["[benchmark.plugins]"]
    for index in range(count):
        (package / f"plugin_{index}.py").write_text(f"class Plugin{index}:\n    value = {index}\n")
        lines.append(f"plugin_{index} = generated_plugins.plugin_{index}:Plugin{index}")
    info = folder / "generated_plugins-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: generated-plugins\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")


def main() -> None:
    """Measure and print everything."""
    compile_package()
    without, with_imports, count = cold()
    with empty_cache() as cache:
        env = environment(cache)
        floor = printed(FLOOR, env, cache)[0]
        commands = {
            "bare": [PYTHON, "-c", "pass"],
            "cached": [PYTHON, "-c", CACHED],
            "blueprint": [PYTHON, "-c", NAMED],
            "list": [BRAINSMITH, "plugins", "list"],
        }
        figures = in_turn(commands, env, 15, cache)
        edits = edited(env, cache)
        everything, failed = printed(EVERYTHING, env, cache)
        generated_plugins(cache / "site")
        with_stevedore = printed(STEVEDORE, {**env, "PYTHONPATH": str(cache / "site")}, cache)
    bare, cached, named, listing = (figures[name] for name in commands)
    print(
        f"{count} plugins; bare interpreter {bare.best_ms:.1f} ms (fastest of {len(bare.seconds)}, in turn)"
    )
    print(f"  full discovery, no cache of any kind (imports before the timer): {without:.1f} ms")
    print(
        f"    the floor, listing, reading and searching the bytes: {floor:.1f} ms; imports included: {with_imports:.1f} ms"
    )
    ratio = cached.best_ms / bare.best_ms
    row(
        "the same from the disk cache, whole process, over a bare one",
        f"{ratio:.2f} x",
        "2 x",
        reached=ratio <= 2,
    )
    more = named.best_ms - cached.best_ms
    row("blueprint mode, whole process, more than that", f"{more:.1f} ms", "5 ms", reached=more <= 5)
    rows_of_edits(edits)
    ratio = listing.best_ms / bare.best_ms
    row(
        "brainsmith plugins list, whole process, over a bare one", f"{ratio:.2f} x", "3 x", reached=ratio <= 3
    )
    row(
        "brainsmith plugins list, peak memory",
        f"{listing.median_mb:.1f} MB",
        "25 MB",
        reached=listing.median_mb <= 25,
    )
    print("for comparison, in fresh processes:")
    print(f"  importing all {count} plugins ({failed:.0f} cannot be): {everything:.0f} ms")
    print(
        f"  stevedore's ExtensionManager over {with_stevedore[1]:.0f} generated plugins: {with_stevedore[0]:.0f} ms"
    )


if __name__ == "__main__":
    main()
