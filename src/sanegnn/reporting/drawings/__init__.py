"""One figure a file: from numbers to a `Picture`."""

WIDTH = 440.0
"""Of every figure: wide enough for a screen, and still to be read on a phone."""
