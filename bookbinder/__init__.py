"""Binds book/ into notebooks and a module, and checks that all three agree."""
