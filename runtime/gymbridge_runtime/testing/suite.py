"""The whole suite."""

from __future__ import annotations

from gymbridge_runtime.testing.actions import ActionTests
from gymbridge_runtime.testing.buffers import BufferTests
from gymbridge_runtime.testing.leaves import LeafTests
from gymbridge_runtime.testing.ownership import OwnershipTests
from gymbridge_runtime.testing.persistence import EpisodeTests
from gymbridge_runtime.testing.round_trips import RoundTripTests


class BridgeSuite(
    LeafTests, OwnershipTests, BufferTests, ActionTests, RoundTripTests, EpisodeTests
):
    """Tests all pairs of a generated package, which has a subclass with its own pairs."""
