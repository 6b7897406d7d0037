// An agent of a workflow: its tools, its pins, its limits and what the latest run has used of them. Each change is an edit that is shown first.
import { useState } from "preact/hooks";
import { param } from "./api";
import { Proposal, type Run, useData } from "./pages";
import { Badge, Mark, Meter, Trouble, word } from "./parts";
import { Advice, Owner, type Secret } from "./secrets";
import { count, dollars, line } from "./text";

interface Tool { name: string; full_name: string; description?: string; version: string; category?: string; tags?: string[]; effects: string; deprecated?: string; on: boolean; secrets?: Secret[] }
interface Pin { name: string; tool: string; strategy: string; on_missing: string; readers: string[] | null }
interface Limit { name: string; value: string }
export interface Agent { node: string; name: string; model: string; tools: Tool[]; pins: Pin[]; policy: string[]; limits: Limit[] }

const strategies = ["latest", "first_success"];
const missing = ["skip", "fail", "keep"];

export function AgentPanel({ agent, file, workflow, native, off, onWritten }: { agent: Agent; file: string; workflow: string; native: boolean; off?: boolean; onWritten: () => void }) {
  const [text, search] = useState("");
  const [category, pick] = useState("");
  const [old, showOld] = useState(false);
  const [pin, open] = useState("");
  const [turn, switchOf] = useState("");
  const [swap, swapTo] = useState("");
  const [op, change] = useState({ name: "", strategy: "latest", on_missing: "skip" });
  const categories = [...new Set(agent.tools.map((t) => t.category).filter(Boolean))] as string[];
  const words = text.toLowerCase();
  // other is the version of a tool that is on, in whose place this one can be.
  const other = (t: Tool) => agent.tools.find((o) => o.on && o !== t && o.full_name.split("@")[0] === t.full_name.split("@")[0]);
  const list = agent.tools.filter((t) => (old || !t.deprecated || t.on) && (!category || t.category === category) && [t.name, t.full_name, t.description, t.effects, ...(t.tags ?? [])].join(" ").toLowerCase().includes(words));
  return (
    <section class="agent">
      <h2>{line(agent.node)} <small>{agent.name !== agent.model && "agent " + line(agent.name) + ", "}model {line(agent.model)}{agent.policy.length > 0 && ": " + agent.policy.join(", ")}</small></h2>
      <div class="bar">
        <label class="field grow"><span class="vh">Search tools</span><input type="search" placeholder="Search tools" value={text} onInput={(e) => search(e.currentTarget.value)} /></label>
        {categories.map((c) => <button class="chip" aria-pressed={c === category} onClick={() => pick(c === category ? "" : c)}>{line(c)}</button>)}
        <label class="pick"><input type="checkbox" checked={old} onChange={(e) => showOld(e.currentTarget.checked)} /> deprecated</label>
      </div>
      <ul class="tools">
        {list.map((t) => (
          <li>
            <div class="flex wrap"><Mark state={t.on ? "done" : "idle"} /><b>{line(t.name)}</b><code class="faint">{line(t.full_name)}</code>{t.effects && <Badge>{t.effects}</Badge>}{t.on ? <Badge tone="done">on</Badge> : <Badge>off</Badge>}
              {t.deprecated && <Badge tone="wait">{t.deprecated}</Badge>}
              {t.secrets?.map((s) => <Owner secret={s} />)}
              <span class="grow" />
              {native && (t.on || !t.deprecated) && <button class="btn" aria-expanded={turn === t.name} onClick={() => switchOf(turn === t.name ? "" : t.name)}>{t.on ? "Switch off" : "Switch on"}</button>}
              {native && !t.on && !t.deprecated && other(t) && <button class="btn" aria-expanded={swap === t.name} onClick={() => swapTo(swap === t.name ? "" : t.name)}>Use in place of {line(other(t)!.name)}</button>}
              {t.on && native && <button class="btn" aria-expanded={pin === t.name} onClick={() => open(pin === t.name ? "" : t.name)}>Pin</button>}</div>
            {t.description && <p class="dim">{line(t.description, 300)}</p>}
            {t.secrets?.map((s) => <Advice secret={s} />)}
            {t.deprecated && <p class="wait">{t.deprecated === "blocked" ? "The tool is blocked: no agent can call it." : "The tool is deprecated: use another one or another version."}</p>}
            {turn === t.name && <Proposal op={{ kind: t.on ? "tool.off" : "tool.on", file, node: agent.node, tool: t.name }} off={off} onWritten={() => { switchOf(""); onWritten(); }} />}
            {swap === t.name && <Proposal op={{ kind: "tool.version", file, node: agent.node, tool: t.name }} off={off} onWritten={() => { swapTo(""); onWritten(); }} />}
            {pin === t.name && <div class="pin-form">
              <label class="pick">name <input value={op.name} placeholder={t.name} onInput={(e) => change({ ...op, name: e.currentTarget.value })} /></label>
              <label class="pick">strategy <select value={op.strategy} onChange={(e) => change({ ...op, strategy: e.currentTarget.value })}>{strategies.map((w) => <option>{w}</option>)}</select></label>
              <label class="pick">on_missing <select value={op.on_missing} onChange={(e) => change({ ...op, on_missing: e.currentTarget.value })}>{missing.map((w) => <option>{w}</option>)}</select></label>
              <Proposal op={{ kind: "pin", file, node: agent.node, tool: t.name, ...op }} off={off} onWritten={onWritten} />
            </div>}
          </li>
        ))}
      </ul>
      {!list.length && <p class="empty">No tool has these words.</p>}
      <Pins agent={agent} file={file} workflow={workflow} native={native} off={off} onWritten={onWritten} />
      <Limits agent={agent} file={file} workflow={workflow} native={native} off={off} onWritten={onWritten} />
    </section>
  );
}

// PinNode makes a node of the call that a pin has selected in a run.
function PinNode({ pin, file, workflow, off, onWritten }: { pin: string; file: string; workflow: string; off?: boolean; onWritten: () => void }) {
  const { data, error } = useData<{ runs: Run[] }>("runs?workflow=" + encodeURIComponent(workflow), "runs", ["runs.changed"]);
  const [run, pick] = useState("");
  const [name, write] = useState("");
  if (error) return <Trouble text={error} />;
  const runs = data?.runs.slice(0, 20) ?? [];
  if (!runs.length) return <p class="dim">No run of this workflow is recorded: there is no call to make a node of.</p>;
  const from = run || runs[0].id;
  return (
    <div class="pin-form">
      <label class="pick">{line(pin)} in run <select name="run" value={from} onChange={(e) => pick(e.currentTarget.value)}>{runs.map((r) => <option value={r.id}>{line(r.id)} {word(r.state)}</option>)}</select></label>
      <label class="pick">id <input value={name} placeholder="after the tool" onInput={(e) => write(e.currentTarget.value)} /></label>
      <Proposal op={{ kind: "materialize", file, run: from, pin, name }} off={off} onWritten={onWritten} />
    </div>
  );
}


interface Part { agent: Agent; file: string; workflow: string; native: boolean; off?: boolean; onWritten: () => void }

// Pins are results of tools that other nodes can read.
function Pins({ agent, file, workflow, native, off, onWritten }: Part) {
  const [made, make] = useState("");
  const [pin, open] = useState("");
  const switchedOff = (p: Pin) => agent.tools.some((t) => t.name === p.tool && !t.on);
  const one = agent.pins.find((p) => p.name === pin);
  return (
    <>
      <h3>Pins</h3>
      {made && <PinNode key={made} pin={agent.node + "." + made} file={file} workflow={workflow} off={off} onWritten={onWritten} />}
      {one && <PinForm key={one.name} pin={one} node={agent.node} file={file} off={off} onWritten={() => { open(""); onWritten(); }} />}
      {agent.pins.length ? <table class="sums"><thead><tr><th>pin</th><th>tool</th><th>strategy</th><th>on_missing</th><th>readers</th><td /><td /></tr></thead><tbody>{agent.pins.map((p) => <tr><th>{line(p.name)}</th><td><code>{line(p.tool)}</code></td><td>{p.strategy}</td><td>{p.on_missing}</td>
        <td class="dim">{p.readers?.length ? "read at " + line(p.readers.join(", "), 200) : "read by nothing"}</td>
        <td>{switchedOff(p) ? <Badge tone="wait">null from now on: its tool is off</Badge> : null}</td>
        <td class="num">{native && <button class="btn" aria-expanded={pin === p.name} onClick={() => { make(""); open(pin === p.name ? "" : p.name); }}>Change</button>} {native && <button class="btn" aria-expanded={made === p.name} onClick={() => { open(""); make(made === p.name ? "" : p.name); }}>Make a node</button>}</td></tr>)}</tbody></table> : <p class="dim">none</p>}
    </>
  );
}

// PinForm changes a pin: its name with all that reads it, its strategy and on_missing, or takes it away.
function PinForm({ pin, node, file, off, onWritten }: { pin: Pin; node: string; file: string; off?: boolean; onWritten: () => void }) {
  const [op, change] = useState({ name: pin.name, strategy: pin.strategy, on_missing: pin.on_missing });
  const [gone, remove] = useState(false);
  const base = { file, node, pin: pin.name };
  const words = op.strategy !== pin.strategy || op.on_missing !== pin.on_missing;
  return (
    <div class="pin-form" role="group" aria-label={"Pin " + pin.name}>
      <label class="pick">name of pin {line(pin.name)} <input name="pin-name" value={op.name} disabled={words || gone} onInput={(e) => change({ ...op, name: e.currentTarget.value })} /></label>
      {strategies.includes(pin.strategy) && <label class="pick">strategy <select name="pin-strategy" value={op.strategy} disabled={op.name !== pin.name || gone} onChange={(e) => change({ ...op, strategy: e.currentTarget.value })}>{strategies.map((w) => <option>{w}</option>)}</select></label>}
      {missing.includes(pin.on_missing) && <label class="pick">on_missing <select name="pin-missing" value={op.on_missing} disabled={op.name !== pin.name || gone} onChange={(e) => change({ ...op, on_missing: e.currentTarget.value })}>{missing.map((w) => <option>{w}</option>)}</select></label>}
      <label class="pick"><input type="checkbox" name="pin-remove" checked={gone} disabled={words || op.name !== pin.name} onChange={(e) => remove(e.currentTarget.checked)} /> remove it</label>
      {gone ? <Proposal op={{ kind: "pin.remove", ...base }} off={off} onWritten={onWritten} />
        : op.name !== pin.name ? <Proposal op={{ kind: "pin.rename", ...base, name: op.name }} off={off} onWritten={onWritten} />
        : words ? <Proposal op={{ kind: "pin.set", ...base, strategy: op.strategy, on_missing: op.on_missing }} off={off} onWritten={onWritten} />
        : <p class="dim">Change one of these; what reads the pin is renamed with it.</p>}
    </div>
  );
}

interface Spent { node: string; times: number; turns: number; calls: number; tokens: number; cost_usd: string }

// Limits are what the policy of the agent writes, and how much of it the latest run has used.
function Limits({ agent, file, workflow, native, off, onWritten }: Part) {
  const [values, write] = useState<Record<string, string>>({});
  const list = useData<{ runs: Run[] }>("runs?workflow=" + param(workflow), "runs", ["runs.changed"]);
  const run = list.data?.runs[0];
  const limit = (name: string) => agent.limits.find((l) => l.name === name)?.value ?? "";
  const changed = agent.limits.filter((l) => (values[l.name] ?? l.value) !== l.value);
  return (
    <>
      <h3>Policy</h3>
      {run && <Left key={run.id} run={run} node={agent.node} limit={limit} />}
      {native && <div class="pin-form" role="group" aria-label="Limits of the agent">
        {agent.limits.map((l) => <label class="pick">{l.name} <input class="limit-value" name={l.name} value={values[l.name] ?? l.value} placeholder="not written" onInput={(e) => write({ ...values, [l.name]: e.currentTarget.value })} /></label>)}
        {changed.map((l) => <div class="limit"><p><code>{l.name}</code></p><Proposal key={l.name} op={{ kind: "policy", file, node: agent.node, name: l.name, value: values[l.name] }} off={off} onWritten={() => { write({}); onWritten(); }} /></div>)}
      </div>}
    </>
  );
}

// Left is what a run has used of the limits.
function Left({ run, node, limit }: { run: Run; node: string; limit: (name: string) => string }) {
  const { data, error } = useData<{ agents: Spent[] }>("runs/" + param(run.id) + "/agents", "runs", ["runs.changed"]);
  if (error) return <Trouble text={error} />;
  const one = data?.agents.find((a) => a.node === node);
  if (!data) return null;
  if (!one) return <p class="dim">The latest run, <code>{line(run.id)}</code>, has not asked the agent.</p>;
  const meter = (name: string, used: number, shown: string, bound: string, money?: boolean) => {
    const n = Number(bound);
    const has = bound !== "" && n > 0;
    return <Meter name={name} value={shown} bound={has ? (money ? dollars(bound) : count(n)) : undefined} share={has ? used / n : undefined} />;
  };
  return (
    <div class="left"><p class="dim">Used in the latest run, <code>{line(run.id)}</code>{one.times > 1 && <>, the time with the most turns of {count(one.times)}</>}:</p>
      <dl class="meters">
        {meter("turns", one.turns, count(one.turns), limit("max_iterations") || "10")}
        {meter("tool calls", one.calls, count(one.calls), limit("max_tool_calls") || "25")}
        {meter("tokens", one.tokens, count(one.tokens), limit("max_total_tokens"))}
        {meter("cost", Number(one.cost_usd), dollars(one.cost_usd), limit("max_cost_usd"), true)}
      </dl>
    </div>
  );
}
