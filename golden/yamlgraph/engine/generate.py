"""generate.py FIRST LAST prints a random graph for each seed, as a txtar archive ended by a line of `=`. Keys are those of the
table of nodes that no other service needs; values are of every type."""

import json
import random
import sys

FIELDS = ["a", "b", "c", "d"]
VALUES = {
    "str": ["x", "", "yes", "1", "a b", "é", "None"],
    "int": [0, 1, -3, 12],
    "float": [0.5, 2.0, -1.25],
    "bool": [True, False],
    "list": [[], [1, 2], ["p", "q"], [{"k": 1, "s": "t"}, {"k": 2, "s": "u"}], [None, "x"]],
    "dict": [{}, {"k": 1, "s": "v"}, {"k": {"n": [1]}, "s": ""}],
    "any": [None, "z", 3],
}


class Graph:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.types = {f: self.r.choice(list(VALUES)) for f in FIELDS}
        self.nodes, self.edges, self.tools, self.prompts = {}, [], {}, {}

    def field(self, *types):
        fits = [f for f in FIELDS if not types or self.types[f] in types]
        return self.r.choice(fits or FIELDS)

    def template(self):
        """A value of a template."""
        f, r = self.field(), self.r
        return r.choice([
            "{state.%s}" % f, "{state.%s}" % f, "{state.%s.k}" % f, "{state.%s.s}" % f, "{state.zz}",
            "{state.%s + 1}" % f, "{state.%s * 2}" % f, "{state.%s - {state.%s}}" % (f, self.field()), "{state.%s + [{state.%s}]}" % (f, self.field()),
            "in {state.%s} text" % f, "plain", "", 7, 2.5, True, None, [1, "{state.%s}" % f], {"k": "{state.%s}" % f}, "{%s}" % f,
        ])

    def prompt(self, names):
        name, r = "p%d" % len(self.prompts), self.r
        words = [r.choice(["{%s}" % n, "say {%s}!" % n]) for n in names] or ["nothing"]
        if r.random() < 0.4:
            words = [r.choice(["{{ %s }}", "{%% if %s %%}yes{%% endif %%}", "{{ %s | upper }}", "{{ %s | default('none') }}", "{%% for i in %s %%}{{ i }};{%% endfor %%}", "{{ %s | length }}"]) % n for n in names] or ["{{ (1 + 1) }}"]
        self.prompts[name] = {"user": " ".join(words)}
        if r.random() < 0.5:
            self.prompts[name]["system"] = r.choice(["You are kind.", words[0]])
        if r.random() < 0.3:
            self.prompts[name]["schema"] = {"name": "Answer", "fields": {
                "score": {"type": "float", "description": "how good", "constraints": {"ge": 0.0, "le": 1.0}},
                "tone": {"type": "str", "description": "its tone"}, "tags": {"type": "list[str]", "description": "words"}}}
        return name

    def tool(self, what):
        self.tools[what] = {"type": "python", "module": "steps", "function": what, "description": "A tool."}
        return what

    def node(self, name):
        r = self.r
        kind = r.choice(["passthrough", "passthrough", "llm", "python", "python", "tool_call", "map", "tool", "router" if False else "llm"])
        n = {"type": kind}
        out = r.choice(FIELDS + [name, "extra"])
        if kind == "passthrough":
            n["output"] = {r.choice(FIELDS): self.template() for _ in range(r.randint(1, 3))}
        elif kind == "llm":
            names = r.sample(FIELDS, r.randint(0, 2))
            n.update(prompt=self.prompt(names), state_key=out)
            if names and r.random() < 0.8:
                n["variables"] = {v: "{state.%s}" % self.field() for v in names}
            if r.random() < 0.3:
                n["temperature"] = r.choice([0, 0.2, 1.0])
            if r.random() < 0.2:
                n["parse_json"] = True
            if r.random() < 0.2:
                n["skip_if_exists"] = False
            if r.random() < 0.2:
                n["requires"] = [self.field()]
            if r.random() < 0.2:
                n["on_error"] = r.choice(["skip", "fail"])
        elif kind == "python":
            n["tool"] = self.tool(r.choice(["look", "update", "fails", "count"]))
            if r.random() < 0.7:
                n["state_key"] = out
            if r.random() < 0.5:
                n["on_error"] = r.choice(["skip", "fail"])
        elif kind == "tool_call":
            n.update(tool=self.tool(r.choice(["add", "boom"])), args=r.choice(["{state.%s}" % self.field("dict"), {"k": "{state.%s}" % self.field(), "s": 1}]), state_key=out)
        elif kind == "tool":
            self.tools["say"] = {"type": "shell", "command": "printf '%s' {v}", "parse": r.choice(["text", "json", "none"]), "description": "Says it."}
            n.update(tool="say", variables={"v": self.template()}, state_key=out)
            n["on_error"] = r.choice(["skip", "fail"])
        elif kind == "map":
            sub = {"type": "python", "tool": self.tool("item"), "state_key": "got"}
            if r.random() < 0.5:
                sub = {"type": "llm", "prompt": self.prompt(["it"]), "variables": {"it": "{state.it}"}, "state_key": "got"}
            n.update(over="{state.%s}" % self.field("list"), node=sub, collect=r.choice(["found", "all"]))
            n["as"] = "it"
        self.nodes[name] = n

    def condition(self):
        f, r = self.field(), self.r
        return r.choice(["%s == 1", "%s != null", "%s > 0", "%s == 'x'", "%s == true", "%s.k < 2 and %s != 'y'", "%s >= 0.5 or %s == null"]).replace("%s", f)

    def make(self):
        names = ["n%d" % i for i in range(self.r.randint(1, 4))]
        for name in names:
            self.node(name)
        self.edges.append({"from": "START", "to": names[0]})
        for i, name in enumerate(names):
            after = names[i + 1] if i + 1 < len(names) else "END"
            if self.nodes[name]["type"] != "map" and after != "END" and self.nodes[after]["type"] != "map" and self.r.random() < 0.3:
                self.edges.append({"from": name, "to": after, "condition": self.condition()})
                self.edges.append({"from": name, "to": "END", "condition": self.condition()})
            else:
                self.edges.append({"from": name, "to": after})
        graph = {"version": "1.0", "name": "random", "defaults": {"prompts_relative": True, "prompts_dir": "prompts", "provider": "openai"},
                 "state": dict(self.types, found="list", all="list"), "nodes": self.nodes, "edges": self.edges}
        if self.tools:
            graph["tools"] = self.tools
        files = {"graph.yaml": json.dumps(graph, indent=1, ensure_ascii=False), "steps.py": STEPS}
        for name, p in self.prompts.items():
            files["prompts/%s.yaml" % name] = json.dumps(p, indent=1, ensure_ascii=False)
        inputs = []
        for _ in range(2):
            inputs.append(json.dumps({f: self.r.choice(VALUES[self.types[f]]) for f in FIELDS if self.r.random() < 0.8}, ensure_ascii=False))
        files["inputs.jsonl"] = "\n".join(inputs)
        return files


STEPS = '''def look(state):
    return sorted(k for k in state if k in ("a", "b", "c", "d"))


def update(state):
    return {"a": "new", "c": [1, "two"]}


def fails(state):
    raise ValueError("no luck")


def count(state):
    a = state.get("a")
    return len(a) + 0.5 if isinstance(a, str) else 0.5  # not of errors, whose words differ


def item(state):
    return {"got": [str(state.get("it"))]}


def add(k=0, s=""):
    return {"sum": str(k) + str(s)}


def boom(**kwargs):
    raise KeyError("boom")
'''


def main(first, last):
    for seed in range(first, last + 1):
        print("A random graph.")
        for name, text in Graph(seed).make().items():
            print("-- %s --\n%s" % (name, text.rstrip("\n")))
        print("====")


main(int(sys.argv[1]), int(sys.argv[2]))
