"""The command `gymbridge` and what it runs: doctor, probe and benchmark."""
