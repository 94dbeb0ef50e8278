"""Print how fast plugins are found, beside a bare interpreter, stevedore, and importing everything.

python benchmarks/discovery.py
"""

from __future__ import annotations

import subprocess
import sys
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
from brainsmith.plugin.adapters.adapter import package_folders
from brainsmith.plugin.files import list_sources
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

HIT = """
import time
from brainsmith.plugin import get_plugin_manager
manager = get_plugin_manager()
manager.discover_plugins(modes=["full"])
best = 1e9
for _ in range(50):
    start = time.perf_counter()
    manager.discover_plugins(modes=["full"])
    best = min(best, time.perf_counter() - start)
assert manager.stats.last_source == "memory", manager.stats.last_source
print(best * 1e3)
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


def printed(program: str, env: dict[str, str], cwd: Path) -> list[float]:
    """Run a program in a fresh interpreter in a folder and return the numbers that it prints."""
    command = [PYTHON, "-c", program]
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
        hit = printed(HIT, env, cache)[0]
        everything, failed = printed(EVERYTHING, env, cache)
        generated_plugins(cache / "site")
        with_stevedore = printed(STEVEDORE, {**env, "PYTHONPATH": str(cache / "site")}, cache)
    bare, cached, named, listing = (figures[name] for name in commands)
    print(
        f"{count} plugins; bare interpreter {bare.best_ms:.1f} ms (fastest of {len(bare.seconds)}, in turn)"
    )
    row(
        "full discovery, no cache of any kind (imports before the timer)",
        f"{without:.1f} ms",
        "20 ms",
        reached=without <= 20,
    )
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
    row("cache hit in process, all files validated", f"{hit:.2f} ms", "1 ms", reached=hit < 1)
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
