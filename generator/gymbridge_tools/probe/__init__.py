"""Finds out about an installed array library what a spec entry has to say of it."""
