"""`python -m gymbridge_cli` is the command `gymbridge`."""

from gymbridge_cli.main import main

raise SystemExit(main())
