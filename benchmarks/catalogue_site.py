"""What the catalogue costs: to make, in bytes, until it is seen, and for each key that is typed."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from measure import ROOT, compile_package, environment, row

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PLUGINS = 500
SECONDS, MEGABYTES, PAINT_MS, KEY_MS = 2.0, 3.0, 200, 50
RUNS = 5
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")
TYPED = ("t", "th", "thr", "thre", "thres", "thresh", "", "s", "st", "str", "stream line", "mvau rtl", "")
TYPING = """async (words) => {
  const field = document.querySelector(".finder input"), taken = [];
  for (const text of words) {
    field.value = text;
    const begin = performance.now();
    field.dispatchEvent(new Event("input"));
    document.body.offsetHeight;
    taken.push(performance.now() - begin);
    await new Promise((done) => setTimeout(done, 250));
  }
  return taken;
}"""
"""Types texts, and measures each until the page is laid out again; rows that come later are waited for in between."""


def catalogue() -> None:
    """Make the catalogue of all plugins here, and look at it in Chromium; sizes and times count for 500 plugins."""
    compile_package()
    with tempfile.TemporaryDirectory(prefix="brainsmith-bench-") as folder:
        site = Path(folder) / "site"
        first, again = _made(Path(folder), site)
        pages = sum(len(list(site.glob(f"{kind.name}/*.html"))) for kind in site.iterdir() if kind.is_dir())
        share = PLUGINS / pages
        size = sum(path.stat().st_size for path in site.rglob("*") if path.is_file()) / 1e6
        print(f"  {pages} plugins, {size:.2f} MB")
        row(
            f"made, of {PLUGINS}, caches empty",
            f"{first * share:.2f} s",
            f"{SECONDS:g} s",
            reached=first * share <= SECONDS,
        )
        row(
            f"made again, of {PLUGINS}",
            f"{again * share:.2f} s",
            f"{SECONDS:g} s",
            reached=again * share <= SECONDS,
        )
        row(
            f"size, of {PLUGINS}",
            f"{size * share:.2f} MB",
            f"{MEGABYTES:g} MB",
            reached=size * share <= MEGABYTES,
        )
        _looked_at(site)


def _made(folder: Path, site: Path) -> tuple[float, float]:
    """Return the fastest of some runs with an empty cache, and of some with what the one before kept."""
    command = [sys.executable, "-m", "brainsmith", "catalogue", "--output", str(site)]
    taken: list[list[float]] = [[], []]
    for number in range(RUNS):
        env = environment(folder / f"cache{number}", PYTHONPATH=str(ROOT))
        for times in taken:
            begin = time.perf_counter()
            subprocess.run(command, env=env, cwd=folder, stdout=subprocess.DEVNULL, check=True)
            times.append(time.perf_counter() - begin)
    return min(taken[0]), min(taken[1])


def _looked_at(site: Path) -> None:
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        print("  Chromium is missing: apt-get install chromium")
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        paints, keys = zip(*(_seen(browser, site) for _ in range(RUNS)), strict=True)
        browser.close()
    paint, key = min(paints), max(map(statistics.median, zip(*keys, strict=True)))
    row("first paint", f"{paint:.0f} ms", f"{PAINT_MS} ms", reached=paint <= PAINT_MS)
    row("the slowest key", f"{key:.0f} ms", f"{KEY_MS} ms", reached=key <= KEY_MS)


def _seen(browser: Browser, site: Path) -> tuple[float, list[float]]:
    """Return when something was seen first, and how long each text took, in milliseconds."""
    page = browser.new_page()
    page.goto((site / "index.html").as_uri())
    page.wait_for_timeout(500)
    paint: Any = page.evaluate("performance.getEntriesByType('paint')[0].startTime")
    typed: Any = page.evaluate(TYPING, list(TYPED))
    page.close()
    return float(paint), [float(one) for one in typed]
