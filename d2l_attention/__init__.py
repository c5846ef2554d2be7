"""Attention scoring functions, one module for each framework."""

__version__ = "0.1.0"
