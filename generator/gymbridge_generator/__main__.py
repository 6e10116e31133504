"""`python -m gymbridge_generator` is the command `gymbridge`."""

from gymbridge_cli.main import main

raise SystemExit(main())
