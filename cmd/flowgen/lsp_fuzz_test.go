package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/lsp"
)

// noise is what a server logs.
type noise struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (n *noise) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.Write(p)
}

func (n *noise) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.String()
}

// within is a client of a server in this process, of a folder that does not exist.
func within(t testing.TB) (*editor, *noise) {
	t.Helper()
	said := &noise{}
	opts := (&app{stderr: said}).lspOptions()
	opts.Enter = func(string) error { return nil }
	opts.Find = func() ([]string, error) { return nil, nil }
	here, there := net.Pipe()
	ended := make(chan bool)
	go func() {
		defer close(ended)
		lsp.Serve(context.Background(), there, opts)
	}()
	e := &editor{t: t, dir: filepath.Join(os.TempDir(), "no-such-folder"), published: make(chan published, 10000), versions: map[string]int{}, texts: map[string]string{}}
	e.conn = jsonrpc2.NewConn(context.Background(), jsonrpc2.NewBufferedStream(here, jsonrpc2.VSCodeObjectCodec{}), e, jsonrpc2.SetLogger(log.New(io.Discard, "", 0)))
	e.ask("initialize", object{"capabilities": object{}})
	t.Cleanup(func() { e.conn.Close(); <-ended })
	return e, said
}

// FuzzLSP: any edits of any text leave the server with the diagnostics and symbols of one that opens the result. Each request is
// answered at any place, also beyond the end; no range of an answer leaves its document; nothing faults.
func FuzzLSP(f *testing.F) {
	f.Add(shop, []byte("\x00\x10\x03:\x01\x00\x00{"))
	f.Add(greet, []byte("\x00\x40\x08\n\x00\x80\x02\"\x00\x20\x00\x00"))
	f.Add(childFlow, []byte{0, 30, 255, '|', 0, 30, 1, '\r', 0, 31, 0, '\n', 1, 9, 4, 0xf0})
	f.Add("flowgen: 1\r\nname: 😀\rnodes:\u2028 {a: {let: 1}}", []byte{0, 9, 1, '-', 0, 3, 9, '&'})
	f.Add("<<<<<<< HEAD\nflowgen: 1\n=======\n\xff\xfe\x00\n>>>>>>> x\n", []byte{0, 1, 2, '*'})
	f.Add("", []byte{0, 0, 0, '['})
	f.Fuzz(func(t *testing.T, text string, keys []byte) {
		if len(text) > 4096 || len(keys) > 48 || strings.Contains(text, "go:") { // Go packages come when they are loaded
			t.Skip()
		}
		const name = "fuzz.flowgen.yaml"
		text = strings.ToValidUTF8(text, "?") // what JSON can carry
		old, said := within(t)
		old.open(name, text)
		for ; len(keys) >= 4; keys = keys[4:] {
			old.key(name, int(keys[0])<<8|int(keys[1]), int(keys[2]), keys[3])
			at := old.place(name, int(keys[1]))
			if keys[3]&1 == 1 {
				at = lspPosition{int(keys[2]), int(keys[1])}
			}
			old.everything(name, at)
		}
		fresh, saidToo := within(t)
		fresh.open(name, old.texts[name])
		got, want := old.settled(name), fresh.settled(name)
		if !slices.Equal(got, want) {
			t.Errorf("after edits\n%s\nopened fresh\n%s\nof\n%q", strings.Join(got, "\n"), strings.Join(want, "\n"), old.texts[name])
		}
		symbols := func(e *editor) string {
			return string(e.ask("textDocument/documentSymbol", object{"textDocument": object{"uri": e.uri(name)}}))
		}
		if a, b := symbols(old), symbols(fresh); a != b {
			t.Errorf("symbols after edits\n%s\nopened fresh\n%s\nof\n%q", a, b, old.texts[name])
		}
		for _, n := range []*noise{said, saidToo} {
			if n.String() != "" {
				t.Errorf("of %q the server says: %s", old.texts[name], n)
			}
		}
	})
}

// breaks are the ends of the lines of a text, as the protocol has them.
func breaks(text string) (starts []int, ends []int) {
	starts = []int{0}
	for i := 0; i < len(text); i++ {
		if text[i] == '\r' && i+1 < len(text) && text[i+1] == '\n' {
			ends = append(ends, i)
			i++
			starts = append(starts, i+1)
		} else if text[i] == '\r' || text[i] == '\n' {
			ends = append(ends, i)
			starts = append(starts, i+1)
		}
	}
	return starts, append(ends, len(text))
}

func units(s string) (n int) {
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

// place is the position of the last whole character at or before an offset.
func (e *editor) place(name string, off int) lspPosition {
	text := e.texts[name]
	starts, ends := breaks(text)
	off = min(off, len(text))
	line := len(starts) - 1
	for starts[line] > off {
		line--
	}
	off = min(off, ends[line])
	for off > starts[line] && off < len(text) && text[off]&0xc0 == 0x80 {
		off--
	}
	return lspPosition{line, units(text[starts[line]:off])}
}

// offset is that of a position, which has to be in the text.
func (e *editor) offset(name string, p lspPosition) (int, bool) {
	text := e.texts[name]
	starts, ends := breaks(text)
	if p.Line < 0 || p.Line >= len(starts) || p.Character < 0 {
		return 0, false
	}
	n := 0
	for i, r := range text[starts[p.Line]:ends[p.Line]] {
		if n >= p.Character {
			return starts[p.Line] + i, n == p.Character
		}
		n += units(string(r))
	}
	return ends[p.Line], n == p.Character
}

// typed are pieces that break YAML and expressions; other bytes stand for themselves.
var typed = []string{"", "\n  ", "{{ ", " }}", "nodes:", "- ", "<<: ", "!!int ", "---\n", "\u2028", "😀", "\r\n", "first", "$input.", "output:", "é"}

// key replaces some text by some other.
func (e *editor) key(name string, off, n int, typing byte) {
	lo, hi := e.place(name, off), e.place(name, off+n)
	from, _ := e.offset(name, lo)
	to, _ := e.offset(name, hi)
	piece := string(rune(typing & 0x7f))
	if typing >= 0x80 || typing == 0 {
		piece = typed[typing&0xf]
	}
	e.versions[name]++
	e.texts[name] = e.texts[name][:from] + piece + e.texts[name][to:]
	e.tell("textDocument/didChange", object{
		"textDocument":   object{"uri": e.uri(name), "version": e.versions[name]},
		"contentChanges": []object{{"range": object{"start": lo, "end": hi}, "text": piece}},
	})
}

// everything asks all that can be asked about a place.
func (e *editor) everything(name string, at lspPosition) {
	e.t.Helper()
	for _, method := range []string{
		"completion", "hover", "definition", "typeDefinition", "references", "documentHighlight", "prepareRename", "rename", "signatureHelp", "formatting", "rangeFormatting",
		"inlayHint", "semanticTokens/full", "foldingRange", "documentLink", "codeAction", "codeLens", "selectionRange", "documentSymbol", "prepareCallHierarchy",
	} {
		p := object{
			"textDocument": object{"uri": e.uri(name)}, "position": at, "positions": []lspPosition{at}, "context": object{"includeDeclaration": true}, "newName": "other",
			"range": lspRange{at, lspPosition{at.Line + 3, 0}},
		}
		out, err := e.try("textDocument/"+method, p)
		if err != nil {
			if strings.Contains(err.Error(), "fault") || !strings.HasPrefix(method, "rename") && method != "prepareRename" {
				e.t.Errorf("%s at %v of %q: %v", method, at, e.texts[name], err)
			}
			continue
		}
		var v any
		if err := json.Unmarshal(out, &v); err != nil {
			e.t.Fatal(err)
		}
		if bad := e.beyond(name, v); bad != "" {
			e.t.Errorf("%s at %v of %q: %s is no range of it", method, at, e.texts[name], bad)
		}
	}
}

// beyond is a range in an answer that is not in the document.
func (e *editor) beyond(name string, v any) string {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			if bad := e.beyond(name, x); bad != "" {
				return bad
			}
		}
	case map[string]any:
		if start, end := v["start"], v["end"]; start != nil && end != nil {
			var r lspRange
			raw, _ := json.Marshal(v)
			if json.Unmarshal(raw, &r) == nil {
				lo, ok := e.offset(name, r.Start)
				if hi, too := e.offset(name, r.End); !ok || !too || hi < lo {
					return string(raw)
				}
			}
		}
		for _, x := range v {
			if bad := e.beyond(name, x); bad != "" {
				return bad
			}
		}
	}
	return ""
}

// settled are the diagnostics of the present text, each in its document.
func (e *editor) settled(name string) []string {
	e.t.Helper()
	patience := time.After(2 * time.Minute)
	for {
		select {
		case p := <-e.published:
			if p.URI != e.uri(name) || p.Version == nil || *p.Version != e.versions[name] {
				continue
			}
			out := []string{}
			for _, d := range p.Diagnostics {
				out = append(out, fmt.Sprint(d.Code, d.Range, d.Severity, d.Message))
				if _, ok := e.offset(name, d.Range.Start); !ok {
					e.t.Errorf("%v of %q: it begins beyond it", d, e.texts[name])
				}
				if _, ok := e.offset(name, d.Range.End); !ok {
					e.t.Errorf("%v of %q: it ends beyond it", d, e.texts[name])
				}
			}
			return out
		case <-patience:
			e.t.Fatalf("no diagnostics of version %d of %q", e.versions[name], e.texts[name])
		}
	}
}
