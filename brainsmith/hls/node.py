"""The base of HLS backends that are this project's own C++."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from finn.custom_op.fpgadataflow.hlsbackend import HLSBackend

from brainsmith.hls.finn_program import generated_code
from brainsmith.hls.layer import HlsLayer
from brainsmith.hls.program import HlsProgram, HlsStream, compile_program
from brainsmith.rtl.cores.estimated_backend import EstimatedBackend
from brainsmith.rtl.cores.node_support import SUPPORTED, Support
from brainsmith.store.files import write_texts

if TYPE_CHECKING:
    import numpy.typing as npt
    from onnx import GraphProto
    from qonnx.core.modelwrapper import ModelWrapper


class HlsNode(EstimatedBackend, HLSBackend):
    """A kernel's HLS: put it before the kernel among the bases, `class SoftmaxHLS(HlsNode, SoftmaxKernel)`.

    The kernel gives shapes, datatypes, streams and the Python execution. The backend's function takes one frame per
    call (or a part of one, `calls`) from streams `in0_V`, ... and gives it to `out0_V`, ..., packed in `ap_uint` with
    the first element lowest. A node is executed in Python unless its `exec_mode` is `cppsim` (its C++, compiled here)
    or `rtlsim` (what Vitis HLS made of it).

    Attributes:
        sources: Header files beside the backend's own file that hold its C++; the last includes the others.
    """

    kernel_behind = HLSBackend
    sources: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def constants(self) -> str:
        """Return C++ between the includes and the function: constants and tables."""

    @abstractmethod
    def call(self) -> str:
        """Return the C++ statements of the function: what takes `in0_V`, ... and gives `out0_V`, ..."""

    def calls(self) -> int:
        """Return how often the function is called for one input."""
        return 1

    @classmethod
    def supports(cls, node: Any, part: str = "") -> Support:
        """Tell whether this backend can implement a node."""
        return SUPPORTED

    def hls_headers(self) -> dict[str, str]:
        """Return the texts of the backend's own C++ files by name."""
        folder = Path(inspect.getfile(type(self))).parent
        return {name: (folder / name).read_text(encoding="utf-8") for name in self.sources}

    def hls_streams(self) -> tuple[HlsStream, ...]:
        """Return the function's parameters; inputs of width 0 are constants, and no streams."""
        node = self.onnx_node
        inputs = [
            HlsStream(f"in{at}_V", self.get_instream_width(at), True)
            for at in range(len(node.input))
            if self.get_instream_width(at)
        ]
        outputs = [
            HlsStream(f"out{at}_V", self.get_outstream_width(at), False) for at in range(len(node.output))
        ]
        return (*inputs, *outputs)

    def hls_program(self) -> HlsProgram:
        """Return what is compiled for a simulation: the function that a synthesis gets."""
        text, _ = generated_code(self, "cppsim")
        return HlsProgram(self.onnx_node.name, text, self.hls_streams(), self.hls_headers())

    def generate_params(self, model: ModelWrapper, path: str) -> None:
        """Put the C++ files beside the code that FINN generates, which includes them by name."""
        write_texts(Path(path), self.hls_headers())

    def global_includes(self) -> None:
        """Include ap_int, hls_stream and the backend's own files."""
        own = [f'#include "{self.sources[-1]}"'] if self.sources else []
        self.code_gen_dict["$GLOBALS$"] = ['#include "ap_int.h"', '#include "hls_stream.h"', *own]

    def defines(self, var: str) -> None:
        """State the constants."""
        self.code_gen_dict["$DEFINES$"] = [self.constants()]

    def blackboxfunction(self) -> None:
        """State the function."""
        streams = [f"hls::stream<ap_uint<{one.bits}>> &{one.name}" for one in self.hls_streams()]
        self.code_gen_dict["$BLACKBOXFUNCTION$"] = [f"void {self.onnx_node.name}({', '.join(streams)})"]

    def pragmas(self) -> None:
        """State AXI streams, and that the function starts itself."""
        ports = [f"#pragma HLS INTERFACE axis port={one.name}" for one in self.hls_streams()]
        self.code_gen_dict["$PRAGMAS$"] = [*ports, "#pragma HLS INTERFACE ap_ctrl_none port=return"]

    def docompute(self) -> None:
        """State the call."""
        self.code_gen_dict["$DOCOMPUTE$"] = [self.call()]

    def code_generation_cppsim(self, model: ModelWrapper) -> None:
        """Write what is compiled for a simulation to `code_gen_dir_cppsim`, for reading."""
        program = self.hls_program()
        unit = {f"execute_{self.onnx_node.op_type}.cpp": program.unit}
        write_texts(Path(self.get_nodeattr("code_gen_dir_cppsim")), {**program.headers, **unit})

    def compile_singlenode_code(self) -> None:
        """Compile the C++, and note the library."""
        self.set_nodeattr("executable_path", str(compile_program(self.hls_program())))

    def execute_node(self, context: dict[str, npt.NDArray[Any]], graph: GraphProto) -> None:
        """Run the C++ if `exec_mode` is `cppsim`, the synthesised RTL if `rtlsim`, else compute as the kernel does."""
        mode = self.get_nodeattr("exec_mode")
        if mode == "rtlsim":
            HLSBackend.execute_node(self, context, graph)
        elif mode == "cppsim":
            found = HlsLayer(self, self.hls_program(), self.calls()).run(
                {name: context[name][np.newaxis] for name in self.onnx_node.input}
            )
            context.update({name: values[0] for name, values in found.items()})
        else:
            super(HLSBackend, self).execute_node(context, graph)
