"""The tests; a package, so that what they share is found before any other `tests`."""
