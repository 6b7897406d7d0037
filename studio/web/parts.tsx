// What several pages have.
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { follow, hrefOf } from "./route";
import { line } from "./text";

const marks: Record<string, [string, string, string]> = {
  // state: [class, word, path]
  done: ["done", "done", "M3 8.5 6.5 12 13 4.5"],
  succeeded: ["done", "succeeded", "M3 8.5 6.5 12 13 4.5"],
  failed: ["fail", "failed", "M4 4 12 12M12 4 4 12"],
  damaged: ["fail", "damaged", "M8 2 14.5 13.5H1.5ZM8 6V9.5M8 11.5V12"],
  cancelled: ["stop", "cancelled", "M3.5 8H12.5"],
  interrupted: ["stop", "interrupted", "M3.5 8H12.5"],
  open: ["run", "running", "M5 3.5 12.5 8 5 12.5Z"],
  running: ["run", "running", "M5 3.5 12.5 8 5 12.5Z"],
  stopped: ["doubt", "stopped without a word", "M8 3V9.5M8 12V12.5"],
  in_doubt: ["doubt", "in doubt", "M8 3V9.5M8 12V12.5"],
  waiting: ["wait", "waits for a user", "M5.5 6A2.5 2.5 0 1 1 8 8.5V10M8 12.5V13"],
  cached: ["hit", "cached", "M3.5 6H12.5M3.5 10H12.5"],
  error: ["fail", "error", "M4 4 12 12M12 4 4 12"],
  warning: ["wait", "warning", "M8 2 14.5 13.5H1.5ZM8 6V9.5M8 11.5V12"],
  note: ["idle", "note", "M8 6A2 2 0 1 0 8.01 6"],
  idle: ["idle", "not begun", "M8 6A2 2 0 1 0 8.01 6"],
};

export const word = (state: string) => marks[state]?.[1] ?? state;
export const tone = (state: string) => marks[state]?.[0] ?? "";

export function Mark({ state }: { state: string }) {
  const [c, w, d] = marks[state] ?? marks.idle;
  return (
    <svg class={"m " + c} viewBox="0 0 16 16" role="img" aria-label={w}>
      <path d={d} />
    </svg>
  );
}

export const Badge = ({ tone, children }: { tone?: string; children: ComponentChildren }) => <span class={"badge " + (tone ?? "")}>{children}</span>;

export const Link = ({ to, children, ...rest }: { to: string; children: ComponentChildren; class?: string; "aria-current"?: "page"; title?: string }) => (
  <a href={hrefOf(to)} onClick={follow} {...rest}>
    {children}
  </a>
);

// Trouble says in the place of what is missing why it is.
export const Trouble = ({ text }: { text: string }) => (
  <p class="trouble" role="alert">
    <Mark state="damaged" /> {line(text, 2000)}
  </p>
);

export function Meter({ name, value, bound, share }: { name: string; value: string; bound?: string; share?: number }) {
  const near = share !== undefined && share >= 0.8;
  return (
    <div class={"meter" + (near ? " near" : "") + (share === undefined ? " free" : "")}>
      <dt>{name}</dt>
      <dd>
        <b>{value}</b> {bound && <small>/ {bound}</small>}
      </dd>
      <svg class="gauge" viewBox="0 0 100 3" preserveAspectRatio="none" aria-hidden="true">
        {share !== undefined && <rect width={Math.min(100, share * 100)} height="3" />}
      </svg>
    </div>
  );
}

// slim is whether the window is narrow, where panels stand below each other and scroll together.
const narrow = matchMedia("(max-width: 760px)");
export const slim = signal(narrow.matches);
narrow.addEventListener("change", () => (slim.value = narrow.matches));

// scrolls makes a place that can be longer than its room reachable by Tab, and says what it is.
export const scrolls = (name: string) => ({ tabIndex: 0, role: "group" as const, "aria-label": name });

// Main is what a page has below the top: always with one heading, also where something is missing.
export const Main = ({ title, shown, narrow, children }: { title: string; shown?: boolean; narrow?: boolean; children?: ComponentChildren }) => (
  <main class={"page" + (narrow ? " narrow" : "")} tabIndex={0} aria-label={title}>
    <h1 class={shown ? "title" : "vh"}>{title}</h1>
    {children}
  </main>
);

// Diff shows lines as diff -u has them.
export function Diff({ text }: { text: string }) {
  return (
    <pre class="code diff" {...scrolls("Edit")}>
      {text.split("\n").map((l) => (
        <span class={l[0] === "+" && !l.startsWith("+++") ? "add" : l[0] === "-" && !l.startsWith("---") ? "del" : ""}>{l + "\n"}</span>
      ))}
    </pre>
  );
}

// size gives an element a height without a style attribute, which the page's policy refuses.
export const size = (px: number) => (el: HTMLElement | null) => el?.style.setProperty("height", px + "px");
export const put = (name: string, value: string) => (el: HTMLElement | null) => el?.style.setProperty(name, value);
