"""Devices to test with where there is no GPU."""
