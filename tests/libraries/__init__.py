"""One module for each array library: importing it skips what needs a library that is missing."""
