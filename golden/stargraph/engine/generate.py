"""generate.py FIRST LAST prints a random graph for each seed, as a txtar archive ended by a line of `=`: IR documents over a class of
the state and graphs of the authoring format, with the kinds that do not ask people. Routes only lead on, but for one loop that counts. What models
answer is in the fields that they are asked about. The engine loses what nodes in parallel write: graphs with them are compiled as it is."""

import json
import random
import sys

FIELDS = {"text": "str", "log": "str", "verdict": "str", "message": "str", "n": "int", "score": "float", "flag": "bool", "found": "dict", "rest": "any"}
MIRRORED = ["verdict", "n", "score", "flag"]
TEXTS = ["", "a", "go", "True", "1", "1.0", "é", "a \"b\"", "two words", "{x}", "\t"]
VALUES = {
    "str": TEXTS,
    "int": [0, 1, -3, 12],
    "float": [0.0, 1.0, 0.5, -2.25, 1e16],
    "bool": [True, False],
    "dict": [{}, {"k": 1}, {"hits": ["a", 2.0, None], "deep": {"k": True}}],
}
FORMS = {
    "str": ["{%s}", "{%s!r}", "{%s:>6}", "{%s:*^9}", "{%s:.2}"],
    "int": ["{%s}", "{%s:>5}", "{%s:05d}", "{%s:+d}", "{%s!r}"],
    "float": ["{%s}", "{%s:.2f}", "{%s:>8.1f}", "{%s:e}"],
    "bool": ["{%s}", "{%s:d}", "{%s!r}"],
    "dict": ["{%s}", "{%s!r}"],
    "any": ["{%s}"],
}
STATE = '''from typing import Annotated, Any

from pydantic import BaseModel
from stargraph.ir import Mirror


class State(BaseModel):
    text: str = ""
    log: str = "%s"
    verdict: Annotated[str, Mirror()] = ""
    message: str = ""
    n: Annotated[int, Mirror()] = %d
    score: Annotated[float, Mirror()] = 0.0
    flag: Annotated[bool, Mirror()] = False
    found: dict[str, Any] = {}
    rest: Any = None
'''
TOOLS = '''from stargraph.tools import SideEffects, tool


@tool(name="find", namespace="desk", version="1", side_effects=SideEffects.read)
def find(*, text: str, n: int = 2) -> dict:
    return {"hits": [text] * (n % 3), "n": n, "none": None}


@tool(name="count", namespace="desk", version="1", side_effects="none")
def count(n: int) -> dict:
    return {"n": n + 1}


@tool(name="look", namespace="desk", version="2", side_effects="read")
def look(value, flag: bool = True, names: list = []) -> dict:
    return {"type": type(value).__name__, "text": str(value), "flag": flag, "names": names}


@tool(name="boom", namespace="desk", version="1", side_effects="external")
def boom(text: str) -> dict:
    if text:
        raise ValueError("no luck")
    return {"ok": True}
'''
NODES = '''from stargraph.nodes.base import ExecutionContext, NodeBase

from .state import State


class Count(NodeBase):
    def __init__(self, by: int = 1) -> None:
        self.by = by

    async def execute(self, state: State, ctx: ExecutionContext) -> dict:
        return {"n": state.n + self.by, "flag": state.n + self.by > 1}


class Judge(NodeBase):
    async def execute(self, state: State, ctx: ExecutionContext) -> dict:
        if state.text == "go":
            return {"verdict": "go", "score": 1.0}
        return {"verdict": state.text[:1] or "none"}


class Fill(NodeBase):
    def __init__(self, field: str, value: str = "filled") -> None:
        self.field = field
        self.value = value

    async def execute(self, state: State, ctx: ExecutionContext) -> dict:
        return {self.field: self.value}
'''


class Graph:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.authoring = self.r.random() < 0.4
        self.models = self.r.random() < 0.3
        self.parallel, self.asked = False, ""

    def field(self, *kinds):
        return self.r.choice([f for f, kind in FIELDS.items() if not kinds or kind in kinds])

    def template(self):
        r, words = self.r, []
        for _ in range(r.randint(1, 3)):
            f = self.field("str", "int", "float", "bool", "dict")
            words.append(r.choice(FORMS[FIELDS[f]]) % f if r.random() < 0.8 else r.choice(["plain", "{{x}}", "é", "'"]))
        return r.choice(["", " ", "|"]).join(words)

    def node(self):
        """The kind and the keys of a node."""
        r = self.r
        kind = r.choice(["template"] * 4 + ["tool"] * 4 + ["echo", "halt", "passthrough"] + ([] if self.authoring else ["desk.nodes:Count", "desk.nodes:Judge", "desk.nodes:Fill"]))
        if self.models and not self.asked and r.random() < 0.5:
            return "dspy", self.question()
        if kind == "template":
            return kind, {"template": self.template(), "out": r.choice(["text", "verdict", "message"] + ([] if self.models else ["log", "log"]))}
        if kind == "desk.nodes:Count":
            return kind, {"by": r.choice([1, 2, -1])} if r.random() < 0.6 else {}
        if kind == "desk.nodes:Fill":
            return kind, {"field": r.choice(["text", "verdict"] + ([] if self.models else ["log"])), **({"value": r.choice(TEXTS)} if r.random() < 0.5 else {})}
        if kind != "tool":
            return kind, {}
        tool = r.choice(["find", "find", "count", "look", "look", "boom"])
        n = {"tool": "desk.%s@%d" % (tool, 2 if tool == "look" else 1), "out": r.choice(["found", "found", "rest"]) if not self.authoring else "found"}
        if self.authoring and r.random() < 0.5:
            n["tool"] = "desk." + tool
        if tool == "find":
            n["inputs"] = {"text": self.field("str")}
            if r.random() < 0.5:
                n["inputs"]["n"] = "n"
        elif tool == "count":
            n["inputs"] = {"n": "n"}
        elif tool == "boom":
            n["inputs"] = {"text": r.choice(["text", "message"])}
        else:
            n["inputs"] = {"value": self.field(*VALUES) if self.authoring else self.field()}
            if r.random() < 0.5:
                n["static"] = r.choice([{"flag": False}, {"names": ["a", 1]}, {"flag": True, "names": []}])
        return kind, n

    def question(self):
        """A question to a model, whose answer is the JSON in the field that it is asked about."""
        r, out = self.r, self.r.sample(["verdict", "message", "n", "score", "flag"], self.r.randint(1, 3))
        types = {f: FIELDS[f] for f in out}
        answer = {f: r.choice([v for v in VALUES[kind] if v not in ("\t", "{x}")]) for f, kind in types.items()}
        if "verdict" in types and r.random() < 0.4:
            types["verdict"], answer["verdict"] = "Literal['go', 'stop']", r.choice(["go", "stop"])
        module = {"module": "cot"} if r.random() < 0.3 else {}
        if module:
            answer["reasoning"] = "so"
        self.asked = "answer: " + json.dumps(answer)
        return {"signature": "log -> " + ", ".join("%s: %s" % x for x in types.items()), **module}

    def together(self, names):
        """A block of nodes that run in parallel: the first of them comes next at some time."""
        r = self.r
        if len(names) < 3 or r.random() > 0.3:
            return []
        first = r.randint(1, len(names) - 2)
        targets = [names[first]] + r.sample(names[first + 1:], r.randint(1, len(names) - first - 1))
        after = [n for n in names if n not in targets and n > max(targets)]
        return [{"targets": targets, **({"join": r.choice(after)} if after and r.random() < 0.7 else {}), **({"strategy": "all"} if r.random() < 0.3 else {})}]

    def when(self, node):
        """A condition over the node and fields, as a mapping or in CLIPS."""
        r = self.r
        fields = r.sample(MIRRORED, r.randint(0, 2))
        values = {f: r.choice(VALUES[FIELDS[f]] + ["go", "True", "1", "1.0"]) for f in fields}
        if r.random() < 0.6:
            return {"node": node, **values}
        parts = ["(node-id (id %s))" % node]
        for f, v in values.items():
            text = json.dumps(str(v), ensure_ascii=False)
            parts.append(r.choice(['(%s (value %s))', '(%s (value ~%s))', '(not (%s (value %s)))', '(%s (value %s|"a"))']) % (f, text))
        if r.random() < 0.3:
            parts[1:] = ["(or %s)" % " ".join(parts[1:] + ['(verdict (value "go"))'])]
        return ("(declare (salience %d)) " % r.randint(1, 9) if r.random() < 0.3 else "") + " ".join(parts)

    def document(self, names):
        r, nodes, rules = self.r, [], []
        for name in names:
            kind, config = self.node()
            nodes.append({"id": name, "kind": kind, **({"config": config} if config else {})})
        for i, name in enumerate(names):
            for _ in range(r.choice([0, 0, 1, 1, 2])):
                then = {"kind": "halt", "reason": "done"} if i + 1 == len(names) or r.random() < 0.2 else {"kind": "goto", "target": r.choice(names[i + 1:])}
                rules.append({"id": "r%d" % len(rules), "when": self.when(name), "then": [then]})
        if r.random() < 0.2:  # a loop that counts
            nodes.append({"id": "more", "kind": "desk.nodes:Count"})
            rules.append({"id": "loop", "when": {"node": "more", "n": r.randint(-2, 3)}, "then": [{"kind": "goto", "target": r.choice(["more", names[-1]])}]})
        parallel = self.together(names)
        self.parallel = bool(parallel)
        return {"ir_version": "1.1.0", "id": "random", "state_class": "desk.state:State", "nodes": nodes, **({"parallel": parallel} if parallel else {}), "rules": rules}

    def graph(self, names):
        r, nodes, routes = self.r, {}, {}
        state = {f: kind for f, kind in FIELDS.items() if kind != "any"}
        state["verdict"] = {"type": "str", "route": True, **({"default": "none"} if r.random() < 0.5 else {})}
        if r.random() < 0.3:
            state["log"] = {"type": "str", "default": "-"}
        for i, name in enumerate(names):
            kind, config = self.node()
            nodes[name] = {"kind": kind, **config}
            after = names[i + 1:] + ["done"]
            if r.random() < 0.3:
                routes[name] = r.choice(after)
            elif r.random() < 0.4:
                routes[name] = {v: r.choice(after) for v in r.sample([t for t in TEXTS if t and t != "\t"], r.randint(1, 3))}
        return {"id": "random", "state": state, "nodes": nodes, "routes": routes}

    def make(self):
        names = ["n%d" % i for i in range(self.r.randint(1, 5))]
        document = self.graph(names) if self.authoring else self.document(names)
        files = {"graph.yaml": json.dumps(document, indent=1, ensure_ascii=False), "desk/__init__.py": "", "desk/tools.py": TOOLS}
        if not self.authoring:
            files["desk/state.py"] = STATE % (self.r.choice(["", ">"]), self.r.choice([0, 1]))
            files["desk/nodes.py"] = NODES
        inputs = []
        for _ in range(2):
            given = {f: self.r.choice(VALUES[kind]) for f, kind in FIELDS.items() if kind in VALUES and (self.authoring or self.r.random() < 0.7)}
            if self.asked:
                given["log"] = self.asked
            inputs.append(json.dumps(given, ensure_ascii=False))
        files["inputs.jsonl"] = "\n".join(inputs)
        return files


for seed in range(int(sys.argv[1]), int(sys.argv[2]) + 1):
    graph = Graph(seed)
    files = graph.make()
    print("compat: upstream\nA random graph." if graph.parallel else "A random graph.")
    for name, text in files.items():
        print("-- %s --\n%s" % (name, text.rstrip("\n")))
    print("====")
