"""Begins, reads, answers and cancels runs with a client that was generated from the OpenAPI document, and nothing else."""
import sys

from served import Client
from served.api.default import answer_question, cancel_run, get_run, list_questions, list_runs
from served.api.pay import begin_pay
from served.models import AnswerQuestionBody, PayInput, Problem, State

c = Client(base_url=sys.argv[1])

done = begin_pay.sync_detailed(client=c, body=PayInput(to="ada", euros=7), prefer="wait=30", idempotency_key="k1")
assert done.status_code == 201 and done.parsed.state == State.SUCCEEDED and done.parsed.output.paid == "ada", done
again = begin_pay.sync_detailed(client=c, body=PayInput(to="ada", euros=7), prefer="wait=30", idempotency_key="k1")
assert again.status_code == 200 and again.parsed.id == done.parsed.id, again

wrong = begin_pay.sync(client=c, body=PayInput(to="", euros=7))
assert isinstance(wrong, Problem) and wrong.code == "VALIDATION_ERROR" and wrong.errors[0].pointer == "/to", wrong

waits = begin_pay.sync(client=c, body=PayInput(to="bob", euros=700), prefer="wait=30")
assert waits.state == State.WAITING and waits.questions[0].question == "Pay bob?", waits
assert [q.run for q in list_questions.sync(client=c).questions] == [waits.id]
answered = answer_question.sync(waits.id, waits.questions[0].key, client=c, body=AnswerQuestionBody(answer="yes"), prefer="wait=30")
assert answered.state == State.SUCCEEDED, answered

stops = begin_pay.sync(client=c, body=PayInput(to="eve", euros=700), prefer="wait=30")
cancelled = cancel_run.sync(stops.id, client=c, prefer="wait=30")
assert cancelled.state == State.CANCELLED, cancelled
assert get_run.sync(stops.id, client=c).state == State.CANCELLED
assert [r.id for r in list_runs.sync(client=c, state=State.SUCCEEDED).runs] == [waits.id, done.parsed.id]
missing = get_run.sync("pay-none", client=c)
assert isinstance(missing, Problem) and missing.status == 404, missing
print("well")
