"""Runs workflows as `sirenspec run --output json` does, and gives the buckets of the context besides. Questions without an answer
time out at once, as they do in a program that nobody watches."""

import asyncio

import jobs
from sirenspec.core import executor
from sirenspec.core.context import WorkflowContext
from sirenspec.yaml.parser import load_workflow

contexts = []


class Context(WorkflowContext):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        contexts.append(self)


executor.WorkflowContext = Context


class Failed(Exception):
    pass


def run(job):
    workflow = load_workflow(job["file"])
    message = job["input"].get("message") or (workflow.input.message if workflow.input else None)
    if not message:
        raise ValueError("No input provided.")

    async def answer(prompt):
        if prompt not in (job["answers"] or {}):
            raise TimeoutError
        return job["answers"][prompt]

    trace = asyncio.run(executor.execute(workflow, message, human_input_fn=answer))
    output = {"status": trace["summary"]["status"], "working": contexts[0].working, "output": contexts[0].output}
    if output["status"] == "failed":
        failed = Failed(str([n.get("error") for n in trace["nodes"] if n.get("error")]))
        failed.output = output
        raise failed
    return output


jobs.serve(run)
