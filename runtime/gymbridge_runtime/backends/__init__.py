"""One module for each array library: the only places that import it."""
