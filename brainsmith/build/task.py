"""What one build is asked to do: pipeline, target and golden data, from the blueprint and the arguments."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.blueprint.outputs import OUTPUTS, wrong_output
from brainsmith.blueprint.stated import stated
from brainsmith.build.keys import framework_versions, plugin_places
from brainsmith.build.shared_results import SharedResults, shared_results
from brainsmith.build.step_list import arranged, steps_from, steps_of
from brainsmith.errors import BuildError
from brainsmith.plugin.plugin_needs import VersionLimits

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from brainsmith.blueprint.build_step import BuildStep
    from brainsmith.blueprint.composition.overrides import Overrides
    from brainsmith.blueprint.loader import Paths
    from brainsmith.blueprint.schema import Blueprint, Goal, InputDatatypes, Verify
    from brainsmith.blueprint.selection import Selection
    from brainsmith.plugin.info import PluginInfo
    from brainsmith.plugin.plugin_registry import Registry
    from brainsmith.rtl.devices.device import FpgaDevice
    from brainsmith.rtl.fitting.fit import Fit


_COMPARED = ("reference", "numpy", "onnxruntime")
_CIRCUIT = "rtlsim"


@dataclass(frozen=True)
class BuildArguments:
    """The arguments of `build` that say what to do."""

    blueprint: Paths | Blueprint | None = None
    overrides: Overrides = ()
    steps: list[Any] | None = None
    verify_inputs: Any = None
    verify_labels: Any = None
    verify_expected: Any = None
    produce: str | None = None
    strict: bool | None = None
    part: str | None = None
    input_datatype: Any = None
    fit: str | None = None
    locked: bool = False


@dataclass(frozen=True)
class BuildTask:
    """What a build does.

    Attributes:
        steps: The pipeline.
        output: How far it goes: one of `outputs.OUTPUTS`.
        config: Fields of the steps' config.
        inputs: Which integers the model's inputs are made of.
        device: What the target's part holds; None if there is no part.
        golden: Inputs, labels, expected outputs and a float model's outputs: a path, an array or None each.
        verify: What the blueprint says of verification: tolerances, and the steps that are excepted.
        strict: Whether a build that is not proven in full ends as one that failed.
        frameworks: As `framework_versions` gave them to the lock; nothing where no lock asked.
        description: The blueprint, as the report names it.
        registry: Where plugins are.
        limits: What is asked of their versions.
        cache_folder: Where the build cache is.
        folders: Where plugins are that belong to no framework: the project's, and installed packages'.
        shared: Where results of other machines are; None where no cache is shared.
        targets: On which the model is compared for the report, the one to compare with first.
        targets_named: Whether the blueprint names them.
        warnings: Optional plugins that are absent, and plugin files that cannot be used.
    """

    steps: tuple[BuildStep, ...]
    output: str
    config: dict[str, Any]
    inputs: InputDatatypes
    device: FpgaDevice | None
    golden: tuple[Any, Any, Any, Any]
    verify: Verify
    description: dict[str, Any]
    registry: Registry
    cache_folder: Path
    limits: VersionLimits = field(default_factory=VersionLimits)
    folders: tuple[Path, ...] = ()
    shared: SharedResults | None = None
    targets: tuple[PluginInfo, ...] = ()
    targets_named: bool = False
    strict: bool = False
    warnings: tuple[str, ...] = ()
    frameworks: Mapping[str, str] = field(default_factory=dict)


def task_of(arguments: BuildArguments) -> BuildTask:
    """Read the blueprint, look its plugins up, and put the arguments in place of what it says.

    Args:
        arguments: Those of `build`.

    Raises:
        BlueprintError: All that is wrong with the blueprint.
        BuildError: `produce` names no output; `input_datatype` is no datatype of integers; the steps given cannot run in
            their order.
    """
    _check_output(arguments.produce)
    from brainsmith.plugin import get_plugin_manager
    from brainsmith.settings import load_settings

    # Resolved among all plugins, whatever the discovery mode: the blueprint decides what may be loaded.
    manager = get_plugin_manager()
    registry, _ = manager.all_records()
    if arguments.steps is None:
        blueprint, chosen = _resolved(arguments, registry)
        steps, output = steps_of(chosen), chosen.output
    else:
        steps, output = arranged(steps_from(arguments.steps, registry), arguments.produce, registry)
        blueprint, chosen = _resolved(arguments, registry, [step.name for step in steps])
    frameworks = framework_versions() if arguments.locked else {}
    lock = _held_to_lock(arguments, chosen, registry, frameworks) if arguments.locked else None
    if arguments.part is not None:
        from brainsmith.rtl.devices.device import part_of

        blueprint = replace(blueprint, goal=replace(blueprint.goal, part=part_of(arguments.part), device={}))
    if arguments.fit is not None:
        blueprint = replace(blueprint, goal=_fitted(blueprint.goal, arguments.fit))
    if arguments.input_datatype is not None:
        from brainsmith.blueprint.input_datatypes import stated_inputs

        blueprint = replace(blueprint, inputs=stated_inputs(arguments.input_datatype))
    targets = _targets(chosen, registry, output)
    settings = load_settings()
    if settings.discovery_mode == "blueprint":
        manager.use_blueprint(blueprint.file, (*chosen.records, *targets, *_chosen_device(registry)))
    _refuse_other_inputs(arguments, blueprint)
    return BuildTask(
        steps=steps,
        output=output,
        config=_config(blueprint, chosen),
        inputs=blueprint.inputs,
        device=_device(blueprint),
        golden=_golden(arguments, blueprint),
        verify=blueprint.verify,
        description=_description(blueprint, output) | ({"lock": lock} if lock else {}),
        registry=registry,
        limits=chosen.limits,
        cache_folder=Path(settings.cache_dir) / "builds",
        folders=(folders := plugin_places(settings, registry)),
        shared=shared_results(settings, folders),
        targets=targets,
        targets_named=chosen.targets is not None,
        strict=blueprint.strict if arguments.strict is None else arguments.strict,
        warnings=(*chosen.skipped, *map(str, registry.limits.problems)),
        frameworks=frameworks,
    )


def _held_to_lock(
    arguments: BuildArguments, chosen: Selection, registry: Registry, frameworks: Mapping[str, str]
) -> str:
    """Refuse what is not in the blueprint's lock; return the lock's file."""
    from brainsmith.blueprint.loader import paths_of
    from brainsmith.blueprint.schema import Blueprint
    from brainsmith.build.blueprint_lock import hold_to_lock, lock_file

    given = arguments.blueprint or []
    file = lock_file([given.file] if isinstance(given, Blueprint) else paths_of(given))
    hold_to_lock(file, chosen, registry, frameworks)
    return str(file)


def _check_output(output: object) -> None:
    if output is None or output in OUTPUTS:
        return
    from brainsmith.close_names import did_you_mean

    hint = did_you_mean(output, OUTPUTS) if isinstance(output, str) else ""
    raise BuildError(wrong_output("produce", repr(output), hint))


def _resolved(
    arguments: BuildArguments, registry: Registry, steps: Collection[str] | None = None
) -> tuple[Blueprint, Selection]:
    """Read and resolve the blueprint; without one, the default steps, or nothing where steps are given."""
    from brainsmith.blueprint.schema import NO_FILE, Blueprint
    from brainsmith.blueprint.selection import Selection

    blueprint = [] if arguments.blueprint is None else arguments.blueprint
    # Steps in place of the blueprint's are also in place of how far those go.
    output = arguments.produce if arguments.steps is None else OUTPUTS[0]
    if not blueprint and not arguments.overrides:
        blueprint = Blueprint(NO_FILE)
        if arguments.steps is not None:
            return blueprint, Selection()
    from brainsmith.blueprint.resolve import check_blueprint

    return check_blueprint(blueprint, registry, overrides=arguments.overrides, output=output, steps=steps)


def _config(blueprint: Blueprint, chosen: Selection) -> dict[str, Any]:
    goal = blueprint.goal
    config: dict[str, Any] = {"fpga_part": goal.part, "target_fps": goal.fps, "fit": _fit(blueprint)}
    if goal.clock_ns is not None:
        config["synth_clk_period_ns"] = goal.clock_ns
    config["kernel_preferences"] = {
        use.record.qualified: tuple(backend.qualified for backend in use.backends) for use in chosen.kernels
    }
    config["approximate"] = {name: each.error for name, each in blueprint.verify.approximate.items()}
    return config


def _fitted(goal: Goal, name: str) -> Goal:
    """Return a goal that fits a part, or that of a board, in place of its own; a rate that it states must be reached."""
    from brainsmith.blueprint.schema import FitGoal
    from brainsmith.rtl.devices.device import part_of

    fit = goal.fit or FitGoal(fps=goal.fps)
    return replace(goal, part=part_of(name), device={}, fps=None, fit=fit)


def _fit(blueprint: Blueprint) -> Fit | None:
    """Return what the foldings are chosen for; None if they are not.

    Raises:
        BuildError: There is no part to fit.
    """
    wanted, device = blueprint.goal.fit, _device(blueprint)
    if wanted is None:
        return None
    if device is None:
        raise BuildError(
            f"{wanted.position}: target.fit needs a device to fit: add target.part, such as pynq-z2, or give --part"
        )
    from brainsmith.rtl.fitting.fit import USE, Fit

    return Fit(device, USE if wanted.use is None else wanted.use, wanted.goal, wanted.fps)


def _device(blueprint: Blueprint) -> FpgaDevice | None:
    """Return the device that the blueprint's part names or that the blueprint declares; None if it names no part.

    Raises:
        BuildError: A blueprint made in Python names one that is not known.
    """
    part, declared = blueprint.goal.part, blueprint.goal.device
    if part is None:
        return None
    from brainsmith.rtl.devices.device import FpgaDevice, device_name, require_device

    return FpgaDevice(device_name(part), **declared, declared=True) if declared else require_device(part)


def _golden(arguments: BuildArguments, blueprint: Blueprint) -> tuple[Any, Any, Any, Any]:
    """Take the arguments' golden data; where they give inputs, what the blueprint has is of others."""
    given = (arguments.verify_inputs, arguments.verify_labels, arguments.verify_expected)
    if arguments.verify_inputs is not None:
        return (*given, None)
    verify = blueprint.verify
    written = (verify.inputs, verify.labels, verify.expected)
    inputs, labels, expected = (w if g is None else g for g, w in zip(given, written, strict=True))
    return inputs, labels, expected, verify.float_outputs


def _refuse_other_inputs(arguments: BuildArguments, blueprint: Blueprint) -> None:
    """Refuse golden inputs where the blueprint states what steps make of its own.

    Raises:
        BuildError: It states outputs for its own golden inputs, and others were given.
    """
    verify = blueprint.verify
    if verify.changes_outputs and verify.inputs is not None and arguments.verify_inputs is not None:
        raise BuildError(
            f"verify.changes_outputs in {blueprint.file} states outputs for the blueprint's own inputs, and others were "
            "given: leave verify.inputs out of the blueprint, or give no others"
        )


def _targets(chosen: Selection, registry: Registry, output: str) -> tuple[PluginInfo, ...]:
    """Return the targets that the blueprint names, or else those that every build is compared on."""
    if chosen.targets is not None:
        return chosen.targets
    simulated = OUTPUTS.index(output) >= OUTPUTS.index("simulated")
    names = (*_COMPARED, _CIRCUIT) if simulated else _COMPARED
    return tuple(registry.resolve("target", f"brainsmith:{name}") for name in names)


def _chosen_device(registry: Registry) -> list[PluginInfo]:
    """Return the targets that the chosen device may mean: whoever runs a build names it, not the blueprint."""
    from brainsmith.runtime.default import RUNTIME

    name, _, number = RUNTIME.manager.config.device.rpartition(":")
    name = name if number.isdecimal() and name else RUNTIME.manager.config.device
    return [
        info
        for info in registry.records()
        if info.type == "target" and name in (info.name, info.qualified, *info.device_types)
    ]


def _description(blueprint: Blueprint, output: str) -> dict[str, Any]:
    goal = blueprint.goal
    fps = goal.fps if goal.fit is None else goal.fit.fps
    return {
        "file": blueprint.file,
        "files": list(blueprint.sources),
        "overrides": list(blueprint.overrides),
        "target": {"part": goal.part, "clock_ns": goal.clock_ns, "fps": fps},
        "output": output,
        "stated": stated(blueprint),
    }
