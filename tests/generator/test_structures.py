"""Long types are folded as the formatter folds them."""

from __future__ import annotations

from gymbridge_generator.structures import Structure


def test_a_type_is_folded_when_its_comma_exceeds_the_line() -> None:
    items = ("a" * 40, "b" * 40)
    target = f"tuple[{', '.join(items)}]"
    assert len(target) == 89
    structure = Structure("", target, items)
    assert structure.folded(10) == target
    assert structure.folded(11).splitlines() == [
        "tuple[",
        f"               {', '.join(items)}",
        "           ]",
    ]


def test_a_type_without_items_is_never_folded() -> None:
    assert Structure("", "x" * 120).folded(0) == "x" * 120
