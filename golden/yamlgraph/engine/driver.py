"""Runs graphs as `yamlgraph graph run` does, with inputs of any type, and answers its questions. Its own books, and the lists
that are empty, are left out of the state."""

from argparse import Namespace

import jobs

try:
    from yamlgraph.cli import graph_run_helpers
    from yamlgraph.compile.graph_loader import compile_graph, get_checkpointer_for_graph, load_graph_config
except ImportError:  # 0.4
    graph_run_helpers = None
    from yamlgraph.graph_loader import compile_graph, get_checkpointer_for_graph, load_graph_config
import langchain_openai  # noqa: F401  imported once, not in every child
from langchain_core.messages import BaseMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

# What the engine keeps for itself.
BOOKS = ("_agent_iterations", "_agent_limit_reached", "_loop_counts", "_loop_limit_reached", "_map_accounting", "_map_open", "_map_verdict", "thread_id")


def message(m):
    if not isinstance(m, BaseMessage):
        return m
    out = {"type": m.type, "content": m.content}
    if getattr(m, "tool_calls", None):
        out["tool_calls"] = [{"name": c["name"], "args": c["args"]} for c in m.tool_calls]
    return out


def error(e):
    return {"node": e.node, "message": e.message} if hasattr(e, "node") else e


def run(job):
    config = load_graph_config(job["file"])
    app = compile_graph(config).compile(checkpointer=get_checkpointer_for_graph(config) or (InMemorySaver() if job["answers"] else None))
    state, options = dict(job["input"]), {}
    if graph_run_helpers:
        state, options, *_ = graph_run_helpers._build_run_config(Namespace(thread=None), config, state)
    if app.checkpointer:
        options.setdefault("configurable", {})["thread_id"] = "t"
    state = app.invoke(state, config=options or None)
    while "__interrupt__" in state:
        question = state["__interrupt__"][0].value
        answer = job["answers"].get(question if isinstance(question, str) else str(question))
        if answer is None:
            raise LookupError(f"there is no answer to {question}")
        state = app.invoke(Command(resume=answer), config=options)
    state["messages"] = [message(m) for m in state.get("messages") or []]
    state["errors"] = [error(e) for e in state.get("errors") or []]
    return {k: v for k, v in state.items() if k not in BOOKS and not k.startswith("__") and not (v == [] and (k in ("messages", "errors") or k.endswith("_failures")))}


jobs.serve(run)
