// A rerun from a node with an edit that the file does not have.
import { useState } from "preact/hooks";
import { param, post } from "./api";
import { useData } from "./pages";
import { Trouble } from "./parts";
import { go, set } from "./route";
import { line } from "./text";

interface NodeText { prompt?: string; tool?: string; with?: string; agent_tools?: string; tools: string[] }

export function Rerun({ run, node, file, input, open }: { run: string; node: string; file: string; input?: unknown; open: boolean }) {
  return (
    <section><h2>Rerun from here</h2>
      {open ? <Form run={run} node={node} file={file} input={input} /> : <button class="btn" onClick={() => set("rerun", "1")}>Edit and rerun <kbd>x</kbd></button>}
    </section>
  );
}

function Form({ run, node, file, input }: { run: string; node: string; file: string; input?: unknown }) {
  const { data, error } = useData<NodeText>("node?file=" + param(file) + "&node=" + param(node), "", []);
  const [now, change] = useState<Record<string, string>>({});
  const [bad, say] = useState("");
  const [busy, work] = useState(false);
  const from = node.split("/")[0];
  const was = input && typeof input === "object" ? (input as Record<string, unknown>) : {};
  const before = JSON.stringify(was, null, 2);
  const submit = (e: Event) => {
    e.preventDefault();
    const fields: Record<string, string> = {};
    try {
      for (const [k, v] of Object.entries(JSON.parse(now.input ?? before) as Record<string, unknown>)) {
        if (JSON.stringify(v) !== JSON.stringify(was[k])) fields["input." + k] = typeof v === "string" ? v : JSON.stringify(v);
      }
    } catch {
      say("the input is not JSON");
      return;
    }
    const different = (["prompt", "tool", "with", "agent_tools"] as const).filter((f) => now[f] !== undefined && now[f] !== data?.[f]);
    const edit = different.length ? { kind: "node", file, node, ...Object.fromEntries(different.map((f) => [f, now[f]])) } : undefined;
    work(true);
    say("");
    post<{ run: string }>("runs/" + param(run) + "/rerun", { from, set: fields, edit })
      .then((r) => go("/d/" + param(run) + "/" + param(r.run) + (edit ? "?op=" + param(JSON.stringify(edit)) : "")))
      .catch((e: Error) => { say(e.message); work(false); });
  };
  const area = (name: string, label: string, text: string) => (
    <label><span class="dim">{label}</span><textarea name={name} rows={Math.min(12, text.split("\n").length + 1)} value={now[name] ?? text} onInput={(e) => change({ ...now, [name]: e.currentTarget.value })} /></label>
  );
  if (error) return <Trouble text={error} />;
  if (!data) return null;
  return (
    <form class="rerun" onSubmit={submit} aria-label="Rerun">
      <p class="dim">A new run keeps the results of other nodes, and executes <code>{line(from)}</code> and what depends on it again. The file stays as it is.</p>
      {!!data.prompt && area("prompt", "prompt", data.prompt)}
      {!!data.tool && <label class="pick">tool{data.tools.some((t) => t.includes("@")) && " and version"} <select name="tool" value={now.tool ?? data.tool} onChange={(e) => change({ ...now, tool: e.currentTarget.value })}>{[...new Set([data.tool, ...data.tools])].map((t) => <option>{t}</option>)}</select></label>}
      {!!data.with && area("with", "with, in YAML", data.with)}
      {!!data.agent_tools && area("agent_tools", "tools of the agent, in YAML", data.agent_tools)}
      {area("input", "input of the workflow, in JSON", before)}
      <div class="flex"><button class="btn main" disabled={busy}>{busy ? "Starting" : "Rerun"}</button><button type="button" class="btn" onClick={() => set("rerun", "")}>Close</button></div>
      {bad && <Trouble text={bad} />}
    </form>
  );
}
