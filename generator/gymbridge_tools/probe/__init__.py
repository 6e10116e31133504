"""Finds the facts of an installed array library for its spec entry."""
