// A workflow: graph, text with marks, diagnostics, plan, manifest, generated Go, its agents, and a form that starts a run.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Agent, AgentPanel } from "./agents";
import { post } from "./api";
import { Boxes, type Picture } from "./graph";
import { type AtMost, flowAddress, type Project, Proposal, runAddress, useData, worstCase } from "./pages";
import { Badge, Link, Main, Mark, scrolls, slim, Trouble } from "./parts";
import { go, keys, route, set } from "./route";
import { Secrets, type UsedSecret } from "./secrets";
import { counted, line, plain } from "./text";

interface Place { file: string; line: number; col: number; end: number }
interface Diagnostic { fixes?: unknown[]; severity: string; code: string; message: string; file?: string; range?: { start: { line: number; column: number }; end: { line: number; column: number } }; help?: string }
interface Flow {
  file: string; name: string; description: string; dialect: string; source: string; diagnostics: Diagnostic[]; errors: number; warnings: number; plan: string; manifest: string; go: string;
  places: Record<string, Place>; agents: Agent[]; secrets: UsedSecret[]; command: string; at_most?: AtMost; input?: Schema; graph?: Picture;
}
interface Schema { type?: string; enum?: string[]; properties?: Record<string, Schema>; required?: string[]; default?: unknown; description?: string; items?: Schema; $ref?: string; anyOf?: Schema[] }

export function FlowPage({ project }: { project?: Project }) {
  const q = route.value.query;
  const file = q.get("file") ?? "";
  const tab = q.get("tab") ?? "yaml";
  const node = q.get("node") ?? "";
  const { data: w, error, again } = useData<Flow>("workflow?file=" + encodeURIComponent(file), "project", ["project.changed"]);
  const last = useRef<Flow>(undefined as unknown as Flow);
  if (w) last.current = w;
  const f = w ?? (last.current?.file === file ? last.current : undefined);
  const [form, openForm] = useState(false);
  useLayoutEffect(() => keys({ Escape: () => (form ? openForm(false) : set("node", "")), r: () => openForm(true) }), [form]);
  if (error) return <Main title={line(file || "Workflow")}><Trouble text={error} /></Main>;
  if (!f) return <Main title={line(file || "Workflow")} />;
  const own = f.diagnostics.flatMap((d) => ((d.file ?? f.file) === f.file ? [d] : named(f, d)));
  const marks: Record<string, string> = {};
  for (const d of own) {
    for (const [path, p] of Object.entries(f.places)) {
      if (p.file === f.file && d.range && d.range.start.line >= p.line && d.range.start.line <= p.end && d.severity !== "note") marks[path] = d.severity === "error" ? "error" : marks[path] ?? "warning";
    }
  }
  const runnable = f.graph && project && !project.no_run;
  const tabs: [string, string][] = [["yaml", "YAML"], ["go", "Generated Go"], ["plan", "Plan"], ["manifest", "Manifest"], ...(f.secrets.length ? [["secrets", "Secrets " + f.secrets.length] as [string, string]] : []), ...(f.agents.length ? [["agents", "Agents " + f.agents.length] as [string, string]] : [])];
  return (
    <main class="run">
      <div class="lead flex wrap" {...scrolls("The workflow")}>
        <Mark state={f.errors ? "failed" : "done"} />
        <h1>{line(f.name || f.file)}</h1><code class="faint">{line(f.file)}</code>
        {f.errors > 0 && <Badge tone="fail">{counted(f.errors, "error")}</Badge>}
        {f.warnings > 0 && <Badge tone="wait">{counted(f.warnings, "warning")}</Badge>}
        {f.dialect && <Badge>{line(f.dialect)}</Badge>}
        <span class="dim cut">{line(f.description)}</span>
        <span class="grow" />
        <span class="dim">{worstCase(f.at_most)}</span>
        {f.name && <Link class="btn" to={"/r?workflow=" + encodeURIComponent(f.name)}>Runs</Link>}
        <button class="btn main" disabled={!runnable} title={!f.graph ? "it has errors" : project?.no_run ? "studio starts nothing: --no-run or --read-only" : f.command} onClick={() => openForm(!form)}>Run <kbd>r</kbd></button>
      </div>
      {form && runnable && <Start flow={f} close={() => openForm(false)} />}
      <div class="columns flow" {...(slim.value ? scrolls("Graph and text") : {})}>
        <section class="panel" aria-label="Graph">
          <div class="head"><h2>Graph</h2><span class="faint">{f.graph ? counted(f.graph.nodes.filter((n) => !n.end).length, "node") : ""}</span></div>
          {f.graph ? <Boxes from={"graph?file=" + encodeURIComponent(f.file)} first={f.graph} marks={marks} selected={node} onPick={(p) => set("node", p)} /> : <NodeList flow={f} marks={marks} selected={node} />}
          {f.diagnostics.length > 0 && <div class={"diagnostics" + (f.graph ? "" : " alone")} {...scrolls("Diagnostics")}>
            <div class="head"><h2>Diagnostics</h2><span class="faint">as <code>flowgen check</code> says</span></div>
            <ul>{f.diagnostics.map((d) => <li><Mark state={d.severity} /><code>{d.code}</code><span class="grow">{line(d.message, 600)}{d.help && <small class="help">{line(d.help, 600)}</small>}</span><code class="faint">{d.file && d.file !== f.file ? line(d.file) + ":" : ""}{d.range && d.range.start.line + ":" + d.range.start.column}</code></li>)}</ul>
            {f.diagnostics.some((d) => d.fixes?.length) && <div class="fixes"><Proposal op={{ kind: "fix", file: f.file }} label="Show the fix" off={project?.read_only} onWritten={again} /></div>}
          </div>}
        </section>
        <section class="panel" aria-label="Text">
          <div class="head"><div class="seg" role="group" aria-label="Text">{tabs.map(([t, name]) => <button aria-pressed={tab === t} onClick={() => set("tab", t === "yaml" ? "" : t)}>{name}</button>)}</div><span class="grow" />{(tab === "yaml" || tab === "go") && <span class="faint keys">{tab === "go" ? "generated" : "edit it in your editor"}</span>}</div>
          {tab === "yaml" && <Source text={f.source} marks={own} at={f.places[node]?.file === f.file ? f.places[node] : undefined} pick={(n) => set("node", nodeAt(f, n))} />}
          {tab === "go" && (f.go ? <GoText text={f.go} flow={f} node={node} /> : <p class="empty">There is no Go while the file has errors.</p>)}
          {tab === "plan" && <pre class="code block page-text" {...scrolls("Plan")}>{plain(f.plan) || "There is no plan while the file has errors."}</pre>}
          {tab === "manifest" && <pre class="code block page-text" {...scrolls("Manifest")}>{plain(f.manifest) || "There is no manifest while the file has errors."}</pre>}
          {tab === "secrets" && <div class="body" {...scrolls("Secrets")}><Secrets list={f.secrets} /></div>}
          {tab === "agents" && <div class="body" {...scrolls("Agents")}>{f.agents.map((a) => <AgentPanel agent={a} file={f.file} workflow={f.name} native={!f.dialect} off={project?.read_only} onWritten={again} key={a.node} />)}</div>}
        </section>
      </div>
    </main>
  );
}

// named are the places of the file that name the file of a diagnostic, a prompt for example: there it is shown, too.
function named(f: Flow, d: Diagnostic): Diagnostic[] {
  const dir = f.file.slice(0, f.file.lastIndexOf("/") + 1);
  if (!d.file?.startsWith(dir)) return [];
  const name = d.file.slice(dir.length);
  return f.source.split("\n").flatMap((l, i) => {
    const at = l.search(new RegExp("(?<![\\w./-])(\\./)?" + name.replace(/[^\w/]/g, "\\$&") + "(?![\\w./-])"));
    if (at < 0) return [];
    const column = [...l.slice(0, at)].length + 1;
    return [{ ...d, message: name + (d.range ? ":" + d.range.start.line + ":" + d.range.start.column : "") + ": " + d.message, range: { start: { line: i + 1, column }, end: { line: i + 1, column: column + [...name].length } } }];
  });
}


// nodeAt is the innermost node whose text has a line.
function nodeAt(f: Flow, n: number): string {
  let best = "";
  for (const [path, p] of Object.entries(f.places)) if (p.file === f.file && p.line <= n && n <= p.end && (!best || p.line >= f.places[best].line)) best = path;
  return best;
}

function NodeList({ flow, marks, selected }: { flow: Flow; marks: Record<string, string>; selected: string }) {
  const names = Object.keys(flow.places);
  return names.length ? <div class="node-list" {...scrolls("Nodes")}><ul>{names.map((p) => <li><button class={"btn bare" + (p === selected ? " on" : "")} onClick={() => set("node", p)}>{marks[p] && <Mark state="failed" />} {line(p)}</button></li>)}</ul></div>
    : <p class="empty">The file cannot be read as a workflow; the diagnostics say why.</p>;
}

const MOST = 4000;

// Source is the text of the file with what check says in it.
function Source({ text, marks, at, pick }: { text: string; marks: Diagnostic[]; at?: Place; pick: (line: number) => void }) {
  const box = useRef<HTMLPreElement>(null);
  useEffect(() => {
    const el = box.current?.querySelector<HTMLElement>(".on");
    if (el && box.current) box.current.scrollTop = el.offsetTop - box.current.clientHeight / 3;
  }, [at?.line, at?.file]);
  const lines = useMemo(() => text.split("\n"), [text]);
  return (
    <pre class="code cnt" ref={box} {...scrolls("YAML")}>
      {lines.slice(0, MOST).map((l, i) => {
        const here = marks.filter((d) => d.range?.start.line === i + 1);
        return (
          <>
            <span class={(at && at.line <= i + 1 && i + 1 <= at.end ? "on" : "") + (here.length ? " bad" : "")} onClick={() => pick(i + 1)}>{yaml(l, here)}{"\n"}</span>
            {here.map((d) => <span class={"msg " + (d.severity === "error" ? "fail" : "wait")}>{line(d.message, 400)}{"\n"}</span>)}
          </>
        );
      })}
      {lines.length > MOST && <span class="msg">{lines.length - MOST} more lines</span>}
    </pre>
  );
}

// yaml colours one line: keys, texts, references and comments.
function yaml(l: string, marks: Diagnostic[]): ComponentChildren {
  const first = marks[0]?.range;
  if (first) {
    const letters = [...l];
    const from = first.start.column - 1;
    const to = first.end.line > first.start.line ? letters.length : Math.max(first.end.column - 1, from + 1);
    return <>{plain(letters.slice(0, from).join(""))}<u title={marks.map((d) => d.message).join("\n")}>{plain(letters.slice(from, to).join(""))}</u>{plain(letters.slice(to).join(""))}</>;
  }
  const out: ComponentChildren[] = [];
  const token = /(#.*$)|("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')|(\$[a-z_][\w.?\[\]]*|\{\{[^}]*\}\})|([A-Za-z_][\w-]*)(?=:(?:\s|$))/g;
  let last = 0;
  for (let m = token.exec(l); m; m = token.exec(l)) {
    if (m[1] && m.index && !/\s/.test(l[m.index - 1])) continue;
    out.push(plain(l.slice(last, m.index)));
    out.push(m[1] ? <small>{plain(m[1])}</small> : m[2] ? <em>{plain(m[2])}</em> : m[3] ? <i>{plain(m[3])}</i> : <b>{m[4]}</b>);
    last = m.index + m[0].length;
  }
  out.push(plain(l.slice(last)));
  return out;
}

// GoText keeps the place of the selected node: its id is in the calls that are generated for it.
function GoText({ text, flow, node }: { text: string; flow: Flow; node: string }) {
  const box = useRef<HTMLPreElement>(null);
  const p = flow.places[node];
  const lines = useMemo(() => text.split("\n"), [text]);
  // the table of nodes has the place in the file
  const row = p ? lines.findIndex((l) => l.includes(flow.file.split("/").pop() + ":" + p.line + ":")) : -1;
  const name = row >= 0 ? (/^\s*(\w+)\s*=/.exec(lines[row])?.[1] ?? /(\w+)\s*[:=]/.exec(lines[row])?.[1]) : undefined;
  const use = name ? lines.findIndex((l, i) => i !== row && new RegExp("\\b" + name + "\\b").test(l)) : -1;
  const on = use >= 0 ? use : row;
  useEffect(() => {
    const el = box.current?.querySelector<HTMLElement>(".on");
    if (el && box.current) box.current.scrollTop = el.offsetTop - box.current.clientHeight / 3;
  }, [on, text]);
  return <pre class="code cnt" ref={box} {...scrolls("Generated Go")}>{lines.slice(0, 20000).map((l, i) => <span class={i === on ? "on" : ""}>{plain(l)}{"\n"}</span>)}</pre>;
}

// Start is a form made from the schema of the input.
function Start({ flow, close }: { flow: Flow; close: () => void }) {
  const fields = Object.entries(flow.input?.properties ?? {});
  const [values, write] = useState<Record<string, string>>({});
  const [bad, say] = useState("");
  const [busy, work] = useState(false);
  const needed = new Set(flow.input?.required ?? []);
  const first = useRef<HTMLFormElement>(null);
  useEffect(() => first.current?.querySelector<HTMLElement>("input, select, textarea, button")?.focus(), []);
  const submit = (e: Event) => {
    e.preventDefault();
    const input: Record<string, unknown> = {};
    for (const [name, s] of fields) {
      const text = values[name];
      if (text === undefined || (text === "" && !(needed.has(name) && s.type === "string"))) {
        if (needed.has(name) && s.type === "string") input[name] = "";
        continue;
      }
      try {
        input[name] = s.type === "string" || s.enum ? text : JSON.parse(text);
      } catch {
        say(name + ": " + (s.type ?? "a value") + " is expected, as JSON");
        return;
      }
    }
    work(true);
    say("");
    post<{ run: string }>("runs", { file: flow.file, input }).then((r) => go(runAddress(r.run))).catch((e: Error) => { say(e.message); work(false); });
  };
  return (
    <form class="start" ref={first} tabIndex={0} onSubmit={submit} aria-label="Start a run">
      {!fields.length && <p class="dim">The workflow has no input.</p>}
      {fields.map(([name, s]) => {
        const now = values[name] ?? "";
        const put = (v: string) => write({ ...values, [name]: v });
        const hint = s.default !== undefined ? JSON.stringify(s.default) : s.type ?? "JSON";
        return (
          <label class="input"><span><b>{line(name)}</b> <small>{s.enum ? "one of" : s.type ?? ""}{needed.has(name) ? "" : ", optional"}{s.description && ": " + line(s.description)}</small></span>
            {s.enum ? <select name={name} value={now} onChange={(e) => put(e.currentTarget.value)}><option value="">{s.default !== undefined ? String(s.default) : "-"}</option>{s.enum.map((v) => <option value={v}>{line(v)}</option>)}</select>
              : s.type === "boolean" ? <select name={name} value={now} onChange={(e) => put(e.currentTarget.value)}><option value="">{hint}</option><option>true</option><option>false</option></select>
              : s.type === "integer" || s.type === "number" ? <input name={name} inputMode="numeric" placeholder={hint} value={now} onInput={(e) => put(e.currentTarget.value)} />
              : <textarea name={name} rows={s.type === "string" ? 1 : 3} placeholder={hint} value={now} onInput={(e) => put(e.currentTarget.value)} />}
          </label>
        );
      })}
      <div class="flex"><button class="btn main" disabled={busy}>{busy ? "Starting" : "Start"}</button><button type="button" class="btn" onClick={close}>Close</button><code class="faint cut">{line(flow.command)} --input-json -</code></div>
      {bad && <Trouble text={bad} />}
    </form>
  );
}

export { flowAddress };
