"""Writes typed wrapper classes from a spec of array libraries (needs `gymbridge[generator]`)."""
