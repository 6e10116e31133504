"""Records observations as Arrow tensors."""

from arrow_agents.recording import read, record

__all__ = ["read", "record"]
