"use strict";
const theme = document.getElementById("theme");
const dark = () => document.documentElement.dataset.theme
  ? document.documentElement.dataset.theme === "dark"
  : matchMedia("(prefers-color-scheme: dark)").matches;
const label = () => { theme.textContent = dark() ? "Light mode" : "Dark mode"; };
let kept = null;
try { kept = localStorage.getItem("theme"); } catch { /* pages opened from a disk may have no storage */ }
if (kept) document.documentElement.dataset.theme = kept;
label();
theme.addEventListener("click", () => {
  document.documentElement.dataset.theme = dark() ? "light" : "dark";
  try { localStorage.setItem("theme", document.documentElement.dataset.theme); } catch { /* as above */ }
  label();
});

// find returns the parts of pages that have all words: those with words in their heading first.
function find(index, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const list = [];
  for (const part of index) {
    const heading = (part.h + " " + part.p).toLowerCase();
    const text = part.t.toLowerCase();
    let score = 0;
    for (const word of words) {
      if (part.h.toLowerCase().includes(word)) score += 10;
      else if (heading.includes(word)) score += 4;
      else if (text.includes(word)) score += 1;
      else { score = 0; break; }
    }
    if (score > 0) list.push({ part, score });
  }
  return list.sort((a, b) => b.score - a.score).slice(0, 20).map((x) => x.part);
}

const search = document.getElementById("search");
const found = document.getElementById("found");
search.addEventListener("input", () => {
  found.replaceChildren();
  for (const part of find(searchIndex, search.value)) {
    const item = document.createElement("li");
    const anchor = document.createElement("a");
    anchor.href = document.body.dataset.root + part.u;
    anchor.textContent = part.h;
    const where = document.createElement("small");
    where.textContent = part.p;
    anchor.append(where);
    item.append(anchor);
    found.append(item);
  }
  found.hidden = found.children.length === 0;
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement.tagName !== "INPUT") { event.preventDefault(); search.focus(); }
  if (event.key === "Escape") { search.value = ""; found.hidden = true; }
});
