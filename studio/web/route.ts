// The address says what is shown, so that it can be sent.
import { signal } from "@preact/signals";
import { report } from "./report";

export interface Route {
  path: string;
  query: URLSearchParams;
}

// A file has one address: what it shows is in the fragment.
const now = () => (report ? location.hash.slice(1) || "/" : location.pathname + location.search);

const here = (): Route => {
  const [path, query] = now().split("?");
  return { path, query: new URLSearchParams(query) };
};
export const route = signal<Route>(here());
window.addEventListener("popstate", () => (route.value = here()));

export const hrefOf = (address: string) => (report ? "#" : "") + address;

export function go(address: string) {
  history.pushState(null, "", hrefOf(address));
  route.value = here();
}

// set changes a part of the query in place.
export function set(name: string, value: string) {
  const { path, query } = here();
  if (value) query.set(name, value);
  else query.delete(name);
  const text = query.toString();
  history.replaceState(null, "", hrefOf(path + (text ? "?" + text : "")));
  route.value = here();
}

// follow is for onClick of links: other buttons and keys are the browser's.
export function follow(e: MouseEvent) {
  const a = (e.currentTarget as HTMLAnchorElement).getAttribute("href");
  if (!a || e.button || e.ctrlKey || e.metaKey || e.shiftKey) return;
  e.preventDefault();
  go(report ? a.slice(1) : a);
}

export type Keys = Record<string, () => void>;
const stack: Keys[] = [];
const above: Keys[] = [];

// keys holds what the keys of the page do now; the last one that knows a key has it. What is above the page comes first, however often
// the page changes its keys meanwhile.
export function keys(map: Keys, over = false): () => void {
  const list = over ? above : stack;
  list.push(map);
  return () => void list.splice(list.indexOf(map), 1);
}

// clicked is what the mouse has pressed last. It keeps the focus; after another key of the page, Enter is meant for the page.
let clicked: Element | null = null;
let left = false;

window.addEventListener("pointerdown", (e) => {
  clicked = (e.target as Element).closest("a, button, summary");
  left = false;
});

window.addEventListener("keydown", (e) => {
  const at = e.target as HTMLElement;
  const field = at.closest?.("input, textarea, select");
  if (e.ctrlKey || e.metaKey || e.altKey || (field && e.key !== "Escape")) return;
  const button = at.closest?.("a, button, summary");
  if ((e.key === "Enter" || e.key === " ") && button && !(left && button === clicked)) return;
  if (field && e.key === "Escape") (field as HTMLElement).blur();
  for (const map of [...stack, ...above].reverse()) {
    const act = map[e.key];
    if (act) {
      e.preventDefault();
      left = true;
      act();
      return;
    }
  }
});
