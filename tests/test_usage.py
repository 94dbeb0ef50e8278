"""Every use in the form in which it is written (docs/usage.md) runs, and the page says where each part is."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.native.building import HOME, expect_cargo

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "usage.md").read_text()
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
PROGRAMS = [name for name in SECTIONS if name not in ("Native plugins", "Where each part is")]


def blocks(section, language):
    return re.findall(rf"^```{language}\n(.*?)^```", SECTIONS[section], re.MULTILINE | re.DOTALL)


def run(command, folder, **variables):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "PATH": path, **variables}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def project(tmp_path):
    shutil.copytree(
        ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__", "target")
    )
    (tmp_path / ".brainsmith").mkdir()
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("section", PROGRAMS)
def test_each_section_is_a_program_that_runs(section, project):
    for text in blocks(section, "yaml"):
        if text.startswith("hw_compiler:"):
            (project / "production_model.yaml").write_text(text)
    run([sys.executable, "-c", "\n".join(blocks(section, "python"))], project)


@pytest.mark.slow
def test_the_blueprint_loads_with_the_configuration_beside_it(project):
    blueprint, config = blocks("The plugin system", "yaml")
    (project / "production_model.yaml").write_text(blueprint)
    (project / ".brainsmith" / "config.yaml").write_text(config)
    run(["brainsmith", "blueprint", "check", "production_model.yaml"], project)


@pytest.mark.slow
def test_a_native_plugin_is_built_and_loaded(project):
    expect_cargo()
    for command in blocks("Native plugins", "sh"):
        run(command.split(), project, HOME=HOME)
    run([sys.executable, "-c", *blocks("Native plugins", "python")], project)


def test_the_table_names_pages_and_tests_that_are_there():
    rows = [line for line in SECTIONS["Where each part is"].splitlines() if line.startswith("| ")][2:]
    assert len(rows) >= 14
    for row in rows:
        _, pages, tests = (cell.strip() for cell in row.strip("|").split("|"))
        for page, anchor in re.findall(r"\]\(([^)#]+)(?:#([^)]*))?\)", pages):
            text = (ROOT / "docs" / page).read_text()
            headings = [
                heading.lower().replace(" ", "-") for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)
            ]
            assert not anchor or anchor in headings, (page, anchor)
        named = re.findall(r"`([^`]+)`", tests)
        assert named and all((ROOT / path).exists() for path in named), row


NAMES = """
tfm.list_plugins tfm.finn.Streamline tfm.qonnx.FoldConstants BUILD_STEPS @transform @kernel @backend @step
get_registry().get( get_plugin_manager discover_plugins get_instance get_performance_stats discovery_time_ms
cache_hit_rate memory_usage_mb plugin_count set_debug_mode health_check cache_available frameworks_available
clear_cache load_blueprint_plugins reset_plugin_system QONNXAdapter FINNAdapter BrainSmithAdapter is_available
get_metadata cache_ttl discovery_mode performance_tracking BRAINSMITH_PLUGIN_CACHE_TTL BRAINSMITH_PLUGIN_MODE
BRAINSMITH_PLUGIN_DEBUG Version.parse Version.current is_compatible_with BundleBuilder max_brainsmith_version
set_initialize_fn set_cleanup_fn set_custom_operations_fn BundleRegistry unregister is_registered get_plugin
load_plugin unload_plugin get_plugin_info is_plugin_loaded CustomLayer add_parameter get_parameter list_parameters
BRAINSMITH_DYNAMIC_LOADING NotImplementedError rust_abs rust_clamp rust_gelu metadata initialize prepare_resource
execute cleanup get_capabilities auto_select ResourceManager switch_plugin get_resource_info targets.init
get_resource_manager auto_discover manager.release get_registry().discover_plugins Priority available_only
create_backend_plugin BRAINSMITH_DEVICE BRAINSMITH_VERBOSE CustomOpBuilder
register_example_custom_ops list_custom_ops is_custom_op_registered execute_custom_op unregister_custom_op swish
gelu power layer_norm mish requires_grad backward
"""
"""What the five source documents call, as they spell it."""


def test_every_name_of_the_source_documents_is_used():
    code = "\n".join(text for section in SECTIONS for text in blocks(section, "(?:python|yaml)"))
    assert [name for name in NAMES.split() if name not in code] == []


def test_no_use_is_left_out():
    assert set(SECTIONS) == {
        "The plugin system", "Bundles", "Native plugins", "Targets", "Custom operations", "Where each part is"
    }  # fmt: skip
