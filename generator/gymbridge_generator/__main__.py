"""`python -m gymbridge_generator` is the command `gymbridge`."""

from gymbridge_generator.cli import main

raise SystemExit(main())
