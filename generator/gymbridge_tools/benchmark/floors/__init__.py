"""The floors: what a careful engineer would write by hand for exactly one pair and one case.

They do what gymbridge does: what changes nothing when shared is shared, a read-only array is not
written through, actions are copies of the kind that the environment samples, and what goes into JAX
is copied first, because JAX reads its arguments when it likes, and then goes in with one call.
"""
