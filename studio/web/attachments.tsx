// Attachments of a call: images and tables are shown, others are named.
import { useEffect, useState } from "preact/hooks";
import { scrolls } from "./parts";
import { param, request } from "./api";
import { bytes, count, line } from "./text";

export interface Attachment { kind?: string; url: string; content_type?: string; bytes?: number }

// images are the beginnings of files that browsers draw, and run nothing of.
const images: [string, number[]][] = [["image/png", [0x89, 0x50, 0x4e, 0x47]], ["image/jpeg", [0xff, 0xd8, 0xff]], ["image/gif", [0x47, 0x49, 0x46, 0x38]], ["image/webp", [0x52, 0x49, 0x46, 0x46]]];

const MOST = 8 << 20; // bytes that are fetched
const ROWS = 200;

export interface Rows { head: string[]; rows: string[][]; more: number }

const cell = (v: unknown) => (v === null || v === undefined ? "" : typeof v === "string" ? v : JSON.stringify(v));

// gridOf makes rows of CSV, and of a list of objects in JSON; undefined where the text is neither.
export function gridOf(text: string, kind: "csv" | "json"): Rows | undefined {
  if (kind === "csv") {
    const all = text.trimEnd().split(/\r?\n/).map((l) => [...l.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)].map((m) => m[1].replace(/^"([^]*)"$/, "$1").replaceAll('""', '"')).slice(0, l.endsWith(",") ? undefined : -1));
    return all.length > 1 ? { head: all[0], rows: all.slice(1, ROWS + 1), more: Math.max(0, all.length - 1 - ROWS) } : undefined;
  }
  try {
    const list = JSON.parse(text) as unknown;
    if (!Array.isArray(list) || !list.length || !list.every((o) => o && typeof o === "object" && !Array.isArray(o))) return undefined;
    const head = [...new Set(list.slice(0, ROWS).flatMap((o) => Object.keys(o as object)))].slice(0, 30);
    return { head, rows: list.slice(0, ROWS).map((o) => head.map((h) => cell((o as Record<string, unknown>)[h]))), more: Math.max(0, list.length - ROWS) };
  } catch {
    return undefined;
  }
}

export const Grid = ({ grid }: { grid: Rows }) => (
  <div class="scroll" {...scrolls("Table")}>
    <table class="sums"><thead><tr>{grid.head.map((h) => <th>{line(h, 60)}</th>)}</tr></thead><tbody>{grid.rows.map((r) => <tr>{r.map((c) => <td class="cut">{line(c, 200)}</td>)}</tr>)}</tbody></table>
    {grid.more > 0 && <p class="dim">{count(grid.more)} more rows</p>}
  </div>
);

export function Attached({ run, n, k, a }: { run: string; n: number; k: number; a: Attachment }) {
  const [shown, show] = useState<{ image?: string; grid?: Rows; bad?: string }>({});
  const looks = (a.kind === "image" || a.kind === "table") && (a.bytes ?? 0) <= MOST;
  useEffect(() => {
    let here = true;
    const read = async () => {
      const data = await (await request("runs/" + param(run) + "/calls/" + n + "/attachments/" + k)).arrayBuffer();
      const first = new Uint8Array(data.slice(0, 4));
      const image = images.find(([, start]) => start.every((b, i) => b === first[i]));
      if (a.kind === "image" && image) {
        const reader = new FileReader();
        reader.onload = () => here && show({ image: reader.result as string });
        reader.readAsDataURL(new Blob([data], { type: image[0] }));
      } else if (a.kind === "table") {
        const text = new TextDecoder().decode(data);
        const grid = gridOf(text, /csv/.test(a.content_type ?? "") ? "csv" : "json");
        if (here) show(grid ? { grid } : { bad: "it is neither CSV nor a list of objects in JSON" });
      } else if (here) show({ bad: "it is no PNG, JPEG, GIF or WebP" });
    };
    show({});
    if (looks) read().catch((e: Error) => here && show({ bad: e.message }));
    return () => void (here = false);
  }, [run, n, k]);
  return (
    <figure class="attached">
      <figcaption><code>{line(a.url)}</code> {line(a.content_type ?? "")} {a.bytes ? bytes(a.bytes) : ""}</figcaption>
      {shown.image && <img src={shown.image} alt={"image that " + line(a.content_type ?? "", 40) + " attachment " + (k + 1) + " of the call contains"} />}
      {shown.grid && <Grid grid={shown.grid} />}
      {shown.bad && <p class="dim">{line(shown.bad, 300)}</p>}
    </figure>
  );
}
