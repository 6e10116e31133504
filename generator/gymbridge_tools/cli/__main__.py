"""`python -m gymbridge_tools.cli` is the command `gymbridge`."""

from gymbridge_tools.cli.main import main

raise SystemExit(main())
