"""Reads Python source with Python's own parser, and runs none of it.

One JSON request a line on stdin: {"source": text}, answered by one line on stdout. The first line of output says which
Python this is and where its own modules are.
"""
import ast
import json
import sys

DEPTH = 60  # of expressions within expressions; deeper ones are not described


def expr(n, depth=0):
    if n is None:
        return None
    out = {"p": [n.lineno, n.col_offset, n.end_lineno, n.end_col_offset]}
    if depth > DEPTH:
        return out
    d = depth + 1
    if isinstance(n, ast.Name):
        out.update(t="name", s=n.id)
    elif isinstance(n, ast.Attribute):
        out.update(t="attr", s=n.attr, x=expr(n.value, d))
    elif isinstance(n, ast.Subscript):
        index = n.slice
        if type(index).__name__ == "Index":  # Python 3.8
            index = index.value
        items = index.elts if isinstance(index, ast.Tuple) else [index]
        out.update(t="sub", x=expr(n.value, d), e=[expr(e, d) for e in items if hasattr(e, "lineno")])
    elif isinstance(n, (ast.Tuple, ast.List)):
        out.update(t="list", e=[expr(e, d) for e in n.elts])
    elif isinstance(n, ast.BinOp) and isinstance(n.op, ast.BitOr):
        out.update(t="or", e=[expr(n.left, d), expr(n.right, d)])
    elif isinstance(n, ast.Call):
        out.update(t="call", x=expr(n.func, d), e=[expr(e, d) for e in n.args],
                   k=[{"name": k.arg, "x": expr(k.value, d)} for k in n.keywords if k.arg])
    elif isinstance(n, ast.Dict):
        out.update(t="dict", s=str(len(n.keys)), k=[{"name": k.value, "x": expr(v, d)} for k, v in zip(n.keys, n.values)
                                if isinstance(k, ast.Constant) and isinstance(k.value, str)])
    elif isinstance(n, ast.Lambda) and not (n.args.args or n.args.kwonlyargs):
        out.update(t="lambda", x=expr(n.body, d))
    elif isinstance(n, ast.UnaryOp) and isinstance(n.op, ast.USub) and isinstance(n.operand, ast.Constant):
        number(out, n.operand.value, -1)
    elif isinstance(n, ast.Constant):
        constant(out, n.value, d)
    return out


def constant(out, v, depth):
    if v is None:
        out["t"] = "none"
    elif v is ...:
        out["s"] = "..."
    elif isinstance(v, bool):
        out.update(t="bool", s="true" if v else "false")
    elif isinstance(v, str):
        try:
            v.encode()
        except UnicodeEncodeError:  # half of a character
            return
        out.update(t="str", s=v)
        if len(v) <= 1000:  # it may be an annotation
            try:
                out["x"] = expr(ast.parse(v.strip(), mode="eval").body, depth + 10)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                pass
    else:
        number(out, v, 1)


def number(out, v, sign):
    if isinstance(v, bool):
        return
    if isinstance(v, int) and v.bit_length() < 64:
        out.update(t="int", s=str(sign * v))
    elif isinstance(v, float) and v == v and abs(v) != float("inf"):
        out.update(t="float", s=repr(sign * v))


class Yields(ast.NodeVisitor):
    """Looks for a yield of the function itself."""

    found = False

    def visit_Yield(self, n):
        self.found = True

    visit_YieldFrom = visit_Yield

    def visit_FunctionDef(self, n):
        pass

    visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = visit_FunctionDef


def yields(n):
    v = Yields()
    for s in n.body:
        v.visit(s)
    return v.found


def function(n, weak):
    a = n.args
    params = []

    def add(args, kind, defaults):
        for p, default in zip(args, defaults):
            params.append({"name": p.arg, "kind": kind, "p": [p.lineno, p.col_offset, p.lineno, p.col_offset + len(p.arg.encode())],
                           "type": expr(p.annotation), "default": expr(default)})

    plain = a.posonlyargs + a.args
    defaults = [None] * (len(plain) - len(a.defaults)) + list(a.defaults)
    add(a.posonlyargs, "positional", defaults)
    add(a.args, "", defaults[len(a.posonlyargs):])
    add(a.kwonlyargs, "keyword", a.kw_defaults)
    return {"k": "def", "name": n.name, "weak": weak, "p": [n.lineno, n.col_offset, n.lineno, n.col_offset], "params": params,
            "rest": a.kwarg is not None, "async": isinstance(n, ast.AsyncFunctionDef), "yields": yields(n),
            "type": expr(n.returns), "doc": ast.get_docstring(n) or "", "marks": [expr(d) for d in n.decorator_list]}


def key(n):
    """The text of a key of a mapping, "self.x" or "self.x.y" for one that the instance has; None: it is not known."""
    if isinstance(n, ast.Constant) and isinstance(n.value, str):
        return n.value
    path = []
    while isinstance(n, ast.Attribute):
        path.insert(0, n.attr)
        n = n.value
    return ".".join(["self"] + path) if isinstance(n, ast.Name) and n.id == "self" and 0 < len(path) < 3 else None


def made(body):
    """The mappings that a function makes in a variable, by name: their keys, None where not all of them are known."""
    out = {}

    def add(name, keys):
        known = out.setdefault(name, [])
        out[name] = None if known is None or keys is None else known + keys

    def literal(v):
        return [key(k) for k in v.keys] if isinstance(v, ast.Dict) and all(map(key, v.keys)) else None

    def target(t, v):
        if isinstance(t, ast.Name):
            add(t.id, literal(v))
        elif isinstance(t, ast.Subscript) and isinstance(t.value, ast.Name):
            add(t.value.id, [key(t.slice)] if key(t.slice) else None)

    for n in (n for s in body for n in ast.walk(s)):
        if isinstance(n, ast.Assign):
            for t in n.targets:
                target(t, n.value)
        elif isinstance(n, (ast.AnnAssign, ast.NamedExpr)) and n.value is not None:
            target(n.target, n.value)
        elif isinstance(n, ast.AugAssign):
            target(n.target, None)
        elif isinstance(n, ast.Call):
            f = n.func
            if isinstance(f, ast.Attribute) and isinstance(f.value, ast.Name) and f.attr in ("update", "setdefault", "__setitem__"):
                add(f.value.id, literal(n.args[0]) if f.attr == "update" and len(n.args) == 1 and not n.keywords else None)
            for a in n.args:
                if isinstance(a, ast.Name) and a.id in out:
                    add(a.id, None)  # whoever gets it may add to it
        elif isinstance(n, (ast.For, ast.AsyncFor, ast.comprehension)) and isinstance(n.target, ast.Name):
            add(n.target.id, None)
    return out


class Uses(ast.NodeVisitor):
    """What a method does with its first parameter after self: the attributes that it reads, and the keys of what it returns."""

    def __init__(self, name, body):
        self.name, self.reads, self.all, self.keys, self.any = name, [], False, [], False
        self.made = made(body)

    def visit_Attribute(self, n):
        if isinstance(n.value, ast.Name) and n.value.id == self.name and isinstance(n.ctx, ast.Load):
            self.reads.append(n.attr)
        else:
            self.generic_visit(n)

    def visit_Name(self, n):
        self.all = self.all or n.id == self.name

    def visit_Return(self, n):
        v = n.value
        if isinstance(v, ast.Dict) and all(map(key, v.keys)):
            self.keys += map(key, v.keys)
        elif isinstance(v, ast.Name) and self.made.get(v.id) is not None:
            self.keys += self.made[v.id]
        elif v is not None and not (isinstance(v, ast.Constant) and v.value is None):
            self.any = True
        self.generic_visit(n)

    def inner(self, n):
        saved = self.keys, self.any
        self.generic_visit(n)
        self.keys, self.any = saved

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = inner


def method(n):
    params = n.args.posonlyargs + n.args.args
    u = Uses(params[1].arg if len(params) > 1 else "", n.body)
    for s in n.body:
        u.visit(s)
    out = {"name": n.name, "p": [n.lineno, n.col_offset, n.lineno, n.col_offset], "async": isinstance(n, ast.AsyncFunctionDef),
           "reads": sorted(set(u.reads)), "all": u.all, "writes": list(dict.fromkeys(u.keys)), "any": u.any,
           "abstract": any(expr(d).get("s") == "abstractmethod" for d in n.decorator_list)}
    if n.name == "__init__":
        f = function(n, False)
        out.update(params=f["params"][1:], rest=f["rest"], keeps=kept(n.body))
    return out


def kept(body):
    """The attributes that are parameters: `self.x = x`."""
    return {t.attr: s.value.id for s in body if isinstance(s, (ast.Assign, ast.AnnAssign)) and isinstance(s.value, ast.Name)
            for t in (s.targets if isinstance(s, ast.Assign) else [s.target])
            if isinstance(t, ast.Attribute) and isinstance(t.value, ast.Name) and t.value.id == "self"}


def members(body):
    for s in body:
        if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name):
            yield {"name": s.target.id, "p": place(s.target), "type": expr(s.annotation), "default": expr(s.value)}
        elif isinstance(s, ast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], ast.Name):
            yield {"name": s.targets[0].id, "p": place(s.targets[0]), "default": expr(s.value)}


def place(n):
    return [n.lineno, n.col_offset, n.end_lineno, n.end_col_offset]


def statements(body, out, weak=False):
    for s in body:
        if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef)):
            out.append(function(s, weak))
        elif isinstance(s, ast.ClassDef):
            out.append({"k": "class", "name": s.name, "weak": weak, "p": [s.lineno, s.col_offset, s.lineno, s.col_offset],
                        "bases": [expr(b) for b in s.bases], "words": [{"name": k.arg, "x": expr(k.value)} for k in s.keywords if k.arg],
                        "marks": [expr(d) for d in s.decorator_list], "params": list(members(s.body)), "doc": ast.get_docstring(s) or "",
                        "methods": [method(f) for f in s.body if isinstance(f, (ast.FunctionDef, ast.AsyncFunctionDef))]})
        elif isinstance(s, ast.Assign):
            for t in s.targets:
                if isinstance(t, ast.Name):
                    out.append({"k": "value", "name": t.id, "weak": weak, "p": place(t), "x": expr(s.value)})
        elif isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name):
            out.append({"k": "value", "name": s.target.id, "weak": weak, "p": place(s.target), "x": expr(s.value)})
        elif type(s).__name__ == "TypeAlias":
            out.append({"k": "value", "name": s.name.id, "weak": weak, "p": place(s.name), "x": expr(s.value)})
        elif isinstance(s, ast.Import):
            for n in s.names:
                out.append({"k": "import", "name": n.asname or n.name.split(".")[0], "weak": weak, "p": place(s),
                            "module": n.name if n.asname else n.name.split(".")[0]})
        elif isinstance(s, ast.ImportFrom):
            for n in s.names:
                out.append({"k": "from", "name": n.asname or n.name, "weak": weak, "p": place(s), "module": s.module or "",
                            "level": s.level, "member": n.name})
        elif isinstance(s, ast.If):
            statements(s.body, out, weak)
            statements(s.orelse, out, True)
        elif isinstance(s, ast.With):
            statements(s.body, out, weak)
        elif isinstance(s, ast.Try):
            statements(s.body, out, weak)
            for h in s.handlers:
                statements(h.body, out, True)
            statements(s.orelse, out, weak)
            statements(s.finalbody, out, weak)


def imports(tree):
    for n in ast.walk(tree):
        if isinstance(n, ast.Import):
            for m in n.names:
                yield {"module": m.name, "level": 0, "names": []}
        elif isinstance(n, ast.ImportFrom):
            yield {"module": n.module or "", "level": n.level, "names": [m.name for m in n.names]}


def read(source):
    try:
        tree = ast.parse(source)
    except SyntaxError as e:
        return {"error": e.msg or "invalid syntax", "line": e.lineno or 1, "col": e.offset or 1}
    except (ValueError, RecursionError, MemoryError) as e:
        return {"error": str(e) or type(e).__name__, "line": 1, "col": 1}
    out = []
    try:
        statements(tree.body, out)
        return {"body": out, "imports": list(imports(tree))}
    except RecursionError:
        return {"error": "it is nested too deeply", "line": 1, "col": 1}


def hello():
    import site
    import sysconfig
    own = [p for p in sys.path if p]
    try:
        own += site.getsitepackages()
        own.append(site.getusersitepackages())
    except Exception:  # an interpreter without such folders
        pass
    return {"version": "%d.%d" % sys.version_info[:2], "library": sysconfig.get_path("stdlib"), "path": own,
            "builtin": list(sys.builtin_module_names)}


def main():
    stdin = open(0, encoding="utf-8", newline="\n", closefd=False)
    stdout = open(1, "w", encoding="utf-8", newline="\n", closefd=False)

    def say(v):
        stdout.write(json.dumps(v) + "\n")
        stdout.flush()

    say(hello())
    for line in stdin:
        say(read(json.loads(line)["source"]))


main()
