// Prints the names of its encoders, then for each line {"text": base64, "encoder": name} the encoded text in base64.
const readline = require("node:readline");
const util = require("node:util");
const querystring = require("node:querystring");

require("node:buffer").INSPECT_MAX_BYTES = 10000;
const all = s => [...s];
const text = f => b => f(b.toString("utf8"));
const encoders = {
  stringify: text(s => JSON.stringify(s)),
  "stringify, indented": text(s => JSON.stringify({ k: [s] }, null, 2)),
  encodeURIComponent: text(encodeURIComponent),
  encodeURI: text(encodeURI),
  escape: text(escape),
  URLSearchParams: text(s => String(new URLSearchParams({ k: s }))),
  querystring: text(s => querystring.stringify({ k: s })),
  inspect: text(s => util.inspect(s, { breakLength: Infinity })),
  "inspect of an object": text(s => util.inspect({ k: s }, { breakLength: Infinity })),
  "inspect of bytes": b => util.inspect(b),
  hex: b => b.toString("hex"),
  base64: b => b.toString("base64"),
  base64url: b => b.toString("base64url"),
  btoa: b => btoa(b.toString("latin1")),
  "html, numbers": text(s => s.replace(/[&<>"'`]/g, c => `&#${c.charCodeAt(0)};`)),
  "html, hexadecimal": text(s => s.replace(/[^0-9A-Za-z]/gu, c => `&#x${c.codePointAt(0).toString(16).toUpperCase()};`)),
  "every unit": text(s => s.split("").map(c => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0")).join("")),
  "code points": text(s => all(s).map(c => (c < "\x7f" && c > " " ? c.replace(/[\\"']/, "\\$&") : `\\u{${c.codePointAt(0).toString(16)}}`)).join("")),
};

console.log(JSON.stringify(Object.keys(encoders)));
readline.createInterface({ input: process.stdin, crlfDelay: Infinity }).on("line", line => {
  const item = JSON.parse(line);
  console.log(Buffer.from(encoders[item.encoder](Buffer.from(item.text, "base64"))).toString("base64"));
});
