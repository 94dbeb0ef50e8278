"""Build: model and blueprint in, a folder with hardware layers, estimates and a report out."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.build.declared_inputs import with_input_datatypes
from brainsmith.build.early_steps import early_steps
from brainsmith.build.job import BuildJob
from brainsmith.build.model import model_name, read_for_build
from brainsmith.build.needs import require_part, require_reader, require_tools
from brainsmith.build.report import PAGE
from brainsmith.build.task import BuildArguments, BuildTask, task_of
from brainsmith.build.unsupported_layers import refuse
from brainsmith.build.workspace import Workspace
from brainsmith.errors import BlueprintError, BrainsmithError, BuildError, NotProvenError, OutputError
from brainsmith.figures import plural
from brainsmith.monitoring.current import BUILD, Current, new_build_id
from brainsmith.monitoring.work_span import WorkSpan
from brainsmith.steps.unsupported_nodes import unsupported_nodes
from brainsmith.store.computed import each_source_looked_at_once
from brainsmith.store.imported_sources import note_imports

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from qonnx.core.modelwrapper import ModelWrapper

    from brainsmith.blueprint.composition.overrides import Overrides
    from brainsmith.blueprint.loader import Paths
    from brainsmith.blueprint.schema import Blueprint
    from brainsmith.build.artifact import Artifact
    from brainsmith.build.result import BuildResult, Progress


def build(
    model: str | Path | ModelWrapper,
    blueprint: Paths | Blueprint | None = None,
    output: str | Path = "build",
    *,
    overrides: Overrides = (),
    produce: str | None = None,
    steps: list[Any] | None = None,
    verify_inputs: Any = None,
    verify_labels: Any = None,
    verify_expected: Any = None,
    verify: bool = True,
    report: bool = True,
    progress: Callable[[Progress], None] | None = None,
    explain: bool = False,
    use_cache: bool = True,
    strict: bool | None = None,
    part: str | None = None,
    input_datatype: str | Mapping[str, str] | None = None,
    fit: str | None = None,
    locked: bool = False,
) -> BuildResult:
    """Build a model.

    Args:
        model: An ONNX file, or a QONNX model.
        blueprint: A YAML file, or several, later ones over earlier ones; or a blueprint that was read. None takes the
            default steps.
        output: The folder for everything; an earlier build in it is replaced when this one has succeeded.
        overrides: What goes before the blueprint's files, as for `load_blueprint`: `{"target.fps": 1000}`.
        produce: How far to go, in place of the blueprint's `output`: "estimates", "rtl", "simulated" or
            "synthesised". Steps beyond it are left out, and those that it takes are added.
        steps: The pipeline as Python, in place of the blueprint's steps and output: functions `(model, cfg) ->
            model`, names of steps, transforms. Without `produce`, it ends where the list does.
        verify_inputs: Golden inputs (.npy or array), in place of the blueprint's.
        verify_labels: The right class of each.
        verify_expected: The right output of each.
        verify: Whether to check the model after each step; steps that verify circuits do so all the same.
        report: Whether to write `report.html` and the graphs in `report.json`.
        progress: Called with what happens, in the thread that builds; `print` will do. Inside a step that takes long it is
            called with how far that is, once a second at most.
        explain: Whether progress says of each step why it was not reused.
        use_cache: Whether results of earlier builds may be reused, and are kept.
        strict: Whether a build that is not proven in full raises, with its output written; None takes the blueprint's
            `strict`.
        part: The device, or a board that carries it, in place of the blueprint's: "xczu7ev-ffvc1156-2-e", "pynq-z2".
        input_datatype: Which integers the inputs are made of, in place of the blueprint's `inputs`: "UINT8" for the pixels
            of an image, or a datatype for each input by name, also as "image=UINT8,mask=INT4".
        fit: A device, or a board that carries it, to fit: the foldings are chosen together for the highest rate within 80 %
            of it, or as the blueprint's `fit` says.
        locked: Whether to refuse all that differs from the blueprint's lock (`brainsmith lock`), before anything runs.

    Raises:
        ModelError: The model cannot be built; the message names all nodes that no layer computes. Nothing has run.
        BlueprintError: The blueprint has errors; all of them are named.
        LockError: The build is locked, and something differs from the lock, or there is none.
        OutputError: The output folder cannot be written.
        BuildError: A step failed; the message names it, the steps before it, and the last good model.
        VerificationError: A step changed what the model computes.
        UnverifiedStepError: A step made what cannot be compared, there are golden inputs, and the blueprint does not
            name it.
        NotProvenError: The build is strict, and there are shortfalls; it has the result.
        PluginLoadError: A plugin cannot be imported.
        ToolError: A tool that the steps need is missing or too old; nothing has run.
        KeyboardInterrupt: The build was interrupted; nothing is left of it but the cache.
    """
    golden = (verify_inputs, verify_labels, verify_expected)
    arguments = BuildArguments(
        blueprint, overrides, steps, *golden, produce, strict, part, input_datatype, fit, locked
    )
    build_id = BUILD.get() or new_build_id()
    about = {"brainsmith.build.id": build_id, "brainsmith.model.name": model_name(model)}
    span = WorkSpan("build", f"{__name__}.build", {**about})
    with Current(BUILD, build_id), span, each_source_looked_at_once():
        result = _built(model, arguments, output, verify, report, progress, explain, use_cache)
        span.set("brainsmith.build.proven", result.proven)
        return result


def _built(
    model: str | Path | ModelWrapper,
    arguments: BuildArguments,
    output: str | Path,
    verify: bool,
    report: bool,
    progress: Callable[[Progress], None] | None,
    explain: bool,
    use_cache: bool,
) -> BuildResult:
    note_imports()
    workspace = Workspace(output)
    with _nothing_half_written(workspace):
        source = read_for_build(model)
        task = _task(arguments, source)
        source = with_input_datatypes(source, task.inputs, model_name(model))
        shown = {"explain": explain, "page": report}
        job = BuildJob(task, source, workspace, model_name(model), progress, use_cache=use_cache, **shown)
        with task.registry.asked(task.limits), job.runner.held:
            job.prepare(verify)
    with _nothing_half_written(workspace, job), _failure_reported(job):
        with job.listened(), job.maker, task.registry.asked(task.limits), job.runner.held:
            result = job.finish(job.run())
        workspace.publish(job.state_provenance)
    job.share_results()
    if task.strict and not result.proven:
        raise NotProvenError(_shortfalls_text(result), result)
    return result


def _shortfalls_text(result: BuildResult) -> str:
    many = plural(len(result.shortfalls), "shortfall")
    text = f"the build is not proven: {many}, and a strict build allows none; its output is written: {result.output}"
    return "\n  ".join([text, *(shortfall.text for shortfall in result.shortfalls)])


@contextmanager
def _nothing_half_written(workspace: Workspace, job: BuildJob | None = None) -> Iterator[None]:
    """Clean up after whatever stops a build; once steps run, keep what a failed one leaves, and say where."""
    try:
        yield
    except BaseException as error:
        if job is not None and isinstance(error, BuildError):
            workspace.fail()
            raise
        workspace.discard()
        if isinstance(error, KeyboardInterrupt):
            raise KeyboardInterrupt(job.interruption() if job is not None else "") from None
        known = isinstance(error, BrainsmithError | BrokenPipeError)  # the latter: nobody reads the progress
        if job is None or known or not isinstance(error, OSError):
            raise
        reason = error.strerror or error
        raise OutputError(f"output folder {workspace.output} cannot be written: {reason}") from error


@contextmanager
def _failure_reported(job: BuildJob) -> Iterator[None]:
    """Complete the message of a build that fails, and write its report."""
    try:
        yield
    except BuildError as error:
        message = job.explain_failure(error)
        job.share_results()
        with suppress(OSError):  # what failed first is what counts
            job.report_failure(error, message)
            if (job.workspace.staging / PAGE).is_file():
                message += f"\n  report: {job.workspace.failed / PAGE}"
        error.args = (message,)
        raise


def _task(arguments: BuildArguments, source: Artifact) -> BuildTask:
    """Read the blueprint; problems of the model are reported before those of the blueprint."""
    unsupported = unsupported_nodes(source.peek())
    try:
        task = task_of(arguments)
    except (BlueprintError, LookupError):
        refuse(unsupported, None)
        raise
    if not early_steps(task.steps):
        refuse(unsupported, task.steps)
    try:
        require_part(task.steps, task.config["fpga_part"], task.description["file"])
        require_tools(task.steps)
        require_reader(task.steps, task.config["kernel_preferences"], task.registry)
    except BrainsmithError:
        refuse(unsupported, task.steps)
        raise
    return task
