"""What `gymbridge doctor` does: look at the libraries that are installed, and try every pair."""
