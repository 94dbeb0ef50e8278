"""The project's own backends: one folder for each kind (`hls`, `rtl`), one file for each backend."""
