// All of one call.
import { useEffect, useState } from "preact/hooks";
import { get, param, request } from "./api";
import { type Attachment, Attached, Grid, gridOf } from "./attachments";
import { callAddress, isRemote, Proposal } from "./pages";
import { Badge, Mark, scrolls, tone, Trouble, word } from "./parts";
import { go, route, set } from "./route";
import { type AgentBounds, type Message, One, Offered, Talk } from "./talk";
import { Rerun } from "./rerun";
import { report } from "./report";
import { bytes, count, dollars, line, plain, span } from "./text";
import { type Call, seen } from "./tree";

interface Value { text: string; size: number; cut?: boolean }
interface Whole {
  n: number; key: string; node: string; attempt: number; tool: string; effects: string; call_id: string; state: string; start: number; end: number; tokens: number; cost_usd: string;
  cached?: boolean; truncated?: boolean; denied?: boolean; sandbox?: string; cancelled?: string; error?: { code: string; message: string; details?: unknown }; stack?: string; logs?: string;
  attachments?: Attachment[]; input?: Value; output?: Value; attempts: number[]; lacks?: string;
}

// details are those of an error; a text in them, such as a traceback, has its lines.
const details = (d: unknown) => (typeof d === "object" && d !== null && Object.values(d).every((v) => typeof v === "string") ? Object.entries(d as Record<string, string>).map(([k, v]) => k + ": " + v).join("\n") : JSON.stringify(d, null, 2));

export function CallPanel({ run, n, version, said, turns, all, agents, file, off, running, now, input, still }: { all: Call[]; agents?: AgentBounds[]; run: string; n: number; version: string; said?: string; turns: Call[]; file?: string; off?: boolean; running: boolean; now: number; input?: unknown; still?: boolean }) {
  const [call, show] = useState<Whole>();
  const [bad, say] = useState("");
  const remote = isRemote(run);
  useEffect(() => {
    let here = true;
    say("");
    const known = remote ? all[n] : undefined;
    if (remote && !known) return;
    get<Whole>(callAddress(run, n, all))
      .then((c) => here && show(known ? { ...c, tool: known.tool, attempt: known.attempt, state: known.state, start: known.start, end: known.end, attempts: all.filter((o) => o?.key === known.key).map((o) => o.n) } : c)).catch((e: Error) => here && say(e.message));
    return () => void (here = false);
  }, [run, n, version]);
  const talks = route.value.query.get("talk") === "1";
  useEffect(() => void (talks && document.querySelector(".call .talk")?.scrollIntoView({ block: "nearest" })), [talks]);
  const close = <button class="btn bare" onClick={() => set("c", "")}>Close <kbd>Esc</kbd></button>;
  if (bad) return <aside class="panel call"><div class="head"><span class="grow" />{close}</div><Trouble text={bad} /></aside>;
  if (!call) return <aside class="panel call"><div class="head">{close}</div></aside>;
  const state = seen(call.state, running);
  const path = route.value.path;
  const isTool = !call.tool.startsWith("human@") && !!call.call_id && !!file;
  return (
    <aside class="panel call" aria-label={"Call " + call.key}>
      <div class="head"><Mark state={state} /><code class="cut grow" title={call.key}>{line(call.key)}</code>{close}</div>
      <div class="body" key={call.key} {...scrolls("All of the call")}>
        {call.error && <section class="block fail-block"><p><Badge tone="fail">{line(call.error.code)}</Badge></p><p class="message">{plain(call.error.message).slice(0, 20000)}</p>
          {call.error.details != null && <pre class="code block" {...scrolls("Details of the error")}>{plain(details(call.error.details)).slice(0, 20000)}</pre>}</section>}
        <dl class="facts">
          <dt>state</dt><dd class={tone(state)}>{word(state)}{call.cached && <Badge tone="hit">cached</Badge>}{call.denied && <Badge>denied by the policy</Badge>}{call.truncated && <Badge>truncated</Badge>}</dd>
          <dt>tool</dt><dd><code>{line(call.tool)}</code> {call.effects && <Badge>effects {call.effects}</Badge>}{call.sandbox && <Badge>sandbox {line(call.sandbox)}</Badge>}</dd>
          <dt>began</dt><dd>+{span(call.start)}, {state === "open" ? <>running for {span(Math.max(0, now - call.start))}</> : state === "stopped" || state === "in_doubt" ? "without a result" : <>took {span(call.end - call.start)}</>}</dd>
          {call.tokens > 0 && <><dt>tokens</dt><dd>{count(call.tokens)}, {call.cost_usd === "0" ? "no known price" : dollars(call.cost_usd)}</dd></>}
          {call.call_id && <><dt>call id</dt><dd><code class="cut">{line(call.call_id)}</code></dd></>}
          {call.attempts.length > 1 && <><dt>attempts</dt><dd class="flex wrap">{call.attempts.map((a, i) => <button class="chip" aria-pressed={a === n} onClick={() => go(path + "?" + withCall(a))}>{i + 1}</button>)}</dd></>}
        </dl>
        {call.lacks && <p class="dim">{call.lacks}</p>}
        {state === "stopped" && <p class="dim">The program that made this call is gone. Resume repeats it.</p>}
        {said && call.state === "open" && <section><h2>Said so far <small>not recorded</small></h2><pre class="code block said" {...scrolls("Said so far")}>{plain(said)}</pre></section>}
        {turns.length > 0 && <div class="talk"><button class="btn" aria-pressed={talks} onClick={() => set("talk", talks ? "" : "1")}>{talks ? "Hide the conversation" : "Show the conversation"} <kbd>v</kbd></button></div>}
        {talks && turns.length > 0 && <Offered run={run} turns={turns} all={all} agents={agents} />}
        {talks && turns.length > 0 && <Talk run={run} turns={turns} all={all} />}
        <Part name="Output" run={run} n={n} what="output" v={call.output} />
        <Messages v={call.input} />
        <Part name="Input" run={run} n={n} what="input" v={call.input} />
        {!!call.attachments?.length && <section><h2>Attachments</h2>{call.attachments.map((a, k) => remote ? <p key={k}><code>{line(a.url)}</code> is kept by the server</p> : <Attached key={k} run={run} n={n} k={k} a={a} />)}</section>}
        {call.stack && <section><h2>Stack</h2><pre class="code block" {...scrolls("Stack")}>{plain(call.stack)}</pre></section>}
        {call.logs && <section><h2>Logs</h2><pre class="code block" {...scrolls("Logs")}>{plain(call.logs)}</pre></section>}
        {!!file && !still && !running && <Rerun key={call.key} run={run} node={call.node} file={file} input={input} open={route.value.query.get("rerun") === "1"} />}
        {isTool && call.state !== "open" && <Materialize key={call.key} run={run} call={call} file={file!} off={off} />}
      </div>
    </aside>
  );
}

function withCall(n: number): string {
  const q = new URLSearchParams(route.value.query);
  q.set("c", String(n));
  return q.toString();
}

// Materialize makes a node of the call.
function Materialize({ run, call, file, off }: { run: string; call: Whole; file: string; off?: boolean }) {
  const [name, write] = useState("");
  return (
    <section><h2>Make a node of this call</h2>
      <label class="field"><span class="vh">Id of the node</span><input placeholder="id of the node, else after the tool" value={name} onInput={(e) => write(e.currentTarget.value)} /></label>
      <Proposal op={{ kind: "materialize", file, run, call: call.key, name }} off={off} />
    </section>
  );
}

function Part({ name, run, n, what, v }: { name: string; run: string; n: number; what: string; v?: Value }) {
  const [all, show] = useState("");
  const [asText, write] = useState(false);
  useEffect(() => show(""), [run, n]);
  if (!v) return null;
  const grid = what === "output" && !v.cut ? gridOf(v.text, "json") : undefined;
  const more = async () => show(new TextDecoder().decode(await (await request("runs/" + param(run) + "/calls/" + n + "/" + what + "?n=1048576")).arrayBuffer()));
  return (
    <section><h2>{name} <small>{bytes(v.size)}</small>{grid && <button class="btn bare" onClick={() => write(!asText)}>{asText ? "as a table" : "as JSON"}</button>}</h2>
      {grid && !asText ? <Grid grid={grid} /> : <pre class="code block value" {...scrolls(name)}>{plain(all || v.text)}</pre>}
      {v.cut && report && <p class="dim">its beginning: the file was written without <code>--full</code></p>}
      {v.cut && isRemote(run) && <p class="dim">the first MiB</p>}
      {v.cut && !all && !report && !isRemote(run) && <p class="dim">the first 64 KiB <button class="btn" onClick={more}>Show 1 MiB</button></p>}
    </section>
  );
}

// Messages are those of the question to a model, one below the other.
function Messages({ v }: { v?: Value }) {
  if (!v || v.cut) return null;
  let list: Message[] = [];
  try {
    const input = JSON.parse(v.text) as { system?: unknown; prompt?: unknown; messages?: unknown };
    if (typeof input !== "object" || !input) return null;
    if (typeof input.system === "string") list.push({ role: "system", text: input.system });
    if (Array.isArray(input.messages)) list = list.concat(input.messages as Message[]);
    if (typeof input.prompt === "string") list.push({ role: "user", text: input.prompt });
  } catch {
    return null;
  }
  if (!list.length) return null;
  return (
    <section><h2>Prompt <small>{list.length} messages</small></h2>
      {list.slice(0, 200).map((m) => <One m={m ?? {}} />)}
    </section>
  );
}
