"""The workloads of bench/workload on LangGraph for Python. The protocol is that of ../go/main.go."""

import json
import operator
import sys
from typing import Annotated, TypedDict

import httpx
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import Send

NODES, ITEMS, TOKEN = 100, 1000, "a secret"


def hold(ok, got):
    if not ok:
        raise ValueError(f"the result is wrong: {got}")


def w1(_server):
    class State(TypedDict):
        count: int
        text: str

    graph = StateGraph(State)
    for i in range(NODES):
        graph.add_node(f"n{i}", lambda s: {"count": s["count"] + 1})
    graph.add_edge(START, "n0")
    for i in range(1, NODES):
        graph.add_edge(f"n{i - 1}", f"n{i}")
    graph.add_edge(f"n{NODES - 1}", END)
    app = graph.compile()

    def run():
        out = app.invoke({"count": 0, "text": "hello"}, {"recursion_limit": 2 * NODES})
        hold(out["count"] == NODES, out)

    return run


def w2(_server):
    class State(TypedDict):
        items: list
        out: Annotated[list, operator.add]

    graph = StateGraph(State)
    graph.add_node("plan", lambda s: {})
    graph.add_node("double", lambda item: {"out": [{"id": item["id"], "value": item["id"] * 2}]})
    graph.add_edge(START, "plan")
    graph.add_conditional_edges("plan", lambda s: [Send("double", item) for item in s["items"]], ["double"])
    graph.add_edge("double", END)
    app = graph.compile()
    items = [{"id": i} for i in range(ITEMS)]

    def run():
        out = app.invoke({"items": items})["out"]
        hold(len(out) == ITEMS and out[17]["id"] == 17, len(out))

    return run


def w5(server):
    client = httpx.Client(timeout=15, headers={"Authorization": f"Bearer {TOKEN}", "Accept": "application/json"})

    class State(TypedDict):
        pull: dict

    graph = StateGraph(State)
    graph.add_node("fetch", lambda s: {"pull": client.get(f"{server}/pulls/42").raise_for_status().json()})
    graph.add_edge(START, "fetch")
    graph.add_edge("fetch", END)
    app = graph.compile()

    def run():
        out = app.invoke({"pull": {}})
        hold(out["pull"]["id"] == 42, out)

    return run


def w7(server):
    @tool
    def add(a: int, b: int) -> str:
        """Adds two numbers."""
        return json.dumps({"sum": a + b})

    model = ChatOpenAI(model="fake", api_key=TOKEN, base_url=server).bind_tools([add])
    graph = StateGraph(MessagesState)
    graph.add_node("agent", lambda s: {"messages": [model.invoke(s["messages"])]})
    graph.add_node("tools", ToolNode([add]))
    graph.add_edge(START, "agent")
    graph.add_conditional_edges("agent", tools_condition)
    graph.add_edge("tools", "agent")
    app = graph.compile()

    def run():
        out = app.invoke({"messages": [("user", "turns=10;")]}, {"recursion_limit": 60})
        hold(out["messages"][-1].content == "done", out["messages"][-1].content)

    return run


made = {}
for line in sys.stdin:
    try:
        workload, n, server = line.split()
        if workload not in made:
            made[workload] = {"W1": w1, "W2": w2, "W5": w5, "W7": w7}[workload](server)
        for _ in range(int(n)):
            made[workload]()
        print("ok", flush=True)
    except Exception as e:
        print(json.dumps(f"{type(e).__name__}: {e}"), flush=True)
