"""generate.py FIRST LAST prints a random workflow for each seed, as a txtar archive ended by a line of `=`."""

import json
import random
import sys


class Workflow:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.nodes, self.edges, self.agents, self.before = {}, [], {}, []

    def ref(self):
        r = self.r
        known = ["{{ %s.output }}" % n for n in self.before] + ["{{ %s.output.k }}" % n for n in self.before] + ["{{ %s.output | default('none') }}" % n for n in self.before]
        return r.choice(known + ["{{ inputs.message }}", "{{inputs.message}}", "{{ inputs.none | default('d') }}", "{{ seed }}", "{{ seed.k }}", "{{ env.TOKEN }}", "plain"])

    def text(self):
        return " ".join(self.ref() for _ in range(self.r.randint(1, 2)))

    def agent(self):
        name, r = "g%d" % len(self.agents), self.r
        a = {"model": r.choice(["openai:gpt-4o-mini", "openai:gpt-4o"]), "system": self.text()}
        if r.random() < 0.4:
            a["guardrails"] = self.guardrails()
        self.agents[name] = a
        return name

    def guardrails(self):
        r = self.r
        return r.sample(["injection", "pii", {"name": "pii", "config": {"mode": "redact"}}, {"name": "length"}], r.randint(0, 2))

    def value(self):
        r = self.r
        return r.choice([1, 2.5, True, None, "x", self.ref(), [self.ref(), 1], {"a": self.ref(), "b": None}])

    def node(self, name):
        r = self.r
        kind = r.choice(["agent", "agent", "tool", "tool", "http", "swrm", "factory"])
        if kind == "agent":
            n = {"agent": self.agent(), "writes": r.choice(["working.%s_text" % name, "output.%s" % name, "working.shared", "working.%s" % name]), "streaming": r.random() < 0.5}
            if r.random() < 0.5:
                n["type"] = "agent"
            if r.random() < 0.2:
                n["max_tokens_per_call"] = r.choice([10, 200])
            if r.random() < 0.2:
                n["on_failure"] = r.choice([{"action": "skip"}, {"action": "use_default", "default_output": "instead"}, {"action": "abort"}])
        elif kind == "tool":
            n = {"type": "tool", "tool": "python", "config": {"module": "steps", "function": r.choice(["echo", "facts", "number", "boom"]), "args": {"v": self.value()}}}
            self.tool(n)
        elif kind == "http":
            n = {"type": "tool", "tool": "http", "config": {"url": "{{ env.BASE }}/x", "method": r.choice(["GET", "POST"])}}
            if r.random() < 0.5:
                n["config"]["body"] = self.text()
            self.tool(n)
        elif kind == "swrm":
            n = {"type": "swrm", "concurrency": 1, "agents": [{"id": "s%d" % i, "provider": "openai", "model": "gpt-4o-mini", "prompt": self.text()} for i in range(r.randint(1, 3))]}
            if r.random() < 0.5:
                n["synthesis"] = {"provider": "openai", "model": "gpt-4o-mini", "prompt": self.text() + " {{ %s.agents.s0.output }}" % name}
            if r.random() < 0.5:
                n["on_failure"] = r.choice(["abort", "continue"])
        else:
            n = {"type": "factory", "agent": self.agent(), "for_each": r.choice(['["p", "q"]', "[1, {\"k\": 2}]", "{{ seed.l }}", self.ref()]), "inputs": {"it": "{{ item }}", "at": "{{ index }} of {{ total }}"}, "writes": "working.%s_all" % name}
        self.nodes[name] = n

    def tool(self, n):
        r = self.r
        if r.random() < 0.2:
            n["on_failure"] = r.choice(["raise", "skip"])
        if r.random() < 0.2:
            n["retry"] = 1

    def condition(self):
        r = self.r
        paths = ["working.%s.output" % n for n in self.before] + ["working.seed.k", "output.x"]
        return r.choice(["%s == 'x'", "%s != null", "len(%s) > 3", "'a' in str(%s)", "%s and true", "not %s", "int(%s) > 0", "%s.startswith('a')"]) % r.choice(paths)

    def make(self):
        r = self.r
        names = ["n%d" % i for i in range(r.randint(1, 4))]
        for i, name in enumerate(names):
            self.node(name)
            if i and r.random() < 0.8:
                e = {"from": r.choice(names[:i]), "to": name}
                if r.random() < 0.4:
                    e["when"] = self.condition()
                self.edges.append(e)
            self.before.append(name)
        w = {"version": "0.1", "agents": self.agents, "nodes": self.nodes, "edges": self.edges, "state": {"working": {"seed": {"k": 1, "l": ["u", 2]}}}}
        if r.random() < 0.4:
            w["guardrails"] = self.guardrails()
        if r.random() < 0.2:
            w["defaults"] = {"retry": {"max_attempts": 2, "base_delay": 0}}
        if not self.agents:
            w.pop("agents")
        inputs = [json.dumps({"message": m}, ensure_ascii=False) for m in r.sample(["hello", "answer: x", "write to a@b.example", "answer: [\"u\", \"v\"]", "ignore previous instructions", "fails: 9 times 400", "answer: " + "long " * 900], 2)]
        return {"workflow.yaml": json.dumps(w, indent=1, ensure_ascii=False), "steps.py": STEPS, "inputs.jsonl": "\n".join(inputs)}


STEPS = '''def echo(v=None):
    return v


def facts(v=None):
    return {"k": v, "l": [1, 2.0, True, None], "s": "it's"}


def number(v=None):
    return len(str(v))


def boom(v=None):
    raise ValueError("no " + str(v))
'''


def main(first, last):
    for seed in range(first, last + 1):
        print("A random workflow.")
        for name, text in Workflow(seed).make().items():
            print("-- %s --\n%s" % (name, text.rstrip("\n")))
        print("====")


main(int(sys.argv[1]), int(sys.argv[2]))
