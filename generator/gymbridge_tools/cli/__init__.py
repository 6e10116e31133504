"""The command `gymbridge`: a module for each thing it does, and ``main`` that finds it."""
