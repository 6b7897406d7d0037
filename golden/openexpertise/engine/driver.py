"""Runs experiences by reference.mjs, an interpreter of its own, as the project's engine is in no registry."""

import json
import subprocess
from pathlib import Path

import jobs
from ruamel.yaml import YAML

REFERENCE = Path(__file__).with_name("reference.mjs")


class Ended(Exception):
    """A run that the command ends with exit code 1."""

    def __init__(self, output, error):
        super().__init__(error or output["status"])
        self.output = output


def load(file):
    """The document of an experience, with those that its nodes run."""
    experience = YAML(typ="safe", pure=True).load(file.read_text())
    for node in experience["graph"]["nodes"]:
        if node.get("kind") == "experience":
            child = file.parent / node["impl"]
            child = child / "experience.yaml" if child.is_dir() else child
            node.update(experience=load(child), dir=str(child.parent.resolve()))
    return experience


def run(job):
    request = {"experience": load(Path(job["file"])), "upstream": job["compat"] == "upstream"}
    done = subprocess.run(["node", str(REFERENCE)], input=json.dumps(request, default=str), capture_output=True, text=True)
    out = json.loads(done.stdout or json.dumps({"error": done.stderr}))
    error = out.pop("error", "")
    if error or out["status"] != "success":
        raise Ended(out if "status" in out else None, error)
    return out


jobs.serve(run)
