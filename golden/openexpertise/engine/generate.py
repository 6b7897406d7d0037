"""generate.py FIRST LAST prints a random experience for each seed, as a txtar archive ended by a line of `=`. Keys are those of the
tables of the page that need no other service; values are of every type, some of them none that the state takes."""

import json
import random
import sys

FIELDS = ["a", "b", "c", "d", "list", "log"]
TYPES = ["string", "number", "boolean", "object", "array", None]
VALUES = {
    "string": ["x", "", "10", "a \"b\"", "é"],
    "number": [0, 1, -3, 12, 2.5],
    "boolean": [True, False],
    "object": [{}, {"k": 1, "s": "v"}, {"k": {"n": [1]}, "s": ""}],
    "array": [[], [1, 2], ["p", {"k": 1}], [None, "x", 2.5]],
    None: [None, "z", 3, [0], {"k": 2}],
}
MODULES = {
    # writes what it is given
    "set.mjs": "export default ({ delta }) => ({ state_delta: delta ?? {} })\n",
    # lists what it sees
    "look.mjs": """export default ({ _state, _edge_inputs, ...rest }) => {
  const { log, ...state } = _state
  return { state_delta: { log: [[rest, state, log === undefined ? null : log.length, _edge_inputs]] }, edge_output: rest }
}
""",
    # hands on what it is told to
    "give.mjs": "export default ({ give, edge }) => ({ state_delta: give, edge_output: edge })\n",
    # counts what it reads
    "count.mjs": "export default ({ _state }) => ({ state_delta: { b: (typeof _state.b === 'number' ? _state.b : 0) + 1 }, edge_output: null })\n",
    "fails.mjs": "export default ({ $item, $index, hard }) => {\n  if (hard || $index === 1) throw new Error('no')\n  return { state_delta: { log: [$item ?? null] } }\n}\n",
    # returns what the contract forbids
    "odd.mjs": "export default ({ n }) => [undefined, [], {}, { edge_output: 1 }, { state_delta: null }, { state_delta: [1] }, 'text', null][n]\n",
}


class Experience:
    def __init__(self, seed):
        self.r = random.Random(seed)
        r = self.r
        self.schema = {}
        for f in FIELDS[:4]:
            kind = r.choice(TYPES)
            self.schema[f] = {"type": kind} if kind else {}
            if r.random() < 0.15:
                self.schema[f]["merge"] = "set_once"
        self.schema["b"] = {"type": r.choice(["number", "number", "string"])}
        self.schema["list"] = {"type": "array"}
        self.schema["log"] = {"type": "array", "merge": "array_append"}
        self.nodes, self.files = [], {}
        self.parallel = r.random() < 0.3

    def value(self, kind="any"):
        return self.r.choice(VALUES[self.r.choice(TYPES) if kind == "any" else kind])

    def path(self):
        return self.r.choice(["$.%s", "$.%s", "$.%s.k", "$.%s.k.n"]) % self.r.choice(FIELDS[:5])

    def delta(self):
        r, delta = self.r, {}
        for f in r.sample(FIELDS[:5], r.randint(1, 3)):
            delta[f] = self.value(self.schema[f].get("type")) if r.random() < 0.9 else self.value()
        if r.random() < 0.2:
            delta["log"] = self.value("array")
        if r.random() < 0.05:
            delta["undeclared"] = 1
        return delta

    def condition(self, depth=0):
        r = self.r
        f = r.choice(FIELDS)
        if depth < 2 and r.random() < 0.3:
            a, b = self.condition(depth + 1), self.condition(depth + 1)
            return r.choice(["%s && %s", "%s || %s", "(%s || %s) && true", "(%s) == %s"]) % (a, b)
        side = r.choice(["$.%s", "$.%s", "$.%s.k", "length($.%s)", "$.%s.length", "$.%s.0"]) % f
        other = r.choice(["1", "0", "-3", "2.5", "'x'", "'10'", '""', "true", "false", "$.%s" % r.choice(FIELDS)])
        return side if r.random() < 0.15 else "%s %s %s" % (side, r.choice(["==", "!=", "<", ">", "<=", ">="]), other)

    def policy(self):
        r = self.r
        return r.choice(["skip", "skip", "fail_run", "fail_run", {"policy": "retry", "attempts": r.randint(1, 3), "base_ms": 1}])

    def prompt(self, node, names):
        r, name = self.r, "p%d.md" % len(self.files)
        forms = ["{{ %s }}", "{{%s}}", "{{ %s.k }}", "{{ %s | length }}", "{{ %s.k.n }}", "say {{ %s }}!"]
        words = [r.choice(forms) % n for n in names] + [r.choice(["{{ nobody }}", "{{ 1 + 1 }}", "plain", "{ { a } }"])]
        self.files[name] = ("answer: {\"b\": 1}" if "schema" in node and r.random() < 0.3 else " ".join(words)) + r.choice(["", "\n"])
        return name

    def node(self, name, rounds, before):
        r = self.r
        kinds = ["set", "set", "look", "look", "look", "give", "count", "fails", "odd", "dataset"]
        # of parallel nodes, how often a model is asked depends on which of them ends the run, and when
        kind = r.choice(kinds + ["agent", "skill"] * (not self.parallel))
        n = {"id": name, "kind": "tool"}
        if r.random() < 0.85:
            n["on_error"] = self.policy()
        if r.random() < 0.5:
            n["reads"] = r.sample(FIELDS, r.randint(0, 3))
        args = {}
        if r.random() < 0.6:
            args[r.choice(["k", "x", "$item", "_state", "a"])] = r.choice([self.value(), self.path(), [1, self.path()], {"k": self.path()}, "in $.a text", "$.list[0]"])
        if kind in ("agent", "skill"):
            n.update(kind=kind, model="gpt-4o-mini")
            names = list(n.get("reads", [])) + [k for k in args] + (["$item", "_item", "$index"] if rounds else []) + before
            if kind == "skill":
                n.update(impl="skill.md", writes=["a"])
                self.files["skill.md"] = "---\nname: s\n---\n\nDo it.\n"
            elif r.random() < 0.4:
                n.update(writes=["b"], schema={"type": "object", "properties": {"b": {"type": r.choice(["number", "string"])}}, "required": ["b"]})
                n["prompt"] = self.prompt(n, r.sample(names, min(len(names), 2)))
            else:
                n.update(writes=[r.choice(FIELDS[:4])])
                n["prompt"] = self.prompt(n, r.sample(names, min(len(names), 3)))
        elif kind == "dataset":
            form = r.choice(["json", "jsonl", "csv"])
            self.files["rows.json"], self.files["rows.jsonl"], self.files["rows.csv"] = '[{"k": 1}, 2]', '{"k": 1}\n\n"x"\n', "k,s\n1,a\n,b\n"
            n.update(kind="dataset", source={"type": "file", "uri": "rows." + form, "format": form}, writes=[r.choice(["list", "log", "a"])])
        else:
            n["impl"] = "./%s.mjs" % kind
            self.files[kind + ".mjs"] = MODULES[kind + ".mjs"]
            if kind == "set":
                args["delta"] = self.delta()
            elif kind == "give":
                args.update(give=self.delta() if r.random() < 0.5 else {}, edge=self.value())
            elif kind == "fails" and r.random() < 0.4:
                args["hard"] = True
            elif kind == "odd":
                args["n"] = r.randint(0, 7)
        if args and kind != "dataset":
            n["args"] = args
        if not rounds and kind != "dataset" and r.random() < 0.2:
            n["for_each"] = {"source": r.choice(["$.list", "$.list", "$.log", "$.a"])}
            if r.random() < 0.4:
                n["for_each"]["concurrency"] = 2
        self.nodes.append(n)

    def make(self):
        r = self.r
        names = ["n%d" % i for i in range(r.randint(2, 6))]
        edges = []
        for i, name in enumerate(names):
            before = sorted(r.sample(names[:i], min(i, r.randint(0, 2))))
            for b in before:
                e = {"from": b, "to": name}
                if r.random() < 0.35:
                    e["when"] = self.condition()
                edges.append(e)
            self.node(name, False, before)
        graph = {"nodes": self.nodes, "edges": r.sample(edges, len(edges))}
        if r.random() < 0.3:
            stages = ["s%d" % i for i in range(r.randint(1, 2))]
            for s in stages:
                self.node(s, True, [])
            graph["pipelines"] = [{"id": "line", "items": r.choice(["$.list", "$.list", "$.log"]), "stages": stages}]
        if r.random() < 0.3:
            body = ["l%d" % i for i in range(r.randint(1, 2))]
            for s in body:
                self.node(s, True, [])
            loop = {"id": "again", "body": body if len(body) > 1 or r.random() < 0.5 else body[0], "max_iters": r.randint(1, 3)}
            if r.random() < 0.6:
                loop["until"] = self.condition()
            graph["loops"] = [loop]
        self.r.shuffle(self.nodes)
        doc = {"name": "random", "version": "0.1.0", "state": {"schema": self.schema}, "graph": graph}
        if self.parallel:
            doc["runtime"] = {"concurrency": 2}
        files = {"experience.yaml": json.dumps(doc, indent=1, ensure_ascii=False), **self.files}
        compat = "compat: upstream\n" if r.random() < 0.3 else ""
        return compat + "".join("-- %s --\n%s\n" % (name, text.rstrip("\n") if name.endswith(".yaml") else text) for name, text in files.items())


for seed in range(int(sys.argv[1]), int(sys.argv[2]) + 1):
    print(Experience(seed).make() + "\n====")
