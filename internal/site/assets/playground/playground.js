"use strict";
const at = (id) => document.getElementById(id);
const make = (name, text, properties) => Object.assign(document.createElement(name), { textContent: text }, properties);
const text = at("text");

// The text is in the address, compressed, so that a link is enough to show it.
const longest = 1 << 20;
async function through(bytes, stream) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}
async function pack(value) {
  const bytes = await through(new TextEncoder().encode(value), new CompressionStream("deflate-raw"));
  let letters = "";
  for (const b of bytes) letters += String.fromCharCode(b);
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
async function unpack(value) {
  const letters = atob(value.replaceAll("-", "+").replaceAll("_", "/"));
  const stream = new Blob([Uint8Array.from(letters, (c) => c.charCodeAt(0))]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const parts = [];
  let size = 0;
  for (const reader = stream.getReader(); ;) {
    const { done, value: part } = await reader.read();
    if (done) break;
    size += part.length;
    if (size > longest) throw new Error("the text in the address is too long");
    parts.push(part);
  }
  return new Blob(parts).text();
}

// The compiler answers the newest text; while it works, no other is sent.
let compiler = null;
let sent = 0;
let working = false;
let later = false;
function compile() {
  if (!compiler || working) {
    later = true;
    return;
  }
  working = true;
  later = false;
  compiler.postMessage({ id: ++sent, text: text.value });
}
function begin() {
  try {
    const worker = new Worker("worker.js");
    worker.onmessage = ({ data }) => {
      if (data.failed) at("status").textContent = data.failed;
      if (data.ready) {
        compiler = worker;
        compile();
      }
      if (data.result) {
        working = false;
        show(data.result);
        document.body.dataset.first ??= String(Math.round(performance.now()));
        if (later) compile();
      }
    };
    worker.onerror = (event) => { at("status").textContent = "The compiler does not start: " + (event.message ?? "pages opened from a disk may not load it, use a web server"); };
    worker.postMessage({ program: "compiler" });
  } catch (error) {
    at("status").textContent = "The compiler does not start: " + error;
  }
}

function show(result) {
  const list = result.diagnostics ?? [];
  const count = (severity) => list.filter((d) => d.severity === severity).length;
  const counted = (severity) => count(severity) + " " + severity + (count(severity) === 1 ? "" : "s");
  const errors = count("error");
  at("status").textContent = result.problem || ["error", ...["warning", "note"].filter(count)].map(counted).join(", ");
  at("tab-diagnostics").textContent = list.length ? "Diagnostics (" + list.length + ")" : "Diagnostics";
  const items = make("ul", "", { className: "diagnostics" });
  for (const d of list) {
    const item = document.createElement("li");
    item.className = d.severity;
    const place = make("button", d.line ? d.line + ":" + d.column : "file", { type: "button", title: "Select the text" });
    place.onclick = () => { text.focus(); text.setSelectionRange(d.from, d.to); };
    item.append(place, " ", make("strong", d.severity + " " + d.code), " ", d.message);
    if (d.help) item.append(make("small", "help: " + d.help));
    items.append(item);
  }
  at("diagnostics").replaceChildren(list.length ? items : make("p", result.problem || "No mistakes."));
  if (result.stubs?.length) at("diagnostics").append(make("p", "Stubs: " + result.stubs.join(", ")));
  const none = errors ? "There is nothing to show while there are errors." : "There is nothing to show: a type is not known here, see the notes.";
  at("go").replaceChildren(result.go ? make("pre", result.go, { tabIndex: 0 }) : make("p", none));
  at("plan").replaceChildren(result.plan ? make("pre", result.plan, { tabIndex: 0 }) : make("p", none));
  at("graph").replaceChildren(result.graph ? draw(result.graph) : make("p", none));
  simulated();
}

const svgName = "http://www.w3.org/2000/svg";
function svg(name, attributes, ...inside) {
  const node = document.createElementNS(svgName, name);
  for (const [k, v] of Object.entries(attributes)) node.setAttribute(k, v);
  node.append(...inside);
  return node;
}
function draw(picture) {
  const says = picture.nodes.filter((n) => !n.end).map((n) => {
    const to = picture.edges.filter((e) => e.from === n.path).map((e) => e.to.split("/").pop() + (e.label ? " (" + e.label + ")" : ""));
    return n.id + (to.length ? " leads to " + to.join(", ") : "");
  });
  const root = svg("svg", { width: picture.w, height: picture.h, viewBox: "0 0 " + picture.w + " " + picture.h, role: "img", "aria-label": "Graph: " + says.join("; ") });
  root.append(svg("defs", {}, svg("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse" }, svg("path", { class: "arrow", d: "M1 1 7 4 1 7" }))));
  for (const n of picture.nodes.filter((n) => n.box)) root.append(svg("rect", { class: "cluster", x: n.x, y: n.y, width: n.w, height: n.h, rx: 7 }));
  for (const e of picture.edges) {
    root.append(svg("path", { class: e.back ? "edge back" : "edge", d: "M" + e.points.map((p) => p[0] + " " + p[1]).join("L"), "marker-end": "url(#arrow)" }));
    if (e.label) root.append(svg("text", { class: "label", x: e.label_x + 4, y: e.label_y }, e.label.length > 28 ? e.label.slice(0, 27) + "..." : e.label));
  }
  for (const n of picture.nodes) {
    root.append(svg("rect", { class: n.end ? "end" : "node", x: n.x, y: n.y, width: n.w, height: n.box ? 28 : n.h, rx: n.end ? 16 : 5 }));
    root.append(svg("text", { x: n.x + 10, y: n.y + (n.box ? 19 : 20) }, svg("title", {}, (n.about ?? []).join("\n")), n.id));
  }
  return root;
}

// The simulator has the examples compiled; it cannot run another text.
let running = null;
function simulated() {
  const e = examples.find((e) => e.text === text.value);
  at("example").value = e?.name ?? ""; // so that an edited example can be chosen again
  at("start").disabled = !e;
  at("simulated").textContent = e
    ? "Runs the compiled example " + e.name + " with random inputs and stubs: other orders, failures, crashes, resumed and replayed runs."
    : "The simulator runs the examples as they are. For your own workflow: flowgen torture FILE";
  return e;
}
function simulate() {
  const e = simulated();
  if (!e) return;
  running?.terminate();
  const seed = Math.max(0, Math.floor(Number(at("seed").value) || 0));
  const trials = Math.min(1000, Math.max(1, Math.floor(Number(at("trials").value) || 1)));
  at("report").textContent = "$ flowgen torture " + e.name + ".flowgen.yaml --seed " + seed + " --trials " + trials + "\n";
  running = new Worker("worker.js");
  running.onmessage = ({ data }) => {
    if (data.printed) at("report").textContent += data.printed;
    if (data.failed) at("report").textContent += data.failed + "\n";
    if (data.exit !== undefined) at("report").dataset.exit = data.exit;
  };
  delete at("report").dataset.exit;
  running.postMessage({ program: "simulator", args: [e.name, "-seed", String(seed), "-trials", String(trials)] });
}
at("start").onclick = simulate;

const tabs = [...document.querySelectorAll("[role=tab]")];
function choose(tab) {
  for (const t of tabs) {
    t.setAttribute("aria-selected", String(t === tab));
    t.tabIndex = t === tab ? 0 : -1;
    at(t.getAttribute("aria-controls")).hidden = t !== tab;
  }
}
tabs.forEach((tab, i) => {
  tab.onclick = () => choose(tab);
  tab.onkeydown = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = tabs[(i + step + tabs.length) % tabs.length];
    choose(next);
    next.focus();
  };
});

let wait = 0;
async function keep() {
  history.replaceState(null, "", "#" + await pack(text.value));
}
text.addEventListener("input", () => {
  compile();
  clearTimeout(wait);
  wait = setTimeout(keep, 300);
});
at("link").onclick = async () => {
  await keep();
  try {
    await navigator.clipboard.writeText(location.href);
    at("status").textContent = "The link is copied.";
  } catch {
    at("status").textContent = "The link is in the address bar.";
  }
};
for (const e of examples) at("example").append(make("option", e.name, { value: e.name }));
at("example").onchange = () => {
  text.value = examples.find((e) => e.name === at("example").value).text;
  compile();
  keep();
};
async function fromAddress() {
  const packed = location.hash.slice(1);
  try {
    if (packed) text.value = await unpack(packed);
  } catch {
    at("status").textContent = "The address has no text that can be read.";
  }
  if (!packed || !text.value) text.value = examples[0].text;
  compile();
}
addEventListener("hashchange", fromAddress);
fromAddress();
begin();
