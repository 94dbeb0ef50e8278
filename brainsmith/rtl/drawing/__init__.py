"""Pictures of a design as SVG: its block diagram, and the handshakes of a frame."""
