"""One module for each array library; no other module imports the library."""
