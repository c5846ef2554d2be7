"""Bind the executed notebooks into a site of static files that works without a network."""
