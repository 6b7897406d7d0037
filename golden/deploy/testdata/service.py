"""Pays an expense with a client that was generated from the OpenAPI document, and another over MCP."""
import asyncio
import sys

import mcp
from mcp import types
from served import Client
from served.api.default import answer_question
from served.api.expense import begin_expense
from served.models import AnswerQuestionBody, ExpenseInput, State

c = Client(base_url=sys.argv[1])
waits = begin_expense.sync(client=c, body=ExpenseInput(employee="ada", purpose="tea", euros=3), prefer="wait=30")
assert waits.state == State.WAITING and waits.questions[0].question == "Pay ada 3 euros for tea?", waits
paid = answer_question.sync(waits.id, waits.questions[0].key, client=c, body=AnswerQuestionBody(answer="approve"), prefer="wait=30")
assert paid.state == State.SUCCEEDED, paid


async def person(_context, _params):
    return types.ElicitResult(action="accept", content={"answer": "approve"})


async def main():
    async with mcp.Client(sys.argv[1] + "/mcp", elicitation_callback=person) as c:
        paid = await c.call_tool("expense", {"employee": "bob", "purpose": "tea", "euros": 4})
        assert paid.structured_content["output"] == {"decision": "approve", "payment": "bob-4"}, paid


asyncio.run(main())
print("well")
