// A graph whose coordinates come from the server.
import { useEffect, useRef, useState } from "preact/hooks";
import { param } from "./api";
import { useData } from "./pages";
import { scrolls, tone, Trouble, word } from "./parts";
import { report } from "./report";
import { route, set } from "./route";
import { line } from "./text";

export interface Picture {
  w: number;
  h: number;
  nodes: { path: string; id: string; kind: string; about?: string[]; x: number; y: number; w: number; h: number; box?: boolean; fold?: number; end?: boolean }[];
  edges: { from: string; to: string; points: [number, number][]; label?: string; label_x: number; label_y: number; back?: boolean }[];
}

const worst = ["failed", "waiting", "in_doubt", "stopped", "open", "cancelled", "done"];

// stateOf is the worst state of the calls of a node and those in it.
function stateOf(path: string, states: Record<string, Record<string, number>>): [string, number] {
  let at = worst.length;
  let calls = 0;
  for (const [p, counts] of Object.entries(states)) {
    if (p !== path && !p.startsWith(path + "/")) continue;
    for (const [s, n] of Object.entries(counts)) {
      calls += n;
      at = Math.min(at, worst.indexOf(s) < 0 ? at : worst.indexOf(s));
    }
  }
  return [worst[at] ?? "idle", calls];
}

interface Shown {
  states?: Record<string, Record<string, number>>;
  marks?: Record<string, string>;
  selected?: string;
  onPick?: (path: string) => void;
}

// Boxes is a graph whose boxes open and close. Which are closed is in the address; without that the server says it.
export function Boxes({ from, first, ...shown }: Shown & { from: string; first?: Picture }) {
  const fold = route.value.query.get("fold") ?? "";
  return first && !fold ? <Folds picture={first} {...shown} /> : <Fetched from={from} fold={fold} first={first} {...shown} />;
}

// Fetched asks again when first, the picture with the boxes of the server's choice, is another one.
function Fetched({ from, fold, first, ...shown }: Shown & { from: string; fold: string; first?: Picture }) {
  const seen = useRef({ first, n: 0 });
  if (seen.current.first !== first) seen.current = { first, n: seen.current.n + 1 };
  const more = [fold && "fold=" + param(fold), seen.current.n && "n=" + seen.current.n].filter(Boolean).join("&");
  const { data, error } = useData<Picture>(from + (more && (from.includes("?") ? "&" : "?") + more), "", []);
  const last = useRef<Picture>(undefined as unknown as Picture);
  if (data) last.current = data;
  if (error) return <Trouble text={error} />;
  const picture = data ?? last.current ?? first;
  return picture ? <Folds picture={picture} {...shown} /> : null;
}

function Folds({ picture, ...shown }: Shown & { picture: Picture }) {
  const turn = (path: string, close: boolean) => {
    const closed = picture.nodes.filter((n) => n.fold && n.path !== path).map((n) => n.path);
    set("fold", [...closed, ...(close ? [path] : [])].join(",") || "-");
  };
  return <Graph picture={picture} {...shown} turn={report ? undefined : turn} />;
}

export function Graph({ picture, states, marks, selected, onPick, turn }: Shown & { picture: Picture; turn?: (path: string, close: boolean) => void }) {
  const [scale, zoom] = useState(1);
  const [at, focus] = useState(0);
  const svg = useRef<SVGSVGElement>(null);
  useEffect(() => {
    const i = picture.nodes.findIndex((n) => n.path === selected);
    if (i >= 0) focus(i);
  }, [selected, picture]);
  const move = (e: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[e.key];
    if (step) {
      e.preventDefault();
      e.stopPropagation();
      const n = Math.max(0, Math.min(at + step, picture.nodes.length - 1));
      focus(n);
      svg.current?.querySelectorAll<SVGElement>("g.node")[n]?.focus();
    }
    const here = picture.nodes[at];
    if (turn && here && ((e.key === "h" && here.box) || (e.key === "l" && here.fold))) {
      e.preventDefault();
      e.stopPropagation();
      turn(here.path, e.key === "h");
    }
    if (e.key === "Enter" || e.key === " ") {
      e.preventDefault();
      e.stopPropagation();
      onPick?.(picture.nodes[at].path);
    }
  };
  return (
    <div class="graph">
      <div class="graph-scroll" {...scrolls("Room of the graph")}>
        <svg ref={svg} width={picture.w * scale} height={picture.h * scale} viewBox={"0 0 " + picture.w + " " + picture.h} role="group" aria-label="Graph" onKeyDown={move}>
          <defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path class="arrow" d="M1 1 7 4 1 7" /></marker></defs>
          {picture.nodes.filter((n) => n.box).map((n) => <rect class="cluster" x={n.x} y={n.y} width={n.w} height={n.h} rx="7" />)}
          {picture.edges.map((e) => (
            <g class={"edge" + (e.back ? " back" : "")}>
              <path d={"M" + e.points.map((p) => p[0] + " " + p[1]).join("L")} marker-end="url(#arrow)" />
              {e.label && <text x={e.label_x + 4} y={e.label_y}>{line(e.label, 28)}</text>}
            </g>
          ))}
          {picture.nodes.map((n, i) => {
            const [state, calls] = states ? stateOf(n.path, states) : ["", 0];
            const to = picture.edges.filter((e) => e.from === n.path).map((e) => e.to);
            const id = line(n.id, 34);
            const aside = (turn && (n.box || n.fold) ? 26 : 0) + (calls > 1 ? 8 + 8 * String(calls).length : 0); // at the right
            const what = n.end ? "" : line(brief(n), Math.max(4, Math.floor((n.w - aside) / 7.2) - n.id.length - 4));
            const says = [n.end ? id : id + " " + what + (calls > 1 ? " " + calls + " calls" : ""), ...(n.about ?? []), n.fold ? "closed, with " + n.fold + " inside" : "", states && !n.end ? word(state) : "", to.length ? "leads to " + to.join(", ") : ""].filter(Boolean).join(", ");
            return (
              <g class={"node " + (n.end ? "end " : "") + (n.path === selected ? "on " : "") + (states && !n.end ? "s-" + tone(state) : "")} role="button" aria-label={line(says, 400)} aria-expanded={n.box || n.fold ? !n.fold : undefined} tabIndex={i === at ? 0 : -1} onFocus={() => focus(i)} onClick={() => onPick?.(n.path)}>
                <title>{line(says, 400)}</title>
                <rect x={n.x} y={n.y} width={n.w} height={n.box ? 28 : n.h} rx={n.end ? 16 : 5} />
                <text aria-hidden="true" x={n.x + 10} y={n.y + (n.box ? 19 : 20)}><tspan class="id">{id}</tspan> <tspan class="what" dx="5">{what}</tspan></text>
                {turn && (n.box || n.fold) && <g class="turn-box" onClick={(e) => { e.stopPropagation(); turn(n.path, !n.fold); }}><title>{n.fold ? "open (l)" : "close (h)"}</title><rect x={n.x + n.w - 26} y={n.y + 3} width="22" height="22" rx="4" /><text aria-hidden="true" x={n.x + n.w - 15} y={n.y + 18} text-anchor="middle">{n.fold ? "+" : "\u2212"}</text></g>}
                {states && calls > 1 && <text aria-hidden="true" class="calls" x={n.x + n.w - (turn && (n.box || n.fold) ? 32 : 8)} y={n.y + 20} text-anchor="end">{calls}</text>}
                {marks?.[n.path] && <g><circle class={"flag " + marks[n.path]} cx={n.x + n.w - 2} cy={n.y + 2} r="7" /><text aria-hidden="true" class="bang" x={n.x + n.w - 2} y={n.y + 6} text-anchor="middle">!</text></g>}
              </g>
            );
          })}
        </svg>
      </div>
      <div class="zoom seg" role="group" aria-label="Zoom"><button onClick={() => zoom(Math.max(0.3, scale / 1.2))} aria-label="smaller">−</button><button onClick={() => zoom(1)}>{Math.round(scale * 100)} %</button><button onClick={() => zoom(Math.min(3, scale * 1.2))} aria-label="larger">+</button></div>
    </div>
  );
}

// brief is what a node does, short enough for its box.
function brief(n: Picture["nodes"][0]): string {
  const [kind, ...rest] = (n.about?.[0] ?? "").split(" ");
  const what = rest.join(" ").replace(/@[^ ]*$/, "");
  const model = what.indexOf(":"); // provider:model
  return what ? what.slice((model < 0 ? what.lastIndexOf(".") : model) + 1) : kind;
}
