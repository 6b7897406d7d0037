"""Functions of the tests."""
from __future__ import annotations

import asyncio
import ctypes
import dataclasses
import datetime
import decimal
import enum
import os
import subprocess
import sys
import threading
import time
import uuid
from typing import Dict, List, Optional, Tuple, TypedDict

sys.stdout.write("importing\n")


def parse_diff(raw, n):
    return {"lines": raw.count("\n"), "n": n + 1}


def echo(value=None):
    return value


def boom(text="no"):
    print("about to fail")
    inner(text)


def inner(text):
    raise ValueError(text)


class Odd(Exception):
    pass


async def async_boom():
    await asyncio.sleep(0)
    raise Odd("later")


class Level(enum.Enum):
    LOW = "low"
    HIGH = "high"


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


@dataclasses.dataclass
class Shape:
    name: str
    points: List[Point]
    level: Level = Level.LOW
    parent: Optional[Shape] = None


class Wrapper(TypedDict):
    shape: Shape


def area(shape: Shape, when: datetime.date, box: Tuple[int, Point], index: Dict[str, Point], w: Wrapper, tags: set[str] = frozenset()):
    assert isinstance(shape, Shape) and isinstance(shape.points[0], Point) and isinstance(shape.level, Level)
    assert shape.parent is None or isinstance(shape.parent, Shape)
    assert isinstance(when, datetime.date) and isinstance(box, tuple) and isinstance(box[1], Point)
    assert isinstance(index["a"], Point) and isinstance(w["shape"], Shape) and isinstance(tags, (set, frozenset))
    return {"shape": shape, "when": when, "box": box, "tags": tags}


def results(kind):
    return {
        "dataclass": lambda: Shape("s", [Point(1)], Level.HIGH),
        "enum": lambda: [Level.LOW],
        "time": lambda: [datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc), datetime.date(2026, 1, 2)],
        "delta": lambda: datetime.timedelta(seconds=1.5),
        "bytes": lambda: b"\x00\xff",
        "tuple": lambda: (1, (2,)),
        "set": lambda: {3, 1, 2},
        "mixed set": lambda: {1, "a"},
        "decimal": lambda: [decimal.Decimal("1.10"), uuid.UUID(int=1)],
        "none": lambda: None,
        "big": lambda: 2 ** 70,
        "float": lambda: [1.0, 1, -0.0],
        "nan": lambda: float("nan"),
        "object": lambda: object(),
        "surrogate": lambda: "\ud800",
        "loop": lambda: loop_value(),
        "deep": lambda: deep_value(),
        "large": lambda: "x" * (3 << 20),
        "huge": lambda: "x" * (100 << 20),
        "text": lambda: "é\u2028\"\\",
    }[kind]()


def loop_value():
    v = []
    v.append(v)
    return v


def deep_value():
    v = []
    for _ in range(100000):
        v = [v]
    return v


def who(ctx: flowgen.Context, n):
    import flowgen
    assert flowgen.context() is ctx and "token" not in repr(ctx)
    return {"auth": ctx.auth, "tenant": ctx.tenant_id, "n": n}


def leak(n):
    import flowgen
    raise RuntimeError("header was Bearer " + flowgen.context().auth["TOKEN"])


def coded():
    import flowgen
    raise flowgen.ToolError("RATE_LIMIT", "slow down", details={"left": 0}, retry_after_s=3)


def environment():
    return dict(os.environ)


def hang(marker=None):
    while True:
        pass


def stuck():
    # A call into C that keeps the interpreter's lock.
    ctypes.PyDLL(None).sleep(3600)


def crash():
    os.kill(os.getpid(), 11)


def leave(code):
    os._exit(code)


def quit(code):
    sys.exit(code)


def noise(n):
    print("x" * n)
    sys.stderr.write("y" * n)
    os.write(1, b"z" * n)
    sys.stdout.buffer.write(b"w" * n)
    subprocess.run(["sh", "-c", "echo shell; cat"], check=True)  # its input is empty
    return sys.stdin.read()


def protocol():
    for fd in (3, 4, 5):
        try:
            os.fstat(fd)
        except OSError:
            return "missing"
    # Descriptors of the protocol do not reach children.
    return subprocess.run([sys.executable, "-c", "import os,sys\nfor fd in (3, 4, 5):\n  try: os.fstat(fd); print(fd)\n  except OSError: pass"],
                          capture_output=True, text=True).stdout


def pid():
    return os.getpid()


def nap(seconds):
    time.sleep(seconds)
    return threading.current_thread() is threading.main_thread()


async def async_nap(seconds):
    await asyncio.sleep(seconds)
    return os.getpid()


async def stubborn():
    while True:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            pass


def said(n):
    print("I am", n)
    time.sleep(0.05)
    raise ValueError(n)


class Tools:
    @staticmethod
    def double(n):
        return 2 * n


constant = 5


def attach(n):
    import flowgen
    if n == -1:
        flowgen.attach("file", "https://x")
    if n == -2:
        flowgen.attach("blob", "x" * 5000)
    for i in range(n):
        if i == 0:
            flowgen.attach("image", "https://x/0?k=" + flowgen.context().auth["TOKEN"], "image/png", 7)
        else:
            flowgen.attach(kind="table", url="https://x/%d" % i)
    return n


async def async_attach(n):
    await asyncio.to_thread(attach, n)
    return n
