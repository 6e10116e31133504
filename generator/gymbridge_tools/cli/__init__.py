"""The command `gymbridge`: one module per subcommand, and ``main``."""
