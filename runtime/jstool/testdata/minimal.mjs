// The worker one writes by hand: one JSON line in, one JSON line out.
const tools = { greet: async (a) => ({ lines: a.raw.split("\n").length - 1, n: a.n + 1 }) };
let buf = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", async (d) => {
  buf += d;
  let i;
  while ((i = buf.indexOf("\n")) >= 0) {
    const q = JSON.parse(buf.slice(0, i)); buf = buf.slice(i + 1);
    process.stdout.write(JSON.stringify({ id: q.id, ok: await tools.greet(q.a) }) + "\n");
  }
});
