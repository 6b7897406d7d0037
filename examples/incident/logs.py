"""Reads logs."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass
class Group:
    """Lines of one service that say the same."""

    service: str
    message: str
    count: int
    check: str | None = None


LINE = re.compile(r"(?P<level>[A-Z]+) (?P<service>\w+): (?P<message>.*)")

# What to look at when a message says something like this.
CHECKS = {"refused": "ping", "disk": "disk", "slow": "trace"}


def group(lines: list[str], levels: list[str] = ["ERROR", "WARN"]) -> list[Group]:
    """Groups the lines of a log that say the same."""
    groups: dict[tuple[str, str], Group] = {}
    for line in lines:
        m = LINE.fullmatch(line.strip())
        if m is None or m["level"] not in levels:
            continue
        key = m["service"], m["message"]
        if key not in groups:
            check = next((c for word, c in CHECKS.items() if word in m["message"]), None)
            groups[key] = Group(*key, 0, check)
        groups[key].count += 1
    return list(groups.values())
