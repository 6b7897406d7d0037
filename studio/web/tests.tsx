// Test cases of the folder, and how they ended when they were run here.
import { useLayoutEffect, useState } from "preact/hooks";
import { post } from "./api";
import { flowAddress, type Project, useData } from "./pages";
import { Link, Mark, scrolls, Trouble } from "./parts";
import { keys } from "./route";
import { count, line, plain } from "./text";

interface File { file: string; workflow: string; cases: string[]; problem?: string }
interface Tested { running: boolean; results: { file: string; name: string; failure?: string }[]; said?: string; command: string }

export function Tests({ project }: { project?: Project }) {
  const { data, error, again } = useData<{ files: File[]; last: Tested | null }>("tests", "project", ["project.changed"]);
  const [busy, work] = useState(false);
  const [bad, say] = useState("");
  const can = !!project && !project.no_run;
  const run = (file: string) => {
    if (!can || busy) return;
    work(true);
    say("");
    post<Tested>("tests", { file }).catch((e: Error) => say(e.message)).finally(() => { work(false); again(); });
  };
  useLayoutEffect(() => keys({ r: () => run("") }), [can, busy]);
  const last = data?.last;
  const failed = last?.results.filter((r) => r.failure).length ?? 0;
  return (
    <main class="page" tabIndex={0} aria-label="Tests">
      <div class="bar">
        <h1>Tests</h1>
        <span class="grow" />
        {busy ? <span class="dim" role="status">running</span> : last && !last.running && <span class={failed || last.said ? "fail" : "done"} role="status">{last.said ? "not run" : count(last.results.length) + " run, " + count(failed) + " failed"}</span>}
        <button class="btn main" disabled={!can || busy || !data?.files.length} title={can ? "flowgen test ./..." : "studio starts nothing: --no-run or --read-only"} onClick={() => run("")}>Run all <kbd>r</kbd></button>
      </div>
      {error && <Trouble text={error} />}
      {bad && <Trouble text={bad} />}
      {last?.said && <pre class="code block" {...scrolls("Why it was not run")}>{plain(last.said)}</pre>}
      {data && !data.files.length && <p class="empty">No *.test.yaml in this folder. A recorded run becomes a case with <i>Make a case</i>.</p>}
      {data?.files.map((f) => (
        <section class="sub" key={f.file}>
          <h2 class="flex"><code>{line(f.file)}</code>{f.workflow && <Link class="link" to={flowAddress(f.workflow)}>{line(f.workflow)}</Link>}<span class="grow" /><button class="btn" disabled={!can || busy} onClick={() => run(f.file)}>Run</button></h2>
          {f.problem && <Trouble text={f.problem} />}
          <ul class="cases">{f.cases.map((name) => {
            const r = last?.results.find((r) => r.file === f.file && r.name === name);
            return <li><Mark state={!r ? "idle" : r.failure ? "failed" : "done"} /> {line(name)}{r?.failure && <pre class="code block" {...scrolls("Failure")}>{plain(r.failure)}</pre>}</li>;
          })}</ul>
        </section>
      ))}
    </main>
  );
}
