"""Runs graphs as `stargraph run` does. That command has no tools of projects and grants nothing; here the tools of the case are
registered and every capability is granted, as a host of the engine does."""

import asyncio
import importlib
import os
import sys
import tempfile
from pathlib import Path

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else it asks a server for prices

import dspy
import jobs
import yaml
from stargraph.authoring import compile_authoring, is_authoring_format
from stargraph.checkpoint.sqlite import SQLiteCheckpointer
from stargraph.fathom import build_ir_routing
from stargraph.graph import Graph, GraphRun
from stargraph.ir import IRDocument
from stargraph.nodes.registry import build_node_registry
from stargraph.registry.tools import ToolRegistry
from stargraph.tools.builtin import seed_builtin_tools


class Granted:
    """Every capability."""

    def check(self, spec):
        return True

    has = permits = check


def register(registry):
    """Registers the decorated functions of the Python files of the folder."""
    for file in sorted(Path(".").rglob("*.py")):
        if "stargraph.tools" not in file.read_text():
            continue
        parts = list(file.with_suffix("").parts)
        while parts and not parts[0].isidentifier() or parts[:1] == ["src"]:
            parts = parts[1:]
        for value in list(vars(importlib.import_module(".".join(p for p in parts if p != "__init__"))).values()):
            if callable(value) and getattr(value, "spec", None) is not None and value.spec.namespace != "std":
                registry.register(value)


async def drive(run, checkpointer, answers):
    final = []

    async def read():
        while True:
            event = await run.bus.receive()
            if event.type == "waiting_for_input":
                await run.respond(response={"answer": answers.get(event.prompt, "")}, actor="cli")
            if event.type == "result":
                final.append(event.final_state)
                return

    await checkpointer.bootstrap()
    reader = asyncio.ensure_future(read())
    summary = await run.start()
    await reader
    await checkpointer.close()
    return summary, final[0]


def run(job):
    file = Path(job["file"])
    document = yaml.safe_load(file.read_text())
    ir = compile_authoring(document, default_id=file.stem) if is_authoring_format(document) else IRDocument.model_validate(document)
    registry = seed_builtin_tools(ToolRegistry())
    sys.path[:0] = ["src"]
    register(registry)
    graph = Graph(ir, registry=registry)
    state = graph.state_schema(**{**zeros(ir), **job["input"]})
    dspy.configure_cache(enable_disk_cache=False, enable_memory_cache=False)
    dspy.configure(lm=dspy.LM("openai/" + os.environ["OPENAI_MODEL"], api_base=os.environ["OPENAI_BASE_URL"], api_key="key", num_retries=0))
    checkpointer = SQLiteCheckpointer(Path(tempfile.mkdtemp()) / "run.sqlite")
    nodes = build_node_registry(ir.nodes, ir_dir=file.parent.resolve())
    summary, final = asyncio.run(drive(GraphRun(run_id="run", graph=graph, initial_state=state, node_registry=nodes, checkpointer=checkpointer, fathom=build_ir_routing(ir, graph.state_schema), capabilities=Granted()), checkpointer, job.get("answers") or {}))
    if summary.status != "done":
        raise RuntimeError(summary.status)
    return final


def zeros(ir):
    """What the command gives to fields that nobody gives."""
    return {name: {"str": "", "int": 0, "bool": False, "bytes": b""}[kind] for name, kind in (ir.state_schema or {}).items()} if ir.state_class is None else {}


jobs.serve(run)
