"""Prints the names of its encoders, then for each line {"text": base64, "encoder": name} the encoded text in base64."""
import base64, binascii, csv, html, io, json, os, shlex, sys, urllib.parse, xml.sax.saxutils


def in_csv(s):
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL).writerow([s])
    return out.getvalue()


def text(f):
    return lambda b: f(b.decode("utf-8", "surrogateescape"))


def lossy(f):
    return lambda b: f(b.decode("utf-8", "replace"))


encoders = {
    "quote": urllib.parse.quote,
    "quote, nothing safe": lambda b: urllib.parse.quote(b, safe=""),
    "quote_plus": urllib.parse.quote_plus,
    "urlencode": lambda b: urllib.parse.urlencode({"k": b}),
    "json": text(json.dumps),
    "json of bytes that are no text": lossy(json.dumps),
    "json, not ascii": lossy(lambda s: json.dumps(s, ensure_ascii=False)),
    "json, slashes escaped": text(lambda s: json.dumps(s).replace("/", "\\/")),  # PHP's
    "repr": text(repr),
    "ascii": text(ascii),
    "repr of bytes": repr,
    "repr of a list": text(lambda s: repr([s])),
    "html": text(html.escape),
    "html, no quotes": text(lambda s: html.escape(s, quote=False)),
    "xml": text(xml.sax.saxutils.quoteattr),
    "character references": text(lambda s: s.encode("ascii", "xmlcharrefreplace").decode()),
    "unicode_escape": lossy(lambda s: s.encode("unicode_escape").decode()),
    "base64": lambda b: base64.b64encode(b).decode(),
    "base64 in lines": lambda b: base64.encodebytes(b).decode(),
    "base64, indented": lambda b: base64.encodebytes(b).decode().rstrip().replace("\n", "\n\t"),
    "base64, for urls": lambda b: base64.urlsafe_b64encode(b).decode(),
    "base64 of more": lambda b: base64.b64encode(b"u:" + b + b"\n").decode(),
    "hex": lambda b: b.hex(),
    "hex, apart": lambda b: b.hex(" "),
    "hex, colons": lambda b: b.hex(":").upper(),
    "shell": text(shlex.quote),
    "csv": text(in_csv),
}

print(json.dumps(list(encoders)), flush=True)
for line in sys.stdin:
    item = json.loads(line)
    out = encoders[item["encoder"]](base64.b64decode(item["text"]))
    print(base64.b64encode(out.encode("utf-8", "surrogateescape")).decode(), flush=True)
