// The list of workflows, the list of runs, questions, usage, and two runs compared.
import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { get, listen, param, post, Refused, request } from "./api";
import { Graph, type Picture } from "./graph";
import { Badge, Diff, Link, Main, Mark, scrolls, tone, Trouble, word } from "./parts";
import { go, keys, route, set } from "./route";
import { bytes, clock, count, counted, dollars, line, plain, shortID, span } from "./text";
import type { Call } from "./tree";

export interface Run {
  id: string;
  workflow: string;
  begin: string;
  state: string;
  from?: string;
  failure?: string;
  took_ns: number;
  calls: number;
  failed: number;
  cached: number;
  models: number;
  retries: number;
  open: number;
  in_doubt: number;
  waiting: number;
  tokens: number;
  cost_usd: string;
  at?: string;
  code?: string;
  shape?: [number, number, number][];
}

// useData loads what a path says, and again when an event of a topic comes.
export function useData<T>(path: string, topics: string, events: string[]): { data?: T; error?: string; again: () => void } {
  const [state, change] = useState<{ path?: string; data?: T; error?: string }>({});
  const [turn, next] = useState(0);
  useLayoutEffect(() => { // asked for before the page is drawn
    let here = true;
    get<T>(path)
      .then((data) => here && change({ path, data }))
      .catch((e: Error) => here && change({ path, error: e.message }));
    return () => void (here = false);
  }, [path, turn]);
  useLayoutEffect(() => (topics ? listen(topics, (event) => (events.includes(event) || event === "again") && next((n) => n + 1)) : undefined), [topics]);
  const stale = state.path !== path;
  return { data: stale ? undefined : state.data, error: stale ? undefined : state.error, again: () => next((n) => n + 1) };
}

// isRemote is whether a run is one of the server that studio was started with, isTemporal whether it is one on Temporal.
export const isRemote = (id: string) => id.startsWith("server:");

// callAddress is where all of a call is. A server knows calls by their keys, and attempts by how many have ended before.
export function callAddress(run: string, n: number, all: Call[]): string {
  const at = "runs/" + param(run) + "/calls/" + n;
  const one = all[n];
  if (!isRemote(run) || !one) return at;
  const nth = all.filter((c) => c && c.n < n && c.key === one.key && !["open", "waiting", "interrupted"].includes(c.state)).length;
  return at + "?key=" + param(one.key) + "&nth=" + nth;
}
export const isTemporal = (id: string) => id.startsWith("temporal:");

export const runAddress = (id: string) => "/r/" + param(id);
export const flowAddress = (file: string) => "/w?file=" + param(file);

export interface Project {
  root: string;
  server: string;
  temporal: string;
  version: string;
  read_only: boolean;
  no_run: boolean;
  runs: string;
  problem: string;
  files: { file: string; name?: string; description?: string; dialect?: string; errors: number; warnings: number; agents: number; last?: Run; problem?: string; at_most?: AtMost }[];
}

export interface AtMost {
  total: number | null;
  time: string | null;
  cost?: { usd: string | null };
}

export const worstCase = (m?: AtMost) =>
  m ? (m.total === null ? "calls without a bound" : "at most " + counted(m.total, "call")) + (m.cost ? ", " + (m.cost.usd === null ? "cost without a bound" : dollars(m.cost.usd)) : "") : "";

export function Workflows() {
  const { data, error } = useData<Project>("project", "project,runs", ["project.changed", "runs.changed"]);
  const [at, move] = useState(0);
  const files = data?.files ?? [];
  useLayoutEffect(() => keys({ j: () => move(Math.min(at + 1, files.length - 1)), k: () => move(Math.max(at - 1, 0)), Enter: () => files[at] && go(flowAddress(files[at].file)) }), [at, data]);
  return (
    <Main title="Workflows" shown>
      {error && <Trouble text={error} />}
      {data?.problem && <Trouble text={data.problem} />}
      {data && !files.length && <p class="empty">No workflows in this folder. <code>flowgen init</code> makes one.</p>}
      <ul class="table" role="list">
        {files.map((f, i) => (
          <li class={"flow-row" + (i === at ? " on" : "")}>
            <Mark state={f.errors || f.problem ? "failed" : "done"} />
            <Link to={flowAddress(f.file)} class="name">{line(f.name || f.file)}</Link>
            <code class="faint cut">{line(f.file)}</code>
            {f.errors > 0 && <Badge tone="fail">{counted(f.errors, "error")}</Badge>}
            {f.warnings > 0 && <Badge tone="wait">{counted(f.warnings, "warning")}</Badge>}
            {f.dialect && <Badge>{line(f.dialect)}</Badge>}
            <span class="dim cut grow">{line(f.problem ?? f.description ?? "")}</span>
            <span class="faint worst">{worstCase(f.at_most)}</span>
            <span class="last">{f.last && <Link to={runAddress(f.last.id)}><Mark state={f.last.state} /> {clock(f.last.begin)}</Link>}</span>
          </li>
        ))}
      </ul>
      <p class="foot">{data && <span>{counted(files.length, "file")}, as <code>flowgen check</code> sees them; files on disk are followed</span>}</p>
    </Main>
  );
}

const kinds = ["b-tool", "b-model", "b-fail", "b-person"];
export function Shape({ run }: { run: Run }) {
  return (
    <svg class="shape" viewBox="0 0 100 7" preserveAspectRatio="none" aria-hidden="true">
      <rect class="b-lane" width="100" height="7" />
      {(run.shape ?? []).map(([from, to, kind]) => <rect class={kinds[kind]} x={from} width={Math.max(to - from, 1)} height="7" />)}
    </svg>
  );
}

function where(r: Run) {
  switch (r.state) {
    case "damaged":
      return <span class="fail">{line(r.failure ?? "the journal cannot be read", 400)}</span>;
    case "stopped":
      return <><span class="doubt">stopped without a word</span> {r.at && <code>{line(r.at)}</code>}</>;
    case "failed":
      return <><code>{line(r.at ?? "")}</code> {r.code && <Badge tone="fail">{line(r.code)}</Badge>} <span class="dim">{line(r.failure ?? "", 160)}</span></>;
    case "waiting":
      return <><code>{line(r.at ?? "")}</code> waits for a user</>;
    case "running":
      return <code>{line(r.at ?? "")}</code>;
    case "cancelled":
      return <span class="dim">cancelled</span>;
  }
  return <>{r.cached > 0 && <Badge tone="hit">{count(r.cached)} cached</Badge>} {r.failed > 0 && <span class="dim">{count(r.failed)} failed and caught</span>} {r.from && <span class="dim">began with {shortID(r.from)}</span>}</>;
}

const states = ["running", "waiting", "failed", "stopped", "succeeded", "cancelled", "damaged"];
const statesElsewhere: Record<string, string[]> = { server: states.slice(0, -1), temporal: ["running", "failed", "succeeded", "cancelled"] };

const NotSaid = () => <span class="faint" title="the list of the server does not say it">-</span>;

export function Runs({ project }: { project?: Project }) {
  const q = route.value.query;
  const asked = new URLSearchParams(q);
  asked.delete("with");
  const { data, error } = useData<{ runs: Run[]; counts: Record<string, number>; total: number; next?: string; workflows: string[]; folder: string; server?: boolean }>("runs?" + asked, "runs", ["runs.changed"]);
  const [at, move] = useState(0);
  const marked = q.get("with");
  const there = !!q.get("in");
  const runs = data?.runs ?? [];
  const compare = () => {
    if (!runs[at] || there) return;
    if (marked && marked !== runs[at].id) go("/d/" + param(marked) + "/" + param(runs[at].id));
    else set("with", marked ? "" : runs[at].id);
  };
  useLayoutEffect(
    () =>
      keys({
        j: () => move(Math.min(at + 1, runs.length - 1)),
        k: () => move(Math.max(at - 1, 0)),
        ArrowDown: () => move(Math.min(at + 1, runs.length - 1)),
        ArrowUp: () => move(Math.max(at - 1, 0)),
        Enter: () => runs[at] && go(runAddress(runs[at].id)),
        "/": () => document.querySelector<HTMLInputElement>("#q")?.focus(),
        d: compare,
      }),
    [at, data, marked],
  );
  useEffect(() => document.querySelector(".run-row.on")?.scrollIntoView({ block: "nearest" }), [at]);
  let day = "";
  return (
    <Main title="Runs">
      <div class="bar">
        {!there && <label class="field grow"><span class="vh">Text in names, keys and errors</span>
          <input id="q" type="search" placeholder="Text in names, keys and errors" value={q.get("q") ?? ""} onChange={(e) => set("q", e.currentTarget.value)} />
          <kbd>/</kbd>
        </label>}
        {(project?.server || project?.temporal || there) && <label class="pick">runs of <select name="in" value={q.get("in") ?? ""} onChange={(e) => go("/r" + (e.currentTarget.value ? "?in=" + e.currentTarget.value : ""))}><option value="">the folder</option>{(project?.server || q.get("in") === "server") && <option value="server">{line(project?.server || "the server")}</option>}{(project?.temporal || q.get("in") === "temporal") && <option value="temporal">Temporal</option>}</select></label>}
        <label class="pick">workflow <select value={q.get("workflow") ?? ""} onChange={(e) => set("workflow", e.currentTarget.value)}>
          <option value="">any</option>
          {data?.workflows.map((w) => <option value={w}>{line(w)}</option>)}
        </select></label>
        {!there && <><label class="pick">code <select value={q.get("code") ?? ""} onChange={(e) => set("code", e.currentTarget.value)}>
          <option value="">any</option>
          {["VALIDATION_ERROR", "TIMEOUT", "RATE_LIMIT", "POLICY_DENIED", "AUTH_REQUIRED", "PROVIDER_ERROR", "NETWORK_ERROR", "SANDBOX_ERROR", "UNKNOWN"].map((c) => <option>{c}</option>)}
        </select></label>
        <label class="pick">from $ <input class="small" type="number" min="0" step="0.01" value={q.get("cost") ?? ""} onChange={(e) => set("cost", e.currentTarget.value)} /></label>
        <label class="pick">since <input type="date" value={(q.get("since") ?? "").slice(0, 10)} onChange={(e) => set("since", e.currentTarget.value && e.currentTarget.value + "T00:00:00Z")} /></label></>}
      </div>
      <div class="bar chips" role="group" aria-label="State">
        <button class="chip" aria-pressed={!q.get("state")} onClick={() => set("state", "")}>All {data && !there && count(data.total)}</button>
        {states.map((s) => (data?.counts[s] || q.get("state") === s || statesElsewhere[q.get("in") ?? ""]?.includes(s)) && (
          <button class="chip" aria-pressed={q.get("state") === s} onClick={() => set("state", q.get("state") === s ? "" : s)}><Mark state={s} /> {word(s)} {!there && count(data?.counts[s] ?? 0)}</button>
        ))}
        <span class="grow" />
        {marked && <span class="dim">select the run to compare {shortID(marked)} with</span>}
        {!there && runs[at] && <button class="btn" disabled={marked === runs[at].id} onClick={compare}>{marked ? "Compare with " : "Compare "}{shortID(runs[at].id)} <kbd>d</kbd></button>}
        {marked && <button class="btn bare" onClick={() => set("with", "")}>Do not compare</button>}
      </div>
      {error && <Trouble text={error} />}
      {data && !runs.length && (there ? <p class="empty">{q.get("in") === "server" ? "The server" : "Temporal"} has {q.get("state") || q.get("workflow") ? "no such run" : "no runs"}.</p> : data.total || [...q].length ? <p class="empty">No run passes the filters. <button class="btn" onClick={() => go("/r")}>Remove them</button></p>
        : <p class="empty">No runs in {line(data.folder)}. <code>flowgen run FILE</code> makes one.</p>)}
      <div class="table" role="table" aria-label="Runs">
        <div class="run-row head" role="row">
          <span role="columnheader"><span class="vh">state</span></span><span role="columnheader">run</span><span role="columnheader">where it stands</span><span role="columnheader">shape</span>
          <span class="num" role="columnheader">took</span><span class="num" role="columnheader">calls</span><span class="num" role="columnheader">cost</span><span class="num" role="columnheader">began</span>
        </div>
        {runs.map((r, i) => {
          const d = new Date(r.begin).toDateString();
          const title = d !== day && !isNaN(+new Date(r.begin)) ? d : "";
          if (title) day = d;
          return (
            <>
              {title && <div class="day" role="row"><span role="cell">{title === new Date().toDateString() ? "Today" : title}</span></div>}
              <div class={"run-row" + (i === at ? " on" : "") + (r.id === marked ? " marked" : "")} role="row" onMouseDown={() => move(i)}>
                <span role="cell"><Mark state={r.state} /></span>
                <span role="cell" class="cut"><Link to={runAddress(r.id)} class="name" title={r.id}>{line(r.workflow || r.id)} <small class="mono">{shortID(r.id)}</small></Link></span>
                <span role="cell" class="cut">{where(r)}</span>
                <span role="cell">{there ? <NotSaid /> : <Shape run={r} />}</span>
                <span role="cell" class="num">{r.state === "stopped" || (there && !r.took_ns) ? "-" : span(r.took_ns / 1e6)}</span>
                <span role="cell" class="num">{there ? <NotSaid /> : count(r.calls)}</span>
                <span role="cell" class="num">{there ? <NotSaid /> : dollars(r.cost_usd)}</span>
                <span role="cell" class="num" title={r.begin}>{clock(r.begin)}</span>
              </div>
            </>
          );
        })}
      </div>
      {data?.next && <p><button class="btn" onClick={() => set("before", data.next!)}>Older runs</button></p>}
      <p class="foot">{data && (there ? <>{counted(data.total, "run")} of {line(data.folder)}; its list does not say calls, cost and shape: they are in each run</> : <>{counted(data.total, "run")} in {line(data.folder)}</>)}</p>
    </Main>
  );
}

export interface Question {
  run?: string;
  workflow?: string;
  key: string;
  text: string;
  type: string;
  choices?: string[];
  since?: string;
  until?: string;
}

// Ask is the form of one question.
export function Ask({ run, q, off }: { run: string; q: Question; off?: boolean }) {
  const [text, write] = useState("");
  const [said, say] = useState<{ ok?: string; bad?: string }>({});
  const [busy, work] = useState(false);
  const send = (answer: string) => {
    work(true);
    post<{ note?: string }>("runs/" + param(run) + "/answers", { key: q.key, answer })
      .then((r) => say({ ok: r.note ?? "answered; the run goes on" }))
      .catch((e: Error) => say(e instanceof Refused && e.problem.status === 410 ? { ok: e.message } : { bad: e.message })) // 410: somebody else was faster
      .finally(() => work(false));
  };
  const choices = q.choices ?? (q.type === "bool" ? ["true", "false"] : []);
  if (said.ok) return <p class="ask done" role="status">{line(said.ok, 600)}</p>;
  return (
    <form class="ask" onSubmit={(e) => { e.preventDefault(); send(text); }}>
      <p class="question" {...scrolls("Question")}>{plain(q.text)}</p>
      <p class="faint"><code>{line(q.key)}</code>{q.since && <> since {clock(q.since)}</>}{q.until && <>, until {new Date(q.until).toLocaleString("en-GB")}</>}</p>
      {off ? <p class="dim">{isTemporal(run) ? <>answer with <code>respond</code> of the program</> : <>studio is read-only: answer with <code>flowgen respond</code></>}</p> : choices.length ? (
        <div class="flex wrap">{choices.map((c, i) => <button type="button" class={"btn big" + (i ? "" : " main")} disabled={busy} onClick={() => send(c)}>{line(c)}</button>)}</div>
      ) : (
        <div class="flex"><label class="field grow"><span class="vh">Answer</span><input name="answer" placeholder={q.type} value={text} onInput={(e) => write(e.currentTarget.value)} /></label><button class="btn main big" disabled={busy}>Answer</button></div>
      )}
      {said.bad && <Trouble text={said.bad} />}
    </form>
  );
}

export function Inbox({ project }: { project?: Project }) {
  const { data, error } = useData<{ questions: Question[]; problem?: string }>("inbox", "runs", ["runs.changed"]);
  return (
    <Main title="Inbox" shown narrow>
      {error && <Trouble text={error} />}
      {data?.problem && <Trouble text={data.problem} />}
      {data && !data.questions.length && <p class="empty">No run waits for a user.</p>}
      {data?.questions.map((q) => (
        <section class="card" key={q.run + q.key}>
          <p><Mark state="waiting" /> <Link to={runAddress(q.run!)} class="name">{line(q.workflow!)} <small class="mono">{shortID(q.run!)}</small></Link> {isRemote(q.run!) && <span class="faint">{line(project?.server ?? "")}</span>}</p>
          <Ask run={q.run!} q={q} off={project?.read_only} />
        </section>
      ))}
    </Main>
  );
}

interface Sum {
  name: string;
  runs: number;
  attempts: number;
  failed: number;
  cached: number;
  tokens: number;
  cost_usd: string;
  unpriced: number;
  busy_ns: number;
  median_ns: number;
  p95_ns: number;
}

export async function save(path: string, name: string) {
  const url = URL.createObjectURL(await (await request(path)).blob());
  const a = document.createElement("a");
  a.href = url;
  a.download = name;
  a.click();
  URL.revokeObjectURL(url);
}

export function Usage() {
  const q = route.value.query;
  const group = q.get("group") ?? "workflow";
  const { data, error } = useData<{ rows: Sum[]; runs: number; unread: number; more: boolean }>("usage?" + q, "", []);
  return (
    <main class="page" tabIndex={0} aria-label="Usage">
      <div class="bar">
        <h1>Usage</h1>
        <div class="seg" role="group" aria-label="Group by">
          {["workflow", "node", "tool", "model", "tenant", "day"].map((g) => <button aria-pressed={g === group} onClick={() => set("group", g)}>{g}</button>)}
        </div>
        <label class="pick">since <input type="date" value={(q.get("since") ?? "").slice(0, 10)} onChange={(e) => set("since", e.currentTarget.value && e.currentTarget.value + "T00:00:00Z")} /></label>
        <span class="grow" />
        <button class="btn" onClick={() => save("usage?format=csv&" + q, "usage.csv")}>CSV</button>
        <button class="btn" onClick={() => save("usage?" + q, "usage.json")}>JSON</button>
      </div>
      {error && <Trouble text={error} />}
      <div class="scroll" {...scrolls("Usage")}>
        <table class="sums">
          <thead><tr><th>{group}</th>{["runs", "attempts", "failed", "cached", "tokens", "cost", "median", "95 %", "busy"].map((h) => <th class="num">{h}</th>)}</tr></thead>
          <tbody>
            {data?.rows.map((r) => (
              <tr>
                <td class="cut">{line(r.name || "-")}</td><td class="num">{count(r.runs)}</td><td class="num">{count(r.attempts)}</td>
                <td class={"num" + (r.failed ? " fail" : "")}>{count(r.failed)}</td><td class="num">{count(r.cached)}</td><td class="num">{count(r.tokens)}</td>
                <td class="num">{r.unpriced > 0 && "at least "}{dollars(r.cost_usd)}</td><td class="num">{span(r.median_ns / 1e6)}</td><td class="num">{span(r.p95_ns / 1e6)}</td><td class="num">{span(r.busy_ns / 1e6)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {data && !data.rows.length && <p class="empty">Nothing was recorded.</p>}
      <p class="foot">{data && <>{count(data.runs)} runs{data.more && ", the newest only"}{data.unread > 0 && <>, {count(data.unread)} cannot be read and are left out</>}</>}</p>
    </main>
  );
}

interface Change { what: string; path?: string; a?: unknown; b?: unknown }
interface Side { id: string; workflow: string; outcome: string; calls: number; tokens: number; cost_usd: string }

const shown = (v: unknown) => (v === undefined ? "-" : line(typeof v === "string" ? v : JSON.stringify(v), 600));

function Changes({ list }: { list?: Change[] }) {
  return (
    <table class="changes"><tbody>
      {(list ?? []).map((c) => <tr><th><code>{line(c.what + (c.path ? "." + c.path : ""))}</code></th><td class="del">{shown(c.a)}</td><td class="add">{shown(c.b)}</td></tr>)}
    </tbody></table>
  );
}

// operation is the edit that a rerun was made with, from the address.
function operation(text: string | null): Record<string, string> | undefined {
  try {
    const op = JSON.parse(text ?? "null") as Record<string, string> | null;
    return op?.kind === "node" ? op : undefined;
  } catch {
    return undefined;
  }
}

export function Compare({ a, b }: { a: string; b: string }) {
  const { data, error } = useData<{ report: { a: Side; b: Side; run: Change[] | null }; text: string; equal: boolean }>("diff/" + param(a) + "/" + param(b), "runs", ["runs.changed"]);
  const op = operation(route.value.query.get("op"));
  useLayoutEffect(() => keys({ Escape: () => history.back() }), []);
  const side = (name: string, s: Side) => (
    <div class="side"><h2>{name}</h2><Link to={runAddress(s.id)} class="link">{line(s.workflow)} {shortID(s.id)}</Link> <Mark state={s.outcome || "open"} /> <span class={tone(s.outcome)}>{word(s.outcome || "open")}</span>
      <span class="faint"> {count(s.calls)} calls, {count(s.tokens)} tokens, {dollars(s.cost_usd)}</span></div>
  );
  return (
    <Main title="Compare two runs" shown>
      {error && <Trouble text={error} />}
      {data && <>
        <div class="sides">{side("A", data.report.a)}{side("B", data.report.b)}<button class="btn" onClick={() => go("/d/" + param(b) + "/" + param(a))}>Swap</button></div>
        {op && <section class="sub"><h2>Edit of B, which the file does not have</h2><Proposal op={op} /></section>}
        {data.equal && <p class="empty">The runs are equal.</p>}
        {!!data.report.run?.length && <><h2 class="sub">The runs</h2><Changes list={data.report.run} /></>}
        {!data.equal && <><h2 class="sub">Where they part, as <code>flowgen diff</code> says it</h2><pre class="code block" {...scrolls("Differences")}>{plain(data.text)}</pre></>}
      </>}
    </Main>
  );
}

interface Edit { id: string; diff: string; notes: string; graph?: Picture; node?: string }

// Placed shows where a new node is, and where its edges lead.
function Placed({ graph, node }: { graph: Picture; node: string }) {
  const from = graph.edges.filter((e) => e.to === node).map((e) => e.from);
  const to = graph.edges.filter((e) => e.from === node).map((e) => e.to);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const at = graph.nodes.find((n) => n.path === node);
    const el = box.current?.querySelector(".graph-scroll");
    if (at && el) el.scrollTo(at.x + at.w / 2 - el.clientWidth / 2, at.y + at.h / 2 - el.clientHeight / 2);
  }, [graph, node]);
  return (
    <section aria-label="The new node"><p>The new node <code>{line(node)}</code></p>
      <p class="dim">{from.length ? "after " + from.join(", ") : "nothing leads to it: it starts with the workflow"}; {to.length ? "before " + to.join(", ") : "nothing follows it yet"}</p>
      <div class="placed" ref={box}><Graph picture={graph} selected={node} /></div>
    </section>
  );
}

// written is the edit that was made last, which can be undone on any page.
export const written = signal<{ file: string; files: string; at: string; undo: string; bad?: string } | undefined>(undefined);

export async function undo() {
  const last = written.value;
  if (!last) return;
  try {
    const edit = await post<Edit>("edits", { kind: "undo", file: last.file, name: last.undo });
    await post<unknown>("edits/" + edit.id + "/apply", {});
    written.value = undefined;
  } catch (e) {
    written.value = { ...last, bad: (e as Error).message };
  }
}

// Written offers to undo the edit that was made last, on the page where it was made; the key does it everywhere.
export function Written() {
  const last = written.value;
  if (!last || (!last.bad && last.at !== route.value.path)) return null;
  return (
    <div class="toast" role="status">
      <span>{last.bad ? <Trouble text={last.bad} /> : <>written to <code>{line(last.files)}</code></>}</span>
      <button class="btn" onClick={() => void undo()}>Undo <kbd>u</kbd></button>
      <button class="btn bare" onClick={() => (written.value = undefined)}>Close</button>
    </div>
  );
}

// filesOf names the files that a diff changes.
const filesOf = (diff: string) => [...diff.matchAll(/^\+\+\+ (.*)$/gm)].map((m) => m[1]).join(", ");

// Proposal shows an edit before it is written, and writes it.
export function Proposal({ op, label, off, onWritten }: { op: Record<string, string>; label?: string; off?: boolean; onWritten?: () => void }) {
  const [edit, show] = useState<Edit>();
  const [said, say] = useState<{ ok?: string; bad?: string }>({});
  const asked = JSON.stringify(op);
  const ask = (keep?: boolean) => {
    if (!keep) say({});
    post<Edit>("edits", op).then(show).catch((e: Error) => { show(undefined); say({ bad: e.message }); });
  };
  useEffect(() => { show(undefined); say({}); }, [asked]);
  const write = () =>
    post<{ undo?: string }>("edits/" + edit!.id + "/apply", {})
      .then((r) => { written.value = r.undo ? { file: op.file, files: filesOf(edit!.diff), at: route.value.path, undo: r.undo } : undefined; show(undefined); say({ ok: "written" }); onWritten?.(); })
      .catch((e: Error) => {
        say({ bad: e.message });
        if (e instanceof Refused && e.problem.status === 409) ask(true);
      });
  if (off) return <p class="dim">studio is read-only</p>;
  return (
    <div class="proposal">
      {!edit && !said.ok && <button class="btn" onClick={() => ask()}>{label ?? "Show the edit"}</button>}
      {edit && <>
        <p class="dim">Edit, not written yet <small>{bytes(edit.diff.length)}</small></p>
        <Diff text={edit.diff} />
        {edit.graph && <Placed graph={edit.graph} node={edit.node ?? ""} />}
        {edit.notes && <pre class="code block notes" {...scrolls("Notes")}>{plain(edit.notes)}</pre>}
        <div class="flex"><button class="btn main" onClick={write}>Write</button><button class="btn" onClick={() => show(undefined)}>Drop</button></div>
      </>}
      {said.ok && <p class="done" role="status">{said.ok}</p>}
      {said.bad && <Trouble text={said.bad} />}
    </div>
  );
}
