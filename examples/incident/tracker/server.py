"""A ticket tracker that speaks MCP over its standard input and output, with nothing but Python's standard library."""

import json
import sys

TICKETS = {"connection to db-1 refused": "OPS-17"}

SEARCH = {
    "name": "search",
    "description": "Finds the ticket of a message.",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"], "additionalProperties": False},
    "outputSchema": {"type": "object", "properties": {"ticket": {"type": ["string", "null"]}}, "required": ["ticket"]},
}


def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "tracker", "version": "1"}}
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": [SEARCH]}
    if method == "tools/call" and params["name"] == "search":
        found = {"ticket": TICKETS.get(params["arguments"]["text"])}
        return {"content": [{"type": "text", "text": json.dumps(found)}], "structuredContent": found}
    return None


for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    reply = {"jsonrpc": "2.0", "id": request["id"]}
    result = answer(request["method"], request.get("params", {}))
    if result is None:
        reply["error"] = {"code": -32601, "message": "no such method"}
    else:
        reply["result"] = result
    print(json.dumps(reply), flush=True)
