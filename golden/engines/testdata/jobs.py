"""jobs.serve(run) calls run(job) for every line of standard input, each in a process of its own with the job's folder and
environment, and prints what it returns: {"exit": 0, "output": ..., "error": ""}. What it raises is exit 1. Modules of the engine that
a job imports are there for the next ones: engines import much of themselves only when they run."""

import dataclasses
import gc
import importlib
import json
import os
import signal
import sys


def plain(value):
    """JSON of a value, in which models and dataclasses are mappings and what JSON has no form for is text."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain(v) for v in value), key=str)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return plain(dataclasses.asdict(value))
    if hasattr(value, "model_dump"):
        return plain(value.model_dump())
    return str(value)


def installed(before):
    """The names of the modules that are new since and that no project brings, in the order in which they were imported."""
    prefixes = (sys.prefix + os.sep, sys.base_prefix + os.sep)
    return [name for name, m in list(sys.modules.items()) if name not in before and (getattr(m, "__file__", None) or "").startswith(prefixes)]


def keep(names):
    """Imports modules here, so that jobs need not: a job that runs takes a tenth of the time that these imports do."""
    for name in names:
        try:
            importlib.import_module(name)
        except BaseException:
            pass  # it is only there for the job that had it
    if names:
        gc.freeze()


def serve(run, seconds=120):
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # engines print
    for line in sys.stdin:
        before = set(sys.modules)
        job = json.loads(line)
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            signal.alarm(seconds)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.chdir(job["dir"])
            os.environ.update(job["env"])
            sys.path.insert(0, job["dir"])
            try:
                result = {"exit": 0, "output": plain(run(job)), "error": ""}
            except BaseException as e:
                result = {"exit": 1, "output": plain(getattr(e, "output", None)), "error": f"{type(e).__name__}: {e}"}
            with os.fdopen(write, "w") as f:
                print(json.dumps(installed(before)), json.dumps(result), sep="\n", file=f)
            sys.stdout.flush()
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as f:
            modules, text = f.readline(), f.readline().strip()
        os.waitpid(child, 0)
        out.write((text or json.dumps({"exit": 1, "output": None, "error": "killed"})) + "\n")
        out.flush()
        keep(json.loads(modules or "[]"))
