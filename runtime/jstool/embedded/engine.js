(function (values, name, resolve, reject, log) {
  "use strict";
  const { encode, describe, attachment, attached, Refused, TAIL } = values();
  const { parse } = JSON;
  let output = "";
  let limit = 0;
  let beside = [];
  const print = (...a) => {
    const text = a.map((v) => (typeof v === "string" ? v : show(v))).join(" ") + "\n";
    log(text);
    output += text;
    if (output.length > 2 * TAIL) output = output.slice(-TAIL);
  };
  const show = (v) => {
    try {
      return v instanceof Error ? String(v) : JSON.stringify(v) ?? String(v);
    } catch {
      return String(v);
    }
  };
  globalThis.console = { log: print, info: print, debug: print, warn: print, error: print, trace: print };

  // size is the length of text in UTF-8, which is what the limit counts.
  const size = (text) => {
    let n = text.length;
    if (n * 3 <= limit) return n;
    for (let i = 0; i < text.length; i++) {
      const c = text.charCodeAt(i);
      if (c > 0x7f) n += c > 0x7ff && (c < 0xd800 || c > 0xdfff) ? 2 : 1;
    }
    return n;
  };
  const own = (line) => !line.includes("flowgen:worker") && !line.includes("(native)");
  const fail = (e) => reject(describe(e, output, own));
  const answer = (v) => {
    try {
      const body = encode(name, v);
      const n = size(body);
      if (n > limit) {
        throw new Refused("POLICY_DENIED", "the result of " + name + " has " + n + " bytes, at most " + limit + " are allowed: raise max_output",
          { max_output: limit });
      }
      resolve(body, beside.length > 0 ? attached(beside) : "");
    } catch (e) {
      fail(e);
    }
  };
  return (main) => (args, given, most) => {
    output = "";
    limit = most;
    const list = (beside = []);
    try {
      const c = { auth: {}, call_id: "", tenant_id: "", ...(given === undefined ? {} : parse(given)) };
      c.attach = (a) => attachment(list, a);
      const v = main(parse(args), c);
      if (typeof v?.then === "function") v.then(answer, fail);
      else answer(v);
    } catch (e) {
      fail(e);
    }
  };
})
