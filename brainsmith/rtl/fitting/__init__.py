"""Foldings of all layers chosen together: the options of each in, the best that fits out; exact, by HiGHS."""
