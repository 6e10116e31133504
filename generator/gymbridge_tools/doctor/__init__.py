"""`gymbridge doctor` examines the installed libraries and tries every pair."""
