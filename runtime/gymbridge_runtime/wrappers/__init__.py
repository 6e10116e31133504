"""The bases of the wrappers, one for each form of environments."""
