"""What `fuzz.py` attacks."""
