// A run: what it is and how it stands, its timeline, and the call that is selected.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { listen, param, post, type Problem } from "./api";
import { CallPanel } from "./call";
import { Boxes } from "./graph";
import { Ask, type AtMost, flowAddress, isRemote, isTemporal, type Project, Proposal, type Question, type Run as Head, runAddress, save } from "./pages";
import { Badge, Link, Main, Mark, Meter, put, scrolls, size, slim, tone, Trouble, word } from "./parts";
import { go, keys, route, set } from "./route";
import { bytes, count, counted, dollars, line, plain, shortID, span } from "./text";
import { report } from "./report";
import { type AgentBounds, turnsOf } from "./talk";
import { type Call, type Columns, type Live, isOpen, rowInset, rowLabel, rows, type Scope, seen, Tree, until } from "./tree";

export interface RunHead extends Head {
  lines: number;
  bytes: number;
  program?: string;
  graph?: string;
  tenant?: string;
  sync?: string;
  input?: unknown;
  output?: unknown;
  damage?: string;
  waits: Question[];
  file?: string;
  at_most?: AtMost;
  commands: Record<string, string>;
  nodes?: Record<string, Record<string, number>>;
  agents?: AgentBounds[];
  server?: string;
  temporal?: string;
  lacks?: string;
}

const ROW = 26;
const row = () => (slim.value ? 40 : ROW); // a narrow one has its bar below its name

// useRun follows a run.
function useRun(id: string) {
  const tree = useRef(new Tree());
  const [head, setHead] = useState<RunHead>();
  const [problem, setProblem] = useState<Problem>();
  const [version, bump] = useState(0);
  useLayoutEffect(() => { // asked for before the page is drawn
    tree.current = new Tree();
    setHead(undefined);
    setProblem(undefined);
    let drawn = 0;
    const later = () => {
      drawn ||= requestAnimationFrame(() => {
        drawn = 0;
        bump((n) => n + 1);
      });
    };
    return listen("run:" + id, (event, data) => {
      const first = event === "calls" && !tree.current.calls.length;
      if (event === "again") tree.current = new Tree();
      if (event === "calls") {
        tree.current.add(data as Columns);
        setProblem(undefined);
      }
      if (event === "live") for (const l of data as Live[]) tree.current.live.set(l.key, l);
      if (event === "run") {
        setHead(data as RunHead);
        setProblem(undefined);
      }
      if (event === "gone") setProblem(data as Problem);
      if (first) bump((n) => n + 1); // a page without rows waits for no frame
      else later();
    });
  }, [id]);
  return { tree: tree.current, head, problem, version };
}

// useNow is the time since a moment while something runs, once a second.
function useNow(begin: string | undefined, running: boolean): number {
  const [, tick] = useState(0);
  useEffect(() => {
    if (!running) return;
    const timer = setInterval(() => tick((n) => n + 1), 1000);
    return () => clearInterval(timer);
  }, [running]);
  return begin ? Date.now() - +new Date(begin) : 0;
}

export function RunPage({ id, project }: { id: string; project?: Project }) {
  const { tree, head, problem, version } = useRun(id);
  const running = head?.state === "running";
  const waiting = head?.state === "waiting";
  const clock = useNow(head?.begin, running);
  const q = route.value.query;
  const view = q.get("v") ?? "tree";
  const [open, setOpen] = useState(new Map<string, boolean>());
  const filter = { text: (q.get("q") ?? "").toLowerCase(), state: q.get("state") ?? "" };
  const took = Math.max((head?.took_ns ?? 0) / 1e6, ...(running && !report ? [clock] : []));
  const sized = waiting ? took * 1.12 : took; // room for what waits
  tree.failedAt = head?.state === "failed" ? (head.at ?? "") : "";
  useMemo(() => tree.sum(sized, running), [version, sized, running]);
  const list = useMemo(() => rows(tree, open, filter), [version, open, filter.text, filter.state, sized]);
  const selected = q.has("c") ? +q.get("c")! : undefined;
  const [at, setAt] = useState(0);
  const [zoom, setZoom] = useState<[number, number]>([0, 1]);

  const select = (i: number) => {
    i = Math.max(0, Math.min(i, list.length - 1));
    setAt(i);
    return list[i];
  };
  const fold = (s: Scope, to: boolean) => setOpen(new Map(open).set(s.path, to));
  const show = (s: Scope | undefined) => s?.calls.length && set("c", String(s.calls[s.calls.length - 1].n));
  const failure = (step: number) => {
    const failed = tree.calls.filter((c) => c?.state === "failed").sort((a, b) => a.start - b.start);
    if (!failed.length) return;
    const now = failed.findIndex((c) => c.n === selected);
    const next = failed[now < 0 ? (step > 0 ? 0 : failed.length - 1) : (now + step + failed.length) % failed.length];
    const map = new Map(open);
    for (let s = tree.find(next.key)?.up; s; s = s.up) map.set(s.path, true);
    setOpen(map);
    set("c", String(next.n));
    const shown = rows(tree, map, filter);
    setAt(Math.max(0, shown.findIndex((s) => s.path === next.key)));
  };
  const stretch = (by: number) => {
    const middle = (zoom[0] + zoom[1]) / 2;
    const half = Math.min(0.5, ((zoom[1] - zoom[0]) / 2) * by);
    const from = Math.max(0, Math.min(middle - half, 1 - 2 * half));
    setZoom([from, from + 2 * half]);
  };
  const pan = (by: number) => {
    const width = zoom[1] - zoom[0];
    const from = Math.max(0, Math.min(zoom[0] + by * width, 1 - width));
    setZoom([from, from + width]);
  };
  useLayoutEffect(
    () =>
      keys({
        j: () => select(at + 1), ArrowDown: () => select(at + 1), k: () => select(at - 1), ArrowUp: () => select(at - 1),
        h: () => list[at] && (isOpen(list[at], open) && list[at].kids.length ? fold(list[at], false) : list[at].up && select(list.indexOf(list[at].up!))),
        l: () => list[at]?.kids.length && fold(list[at], true),
        ArrowLeft: () => list[at] && fold(list[at], false), ArrowRight: () => list[at]?.kids.length && fold(list[at], true),
        Enter: () => show(list[at]), " ": () => show(list[at]),
        "]": () => failure(1), "[": () => failure(-1),
        w: () => stretch(0.5), s: () => stretch(2), a: () => pan(-0.25), e: () => pan(0.25),
        g: () => set("v", view === "graph" ? "" : "graph"), t: () => set("v", view === "time" ? "" : "time"),
        v: () => set("talk", q.get("talk") ? "" : "1"),
        x: () => set("rerun", q.get("rerun") ? "" : "1"),
        ...(report || isRemote(id) || isTemporal(id) ? {} : { d: () => go("/r?with=" + param(id)) }),
        "/": () => document.querySelector<HTMLInputElement>("#q")?.focus(),
        Escape: () => set("c", ""),
      }),
    [list, at, open, selected, zoom, view],
  );

  if (problem) return <Main title={"Run " + shortID(id)}><Trouble text={problem.title + (problem.detail ? ": " + problem.detail : "")} /></Main>;
  return (
    <main class="run">
      <RunTop head={head} project={project} id={id} tree={tree} took={took} />
      <div class={"columns" + (selected !== undefined ? " with-call" : "")} {...(slim.value ? scrolls("Calls") : {})}>
        <section class="panel" aria-label="Calls">
          <div class="head">
            <div class="seg" role="group" aria-label="View">
              {[["tree", "Tree"], ["time", "Table"], ["graph", "Graph"]].map(([v, name]) => <button aria-pressed={view === v} onClick={() => set("v", v === "tree" ? "" : v)}>{name}</button>)}
            </div>
            <label class="field"><span class="vh">Filter calls</span><input id="q" type="search" placeholder="Filter calls" value={q.get("q") ?? ""} onInput={(e) => set("q", e.currentTarget.value)} /><kbd>/</kbd></label>
            {(["failed", "cached", "waiting", "in_doubt"] as const).map((s) => {
              const n = s === "cached" ? head?.cached : s === "failed" ? head?.failed : s === "waiting" ? head?.waiting : head?.in_doubt;
              return (!!n || filter.state === s) && <button class="chip" aria-pressed={filter.state === s} onClick={() => set("state", filter.state === s ? "" : s)}><Mark state={s} /> {s.replace("_", " ")} {count(n ?? 0)}</button>;
            })}
            <span class="grow" />
            {!!head?.failed && <button class="btn bare" onClick={() => failure(1)}>next failure <kbd>]</kbd></button>}
          </div>
          {view === "graph" ? <RunGraph id={id} head={head} /> : view === "time" ? <Table tree={tree} filter={filter} selected={selected} now={sized} running={running} />
            : <Timeline tree={tree} list={list} at={at} onAt={setAt} open={open} fold={fold} selected={selected} zoom={zoom} now={sized} running={running} show={show} />}
          <div class="foot">
            {head && <>{counted(head.calls, "call")}, {counted(list.length, "row")} shown{!head.server && <>; journal line {count(head.lines)}, {bytes(head.bytes)}</>}</>}
            <span class="grow" />
            {view === "tree" && <span class="keys" role="group" aria-label="Time">
              <button class="btn bare" onClick={() => pan(-0.25)} disabled={zoom[0] === 0}>earlier <kbd>a</kbd></button><button class="btn bare" onClick={() => pan(0.25)} disabled={zoom[1] === 1}>later <kbd>e</kbd></button>
              <button class="btn bare" onClick={() => stretch(0.5)}>zoom in <kbd>w</kbd></button><button class="btn bare" onClick={() => stretch(2)} disabled={zoom[1] - zoom[0] === 1}>out <kbd>s</kbd></button></span>}
            <span class="keys"><kbd>j</kbd> <kbd>k</kbd> rows <kbd>h</kbd> <kbd>l</kbd> fold</span>
          </div>
        </section>
        {selected !== undefined && <CallPanel run={id} n={selected} version={tree.calls[selected]?.state ?? ""} said={running ? tree.live.get(tree.calls[selected]?.key)?.text : undefined} turns={turnsOf(tree.calls, tree.calls[selected])} all={tree.calls} agents={head?.agents} running={running} now={sized} file={head?.file} off={project?.read_only} input={head?.input} still={!project || project.no_run} />}
      </div>
    </main>
  );
}

function RunTop({ head, project, id, tree, took }: { head?: RunHead; project?: Project; id: string; tree: Tree; took: number }) {
  const [said, say] = useState("");
  const [sure, ask] = useState(false);
  const [naming, nameIt] = useState(false);
  const [name, call] = useState("");
  const act = (what: string, body: object) => post<unknown>("runs/" + param(id) + "/" + what, body).then(() => say("")).catch((e: Error) => say(e.message));
  if (!head) return <div class="lead" {...scrolls("The run")}><h1>{shortID(id)}</h1></div>;
  const bound = head.at_most?.total ?? undefined;
  const usd = head.at_most?.cost?.usd ?? undefined;
  const can = project && !project.no_run;
  const resumable = head.state === "stopped" || (!!head.server && head.state === "in_doubt") || head.state === "cancelled" || head.state === "failed";
  const unpriced = tree.calls.some((c) => c?.model && c.tokens > 0 && !c.cached && (c.cost === "0" || !c.cost));
  return (
    <div class="lead" {...scrolls("The run")}>
      <div class="flex wrap">
        <Mark state={head.state} />
        <h1>{line(head.workflow || id)}</h1>
        <code class="faint" title={id}>{id.slice(-24).replace(/^-/, "")}</code>
        <Badge tone={tone(head.state)}>{word(head.state)}</Badge>
        {head.state !== "succeeded" && head.at && <code>{line(head.at)}</code>}
        {head.code && <Badge tone="fail">{line(head.code)}</Badge>}
        {head.failed > 0 && head.state !== "failed" && <span class="dim">{count(head.failed)} failed and {head.failed === 1 ? "was" : "were"} caught</span>}
        {head.from && <span class="dim">began with {report ? line(head.from) : <Link class="link" to={runAddress(head.from)}>{shortID(head.from)}</Link>}</span>}
        <span class="grow" />
        {head.file && <Link class="btn" to={flowAddress(head.file)}>Workflow</Link>}
        {!report && !head.server && <button class="btn" title={"flowgen inspect " + id + " --html FILE"} onClick={() => save("runs/" + param(id) + "/report", id + ".html").then(() => say("")).catch((e: Error) => say(e.message))}>Save as a file</button>}
        {head.file && !project?.read_only && (head.state === "succeeded" || head.state === "failed") && <button class="btn" aria-expanded={naming} title={"flowgen test --from " + id + " --run NAME"} onClick={() => nameIt(!naming)}>Make a case</button>}
        {!report && !head.server && !head.temporal && <button class="btn" onClick={() => go("/r?with=" + param(id))}>Compare <kbd>d</kbd></button>}
        {can && resumable && (head.file || (head.server && head.state !== "cancelled")) && <button class={"btn" + (head.state === "stopped" ? " main" : "")} title={head.commands.resume} onClick={() => act("resume", { again: head.state === "failed" })}>{head.state === "failed" ? "Retry" : "Resume"}</button>}
        {can && !head.temporal && (head.state === "running" || (head.server && head.state === "waiting")) && (sure ? <span class="flex">Cancel this run? <button class="btn" onClick={() => { ask(false); act("cancel", {}); }}>Cancel it</button><button class="btn" onClick={() => ask(false)}>No</button></span>
          : <button class="btn" onClick={() => ask(true)}>Cancel</button>)}
      </div>
      {naming && head.file && <div class="flex wrap"><label class="field"><span class="vh">Name of the case</span><input name="case" placeholder="name of the case" value={name} onInput={(e) => call(e.currentTarget.value)} /></label>
        {name && <Proposal op={{ kind: "case", file: head.file, run: id, name }} off={project?.read_only} />}</div>}
      {head.temporal && <p class="dim">A run on Temporal, as <code>{line(head.temporal)} inspect --temporal</code> shows it. The page only reads it: answer, cancel and compare with the program.</p>}
      {head.server && <p class="dim">A run of the server at {line(head.server)}. It does not say: {head.lacks}.</p>}
      {head.damage && <Trouble text={head.damage + (head.server || head.temporal ? " What was read before is shown." : " What is before it is shown.")} />}
      {head.failure && <p class="failure fail" {...scrolls("Failure")}>{plain(head.failure).slice(0, 2000)}</p>}
      {head.state === "stopped" && head.commands.resume && <p class="dim">It goes on with <code>{line(head.commands.resume)}</code></p>}
      {said && <Trouble text={said} />}
      {head.waits.map((w) => <Ask key={w.key} run={id} q={w} off={project?.read_only || !!head.temporal} />)}
      <dl class="meters">
        <Meter name="calls" value={count(head.calls)} bound={bound === undefined ? undefined : count(bound)} share={bound ? head.calls / bound : undefined} />
        {!head.server && <Meter name="model calls" value={count(head.models)} />}
        <Meter name="cost" value={(unpriced ? "at least " : "") + dollars(head.cost_usd)} bound={usd === undefined ? undefined : dollars(usd)} share={usd && +usd ? +head.cost_usd / +usd : undefined} />
        <Meter name="tokens" value={count(head.tokens)} />
        <Meter name="took" value={span(took)} />
        <Meter name="retries" value={count(head.retries)} />
      </dl>
      <details class="about"><summary>input and output</summary>
        {head.server ? <p class="dim">The server does not say the input.</p> : <pre class="code block" {...scrolls("Input")}>{plain(JSON.stringify(head.input ?? null, null, 2)).slice(0, 65536)}</pre>}
        {head.output !== undefined && <pre class="code block" {...scrolls("Output")}>{plain(JSON.stringify(head.output, null, 2)).slice(0, 65536)}</pre>}
        <p class="faint">{!head.server && <>program {line(head.program || "unknown")}, </>}workflow {line(head.graph || "unknown")}{head.tenant && <>, tenant {line(head.tenant)}</>}{!head.server && <>, sync {head.sync || "-"}</>}, began {head.begin}</p>
      </details>
    </div>
  );
}

function RunGraph({ id, head }: { id: string; head?: RunHead }) {
  return <Boxes from={"runs/" + param(id) + "/graph"} states={head?.nodes} onPick={(path) => set("q", path)} />;
}

// ticks are round times in a range.
function ticks(from: number, to: number): number[] {
  const rough = (to - from) / 6;
  const unit = 10 ** Math.floor(Math.log10(Math.max(rough, 1e-6)));
  const step = [1, 2, 5, 10].map((m) => m * unit).find((s) => s >= rough) ?? unit;
  const list = [];
  for (let t = Math.ceil(from / step) * step; t < to && list.length < 12; t += step) list.push(t);
  return list;
}

interface Drawn {
  tree: Tree;
  list: Scope[];
  at: number;
  onAt: (i: number) => void;
  open: Map<string, boolean>;
  fold: (s: Scope, to: boolean) => void;
  selected?: number;
  zoom: [number, number];
  now: number;
  running: boolean;
  show: (s: Scope) => void;
}

// Timeline has a row of the page for each row that can be seen, and moves them: their number does not depend on the run.
function Timeline(p: Drawn) {
  const box = useRef<HTMLDivElement>(null);
  const [top, scroll] = useState(0);
  const [tall, setTall] = useState(600);
  useEffect(() => {
    const el = box.current!;
    const seen = new ResizeObserver(() => setTall(el.clientHeight));
    seen.observe(el);
    return () => seen.disconnect();
  }, []);
  useEffect(() => {
    const el = box.current!;
    const y = p.at * row();
    if (y < el.scrollTop) el.scrollTop = y;
    else if (y + row() > el.scrollTop + el.clientHeight) el.scrollTop = y + row() - el.clientHeight;
  }, [p.at]);
  const first = Math.max(0, Math.floor(top / row()) - 4);
  const shown = p.list.slice(first, first + Math.ceil(tall / row()) + 8);
  const from = p.zoom[0] * p.now;
  const to = p.zoom[1] * p.now;
  const overview = useMemo(() => <Overview {...p} from={from} to={to} />, [p.list, p.now, p.running, from, to]); // reads all calls: not at each scroll
  return (
    <>
      {overview}
      <div class="axis" aria-hidden="true"><span>call</span><span class="num">took</span><svg viewBox="0 0 1000 18" preserveAspectRatio="none" class="ticks">{ticks(from, to).map((t) => <path d={"M" + ((t - from) / (to - from)) * 1000 + " 0v18"} />)}</svg>
        <span class="times">{ticks(from, to).map((t) => <span ref={put("left", ((t - from) / (to - from)) * 100 + "%")}>{span(t)}</span>)}</span></div>
      <div class="rows" ref={box} onScroll={(e) => scroll(e.currentTarget.scrollTop)} tabIndex={0} role="treegrid" aria-label="Timeline" aria-rowcount={p.list.length} aria-activedescendant={p.list[p.at] && "row-" + p.at}>
        <div class="all" ref={size(p.list.length * row())} role="presentation">
          {shown.map((s, i) => <Row key={i} s={s} i={first + i} {...p} from={from} to={to} />)}
        </div>
      </div>
    </>
  );
}

function Row(p: Drawn & { s: Scope; i: number; from: number; to: number }) {
  const { s, i } = p;
  const last = s.calls[s.calls.length - 1] as Call | undefined;
  const isFold = s.kids.length > 0;
  const opened = isFold && isOpen(s, p.open);
  const kind = last?.question ? "person" : last?.model ? "model" : isFold ? "scope" : "tool";
  const chosen = s.calls.some((c) => c.n === p.selected);
  return (
    <div id={"row-" + i} ref={put("top", i * row() + "px")} class={"row" + (chosen ? " sel" : "") + (p.at === i ? " at" : "") + (s.state === "waiting" && last ? " waits" : "")} role="row" aria-level={rowInset(s) + 1} aria-rowindex={i + 1} aria-selected={chosen} aria-expanded={isFold ? opened : undefined}
      onClick={() => { p.onAt(i); if (last) p.show(s); else if (isFold) p.fold(s, !opened); }}>
      <span class="what cut" role="gridcell" ref={put("padding-left", 8 + rowInset(s) * 18 + "px")}>
        <button class="turn" tabIndex={-1} aria-label={opened ? "close" : "open"} hidden={!isFold} onClick={(e) => { e.stopPropagation(); p.onAt(i); p.fold(s, !opened); }}>{opened ? "\u2304" : "\u203a"}</button>
        <Mark state={s.path === p.tree.failedAt ? "failed" : s.state === "done" && s.cached === s.all ? "cached" : s.state} />
        <i class={"kind k-" + kind} aria-hidden="true" />
        <span class="cut label">{line(rowLabel(s), 80)}</span>
        {last?.code && last.state === "failed" && <Badge tone="fail">{line(last.code, 40)}</Badge>}
        {last?.denied && <Badge>denied</Badge>}
        {last && s.calls.length > 1 && <small>{s.calls.length} attempts</small>}
        {last?.model && last.cost !== "0" && <small>{dollars(last.cost)}</small>}
        {isFold && <small>{counted(s.all, "call")}</small>}
        {isFold && s.failed > 0 && <Badge tone="fail">{count(s.failed)} failed</Badge>}
        {isFold && s.cached > 0 && <Badge tone="hit">{count(s.cached)} cached</Badge>}
        {p.running && <Now live={p.tree.live.get(s.path)} last={last} />}
        {last && <small class="cut">{line(last.tool, 60)}</small>}
      </span>
      <span class="num took" role="gridcell">{last && (last.state === "in_doubt" || last.state === "open") && !p.running ? "-" : span(Math.max(0, s.end - s.start))}</span>
      <span class="time" role="gridcell"><Bars {...p} /></span>
    </div>
  );
}

// Now is what a node is at: the items of a map that have ended, the wait for the next attempt, or the end of what a call has said.
function Now({ live, last }: { live?: Live; last?: Call }) {
  if (!live) return null;
  const wait = live.until ? +new Date(live.until) - Date.now() : 0;
  if (wait > 0 && last?.state !== "open") return <small class="now wait">next attempt in {span(Math.ceil(wait / 1000) * 1000)}: {line(live.reason ?? "", 40)}</small>;
  if (live.total && (live.done ?? 0) < live.total) return <small class="now">{count(live.done ?? 0)} of {count(live.total)}</small>;
  return last?.state === "open" && live.text ? <small class="now cut">{line(live.text.trim().slice(-80), 80)}</small> : null;
}

const dense = new WeakMap<Scope, { of: string; bins: Uint8Array }>();

// density is what is below a scope at each of 250 places of the axis: 1 tool, 2 model, 3 failed, 4 user. It is kept while nothing changes.
function density(s: Scope, from: number, to: number, now: number, running: boolean): Uint8Array {
  const of = [from, to, s.all, s.failed, s.state, s.end].join();
  const kept = dense.get(s);
  if (kept?.of === of) return kept.bins;
  const bins = new Uint8Array(250);
  const place = (t: number) => Math.floor(((t - from) / Math.max(to - from, 1e-9)) * 250);
  const stack = [s];
  for (let k = stack.pop(); k; k = stack.pop()) {
    for (const c of k.calls) {
      const kind = c.state === "failed" ? 3 : c.question ? 4 : c.model ? 2 : 1;
      const last = Math.min(249, place(until(c, now, running)));
      for (let n = Math.max(0, place(c.start)); n <= last; n++) bins[n] = Math.max(bins[n], kind);
    }
    for (const kid of k.kids) stack.push(kid);
  }
  dense.set(s, { of, bins });
  return bins;
}

// Bars are drawn in thousandths of what the axis shows.
function Bars({ s, from, to, now, running }: { s: Scope; from: number; to: number; now: number; running: boolean }) {
  const x = (t: number) => ((t - from) / Math.max(to - from, 1e-9)) * 1000;
  const rects = [];
  if (s.kids.length) {
    rects.push(<rect class="b-lane" x={x(s.start)} y="9" width={Math.max(2, x(s.end) - x(s.start))} height="8" />);
    const bins = density(s, from, to, now, running);
    for (let n = 0; n < 250; ) {
      let m = n;
      while (m < 250 && bins[m] === bins[n]) m++;
      if (bins[n]) rects.push(<rect class={["", "b-tool", "b-model", "b-fail", "b-person"][bins[n]]} x={n * 4} y={bins[n] === 3 ? 6 : 10} width={(m - n) * 4} height={bins[n] === 3 ? 14 : 6} />);
      n = m;
    }
  }
  s.calls.forEach((c, i) => {
    const before = s.calls[i - 1];
    if (before && c.start > before.end) rects.push(<path class="pause" d={"M" + x(before.end) + " 13H" + x(c.start)} />);
  });
  for (const c of s.calls) {
    const a = x(c.start);
    const wide = Math.max(c.state === "failed" ? 4 : 3, x(until(c, now, running)) - a);
    const kind = c.state === "failed" ? "b-fail" : ["in_doubt", "stopped"].includes(seen(c.state, running)) ? "b-doubt" : c.question ? "b-person" : c.cached ? "b-hit" : c.model ? "b-model" : "b-tool";
    rects.push(<rect class={kind + (c.again ? " again" : "")} x={a} y="7" width={c.cached ? Math.max(8, wide) : wide} height="12" rx="1" />);
  }
  return <svg viewBox="0 0 1000 26" preserveAspectRatio="none" aria-hidden="true">{rects}</svg>;
}

// Overview is the density of calls over the time of the run.
function Overview({ tree, from, to, now, running }: Drawn & { from: number; to: number }) {
  const N = 200;
  const tools = new Float32Array(N + 1);
  const models = new Float32Array(N + 1);
  const fails = new Set<number>();
  for (const c of tree.calls) {
    if (!c) continue;
    const a = Math.min(N - 1, Math.floor((c.start / now) * N));
    const b = Math.min(N - 1, Math.floor((until(c, now, running) / now) * N));
    const into = c.model ? models : tools;
    into[a]++;
    into[b + 1]--;
    if (c.state === "failed") fails.add(b);
  }
  const path = (d: Float32Array, most: number) => {
    let at = 0;
    let text = "M0 40";
    for (let i = 0; i < N; i++) {
      at += d[i];
      text += "V" + (40 - (Math.max(0, at) / most) * 34).toFixed(1) + "H" + (i + 1);
    }
    return text + "V40Z";
  };
  let most = 1;
  let a = 0;
  let b = 0;
  for (let i = 0; i < N; i++) most = Math.max(most, (a += tools[i]), (b += models[i]));
  return (
    <div class="overview" aria-hidden="true">
      <span class="legend"><i class="k-tool kind" /> tools <i class="k-model kind" /> models <i class="k-fail kind" /> failed</span>
      <svg viewBox={"0 0 " + N + " 40"} preserveAspectRatio="none">
        <path class="b-tool" d={path(tools, most)} />
        <path class="b-model" d={path(models, most)} />
        {[...fails].map((f) => <rect class="b-fail" x={f} y="0" width="1" height="8" />)}
        {to - from < now && <rect class="frame" x={(from / now) * N} width={((to - from) / now) * N} y="0" height="40" />}
      </svg>
    </div>
  );
}

function Table({ tree, filter, selected, now, running }: { tree: Tree; filter: { text: string; state: string }; selected?: number; now: number; running: boolean }) {
  const [top, scroll] = useState(0);
  const list = tree.calls.filter((c) => c && (!filter.text || (c.key + " " + c.tool + " " + c.code).toLowerCase().includes(filter.text)) && (!filter.state || (filter.state === "cached" ? c.cached : c.state === filter.state)));
  const first = Math.max(0, Math.floor(top / ROW) - 4);
  return (
    <>
      <div class="row calls names" aria-hidden="true"><span /><span>call</span><span>tool</span><span /><span class="num">began</span><span class="num">took</span><span class="num">tokens</span><span class="num">cost</span></div>
      <div class="rows" tabIndex={0} role="grid" aria-label="Calls" aria-rowcount={list.length} onScroll={(e) => scroll(e.currentTarget.scrollTop)}>
        <div class="all" ref={size(list.length * ROW)} role="presentation">
          {list.slice(first, first + 60).map((c, i) => (
            <div key={i} ref={put("top", (first + i) * ROW + "px")} class={"row calls" + (c.n === selected ? " sel" : "")} role="row" aria-rowindex={first + i + 1} onClick={() => set("c", String(c.n))}>
              <span role="gridcell"><Mark state={c.cached ? "cached" : seen(c.state, running)} /></span><span role="gridcell" class="cut mono">{line(c.key)}</span><span role="gridcell" class="cut dim">{line(c.tool)}</span>
              <span role="gridcell">{c.code && <Badge tone="fail">{line(c.code)}</Badge>}</span><span role="gridcell" class="num">+{span(c.start)}</span><span role="gridcell" class="num">{["in_doubt", "stopped"].includes(seen(c.state, running)) ? "-" : span(until(c, now, running) - c.start)}</span>
              <span role="gridcell" class="num">{c.tokens ? count(c.tokens) : ""}</span><span role="gridcell" class="num">{c.cost !== "0" ? dollars(c.cost) : ""}</span>
            </div>
          ))}
        </div>
      </div>
    </>
  );
}
