"""Calls the workflow of a server with the official Python SDK, over standard input and output or HTTP, in both protocols."""
import asyncio
import sys

import mcp
from mcp import types


def clients(asked):
    async def person(_context, params):
        asked.append(params.message)
        return types.ElicitResult(action="accept", content={"answer": "yes"})

    server = sys.argv[1] if sys.argv[1].startswith("http://") else mcp.StdioServerParameters(command=sys.argv[1], args=sys.argv[2:], env={"SERVED_PROGRAM": "1"})
    for mode in ("legacy", "auto"):
        yield mode, mcp.Client(server, mode=mode), mcp.Client(server, mode=mode, elicitation_callback=person)


async def main():
    asked = []
    for mode, silent, person in clients(asked):
        async with silent as c:
            tools = {t.name: t for t in (await c.list_tools()).tools}
            tool = tools["pay"]
            assert tool.input_schema["required"] == ["order"], tool
            assert tool.annotations.destructive_hint and not tool.annotations.read_only_hint, tool
            done = await c.call_tool("pay", {"order": "small-" + mode})
            assert done.structured_content["output"] == {"paid": "small-" + mode}, done
            waits = await c.call_tool("pay", {"order": "large-" + mode})
            assert waits.structured_content["state"] == "waiting" and not waits.is_error, waits
            wrong = await c.call_tool("pay", {"order": 1})
            assert wrong.is_error and "/order: " in wrong.content[0].text, wrong
        async with person as c:
            done = await c.call_tool("run_result", {"run": waits.structured_content["run"]})
            assert done.structured_content["output"] == {"paid": "large-" + mode}, done
    assert asked == ["Pay large-legacy?", "Pay large-auto?"], asked
    print("well")


asyncio.run(main())
