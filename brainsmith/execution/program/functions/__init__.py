"""The functions that instructions name, a module for each subject; `..table` finds them."""
