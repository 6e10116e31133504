"""`python -m gymbridge_generator` is the command `gymbridge`."""

from gymbridge_tools.cli.main import main

raise SystemExit(main())
