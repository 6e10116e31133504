"""Agents that learn behind a wrapper: `python -m scripts.examples.ppo_torch` runs one."""
