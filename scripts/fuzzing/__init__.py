"""The targets of `fuzz.py`."""
