"""The pictures of the documentation, drawn from the spec."""
