"""Attention scoring functions, one module for each framework; `torch` is the first."""

__version__ = "0.1.0"
