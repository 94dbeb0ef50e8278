"""The lowerings, a module for each subject; `..registry` finds every module in this folder."""
