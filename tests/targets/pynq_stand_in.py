"""A stand-in of the few names of PYNQ 3 that the target pynq uses. No board and no logic: a Python function is the design.

What is tested against it is a contract: which calls are made, in which order, with which bytes. That PYNQ itself is so is
taken from its documentation, and was not tried.
"""

from types import SimpleNamespace

import numpy as np


class Buffer(np.ndarray):
    """What `allocate` gives: an array that can be given back."""

    def freebuffer(self):
        self.board.freed += 1


class Channel:
    """One direction of a DMA."""

    def __init__(self, board, number, sends):
        self.board, self.number, self.sends = board, number, sends
        self.buffer, self.idle, self.error = None, True, False

    def transfer(self, buffer):
        if not self.idle:
            raise RuntimeError("DMA channel not idle")
        if buffer.nbytes > self.board.most:
            raise ValueError(f"Transferred {buffer.nbytes} bytes, which exceeds maximum DMA buffer size.")
        self.board.calls.append(("send" if self.sends else "receive", self.number, buffer.nbytes))
        self.buffer, self.idle = buffer, False
        self.board.move()

    def wait(self):
        assert self.idle
        self.board.calls.append(("wait", self.number))

    def stop(self):
        self.board.calls.append(("stop", self.number))
        self.idle = True

    def start(self):
        self.board.calls.append(("start", self.number))


class Board:
    """A device with one design, which computes whole packets.

    Attributes:
        calls: What was asked of the DMAs, in order.
        freed: Buffers that were given back.
    """

    def __init__(self, compute, frame_in, frame_out, names=("axi_dma_0",), length_bits=14, packet=1):
        self.compute, self.frame_in, self.frame_out, self.packet = compute, frame_in, frame_out, packet
        self.calls, self.freed, self.queue, self.stuck = [], 0, b"", ""
        self.most = (1 << length_bits) - 1
        self.names = names
        self.sender, self.receiver = Channel(self, 0, True), Channel(self, 0, False)
        described = {
            "type": "xilinx.com:ip:axi_dma:7.1",
            "parameters": {"c_sg_length_width": str(length_bits)},
        }
        self.ips = dict.fromkeys(names, described) | {"zynq_ultra_ps_e_0": {"type": "xilinx.com:ip:zynq:3.3"}}

    def move(self):
        """Take what is sent, and give a packet to who waits for one."""
        if self.stuck == "sends":
            return
        if not self.sender.idle:
            data = np.asarray(self.sender.buffer).reshape(-1, self.frame_in)
            self.queue += b"".join(self.compute(frame).tobytes() for frame in data)
            self.sender.idle = True
        size = self.packet * self.frame_out
        if not self.receiver.idle and len(self.queue) >= size and not self.stuck:
            self.receiver.buffer[:] = np.frombuffer(self.queue[:size], np.uint8)
            self.queue = self.queue[size:]
            self.receiver.idle = True
        if self.stuck == "error":
            self.receiver.error = True


def make_module(board):
    """Return what stands in for the module pynq, with one device."""

    class Overlay:
        def __init__(self, bitfile, device=None):
            if "broken" in bitfile:
                raise OSError(f"{bitfile} is not a valid bitstream")
            self.ip_dict = board.ips
            for name in board.names:
                where = self
                *path, last = name.split("/")
                for part in path:
                    where.__dict__.setdefault(part, SimpleNamespace())
                    where = getattr(where, part)
                engine = SimpleNamespace(sendchannel=board.sender, recvchannel=board.receiver)
                setattr(where, last, engine)

        def free(self):
            board.calls.append(("free",))

    def allocate(shape, dtype, target=None):
        made = np.zeros(shape, dtype).view(Buffer)
        made.board = board
        return made

    return SimpleNamespace(Overlay=Overlay, allocate=allocate, Device=SimpleNamespace(devices=["device"]))
