"""The conversion core: trees of values from one array library to another."""
