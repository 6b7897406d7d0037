// The page: what is at which address, and what is on all of them.
import { signal } from "@preact/signals";
import { render } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { begin, lost } from "./api";
import { FlowPage } from "./flow";
import { Compare, Inbox, type Project, type Question, Runs, undo, Usage, useData, Workflows, Written } from "./pages";
import { Link, Main } from "./parts";
import { report } from "./report";
import { RunPage } from "./run";
import { Tests } from "./tests";
import { go, keys, route } from "./route";
import { line } from "./text";

const THEME = "flowgen.studio.theme";
const theme = signal(report ? "" : (localStorage.getItem(THEME) ?? "")); // a file keeps nothing
const help = signal(false);

function dark() {
  const now = theme.value || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  theme.value = now === "dark" ? "light" : "dark";
  if (!report) localStorage.setItem(THEME, theme.value);
}

const allKeys: [string, string][] = [
  ["?", "these keys"], ["1 2 3 4 5", "workflows, runs, inbox, usage, tests"], ["/", "filter"], ["j k", "next and previous row"], ["h l", "close and open a row, or a box of the graph"], ["Enter", "show the row"], ["v", "the conversation of an agent"],
  ["[ ]", "previous and next failure"], ["w s", "zoom in and out of the time"], ["a e", "earlier and later"], ["g", "graph of the run"], ["t", "table of calls"], ["x", "edit the node of a call, and rerun"], ["d", "compare with the marked run"],
  ["r", "start a run, on the page of a workflow; run the cases, on that of tests"], ["u", "undo the last edit"], ["Esc", "close, or leave a field"],
];

function Keys() {
  return (
    <div class="sheet" tabIndex={0} role="dialog" aria-modal="true" aria-label="Keys">
      <h2>Keys</h2>
      <dl class="facts">{allKeys.filter(([k]) => !report || !["1 2 3 4 5", "x", "d", "r", "u"].includes(k)).map(([k, what]) => <><dt>{k.split(" ").map((one) => <kbd>{one}</kbd>)}</dt><dd>{what}</dd></>)}</dl>
      <p class="dim">Arrow keys move in rows and graphs, too. In a field no letter is a command.</p>
      <button class="btn" autoFocus onClick={() => (help.value = false)}>Close</button>
    </div>
  );
}

function Connection() {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => lost.value && tick((n) => n + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  return lost.value ? <span class="live lost" role="status">lost {Math.round((Date.now() - lost.value) / 1000)} s ago, trying</span> : <span class="live">live</span>;
}

function Page({ project }: { project?: Project }) {
  const path = route.value.path;
  if (report) return <RunPage id={report.id} project={project} />;
  const run = /^\/r\/([^/]+)$/.exec(path);
  const pair = /^\/d\/([^/]+)\/([^/]+)$/.exec(path);
  if (run) return <RunPage id={decodeURIComponent(run[1])} project={project} key={run[1]} />;
  if (pair) return <Compare a={decodeURIComponent(pair[1])} b={decodeURIComponent(pair[2])} />;
  switch (path) {
    case "/":
      return <Workflows />;
    case "/w":
      return <FlowPage project={project} />;
    case "/r":
      return <Runs project={project} />;
    case "/inbox":
      return <Inbox project={project} />;
    case "/usage":
      return <Usage />;
    case "/tests":
      return <Tests project={project} />;
  }
  return <Main title="Nothing here"><p class="empty">Nothing has this address. <Link class="link" to="/">Workflows</Link></p></Main>;
}

const pages = { "1": () => go("/"), "2": () => go("/r"), "3": () => go("/inbox"), "4": () => go("/usage"), "5": () => go("/tests"), u: () => void undo() };

function App() {
  const { data: project, error } = useData<Project>("project", "project", ["project.changed"]);
  const { data: inbox } = useData<{ questions: Question[] }>("inbox", "runs", ["runs.changed"]);
  const path = route.value.path;
  useLayoutEffect(() => keys({ "?": () => (help.value = !help.value), ...(report ? {} : pages) }), []);
  useLayoutEffect(() => (help.value ? keys({ Escape: () => (help.value = false) }, true) : undefined), [help.value]);
  useEffect(() => void (document.documentElement.dataset.theme = theme.value), [theme.value]);
  const waits = inbox?.questions.length ?? 0;
  const item = (to: string, name: string, on: boolean, n?: number) => <Link to={to} {...(on ? { "aria-current": "page" as const } : {})}>{name}{!!n && <span class="count wait">{n}</span>}</Link>;
  return (
    <>
      <header class="top">
        <span class="logo"><svg viewBox="0 0 16 16" class="m" aria-hidden="true"><path d="M2 3.5H6L10 12.5H14M10 3.5H14" /></svg>studio</span>
        <span class="faint cut root" title={project?.root}>{line(project?.root ?? "", 80)}</span>
        {report ? <span class="dim">a recorded run in one file, by {line(project?.version ?? "")}</span> : <nav aria-label="Pages">{item("/", "Workflows", path === "/" || path === "/w")}{item("/r", "Runs", path.startsWith("/r") || path.startsWith("/d"))}{item("/inbox", "Inbox", path === "/inbox", waits)}{item("/usage", "Usage", path === "/usage")}{item("/tests", "Tests", path === "/tests")}</nav>}
        <span class="grow" />
        {project?.read_only && !report && <span class="badge">read only</span>}
        {!report && <Connection />}
        <button class="btn bare" onClick={dark} aria-label="dark or light">◐</button>
        <button class="btn bare" onClick={() => (help.value = true)}>Keys <kbd>?</kbd></button>
      </header>
      {error ? <Main title="Studio"><p class="trouble" role="alert">{line(error, 600)}</p></Main> : <Page project={project} />}
      <Written />
      {help.value && <Keys />}
      <div class="vh" aria-live="polite">{waits ? waits + (waits === 1 ? " question waits" : " questions wait") : ""}</div>
    </>
  );
}

void begin().then(() => render(<App />, document.getElementById("app")!));
