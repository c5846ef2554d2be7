"""Attention scoring functions, one module for each framework; `torch` is the first."""
