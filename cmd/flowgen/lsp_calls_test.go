package main

import (
	"slices"
	"strings"
	"testing"
)

const (
	childFlow  = "flowgen: 1\nname: child\ninput: {who: string}\ntools:\n  greet: {shell: \"echo hi\", in: {who: string}, out: string, effects: none}\nnodes:\n  hello: {tool: greet, with: {who: $input.who}}\noutput: {text: $hello}\n"
	parentFlow = "flowgen: 1\nname: parent\nnodes:\n  one: {flow: child.flowgen.yaml, with: {who: Ada}}\n  two: {flow: child.flowgen.yaml, with: {who: Grace}}\noutput: {text: \"{{ one.text }} {{ two.text }}\"}\n"
)

// TestLSPCalls: from a workflow an editor gets to those that run it, with the places, and to what it runs and calls itself.
func TestLSPCalls(t *testing.T) {
	t.Parallel()
	e := edit(t, map[string]string{"child.flowgen.yaml": childFlow, "parent.flowgen.yaml": parentFlow})
	e.openDisk("parent.flowgen.yaml")
	e.diagnostics("parent.flowgen.yaml")
	type item = map[string]any
	prepared := func(name, word string, skip int) item {
		list := answer[[]item](t, e.ask("textDocument/prepareCallHierarchy", e.on(name, word, 0, skip)))
		if len(list) != 1 {
			t.Fatalf("%s in %s: %v", word, name, list)
		}
		return list[0]
	}
	child := prepared("parent.flowgen.yaml", "flow: child", 7)
	if child["name"] != "child" || child["uri"] != e.uri("child.flowgen.yaml") {
		t.Fatalf("the workflow that is run: %v", child)
	}
	in := answer[[]struct {
		From       item
		FromRanges []lspRange
	}](t, e.ask("callHierarchy/incomingCalls", object{"item": child}))
	if len(in) != 1 || in[0].From["name"] != "parent" || len(in[0].FromRanges) != 2 || e.text("parent.flowgen.yaml", in[0].FromRanges[1]) != "child.flowgen.yaml" {
		t.Errorf("who runs it: %+v", in)
	}
	type outgoing = []struct {
		To         item
		FromRanges []lspRange
	}
	out := answer[outgoing](t, e.ask("callHierarchy/outgoingCalls", object{"item": prepared("parent.flowgen.yaml", "name: parent", 7)}))
	if len(out) != 1 || out[0].To["name"] != "child" || len(out[0].FromRanges) != 2 {
		t.Errorf("what it runs: %+v", out)
	}
	out = answer[outgoing](t, e.ask("callHierarchy/outgoingCalls", object{"item": child}))
	if len(out) != 1 || out[0].To["name"] != "greet" {
		t.Fatalf("what the child calls: %+v", out)
	}
	in = answer[[]struct {
		From       item
		FromRanges []lspRange
	}](t, e.ask("callHierarchy/incomingCalls", object{"item": out[0].To}))
	if len(in) != 1 || in[0].From["name"] != "child" {
		t.Errorf("who calls the tool: %+v", in)
	}
	if got := string(e.ask("callHierarchy/incomingCalls", object{"item": object{"name": "x"}})); got != "[]" {
		t.Errorf("an item that is not the server's: %s", got)
	}
}

const maybeFlow = "flowgen: 1\nname: maybe\ninput: {go: bool, spare: string}\ntools:\n  greet: {shell: \"echo hi\", out: string, effects: none}\n  old: {shell: \"echo\", out: string, effects: none}\nnodes:\n  hello: {tool: greet, when: $input.go}\noutput: {text: '$default(hello, \"none\")'}\n"

// TestLSPHints: a ? stands behind a value that may be absent, with the reason; a client can leave each kind of hint out.
func TestLSPHints(t *testing.T) {
	t.Parallel()
	const name = "maybe.flowgen.yaml"
	hints := func(options object) (out []string) {
		e := editAs(t, edit(t, nil).dir, options)
		e.open(name, maybeFlow)
		e.diagnostics(name)
		list := answer[[]struct {
			Position lspPosition
			Label    string
			Tooltip  string
		}](t, e.ask("textDocument/inlayHint", object{"textDocument": object{"uri": e.uri(name)}, "range": object{"start": lspPosition{}, "end": lspPosition{99, 0}}}))
		for _, h := range list {
			out = append(out, e.text(name, lspRange{lspPosition{h.Position.Line, h.Position.Character - 5}, h.Position})+h.Label+h.Tooltip)
		}
		return out
	}
	all := hints(nil)
	if len(all) != 2 || !strings.HasPrefix(all[0], "hello: ") || !strings.HasPrefix(all[1], "hello?It may be absent: ") {
		t.Errorf("hints: %q", all)
	}
	if got := hints(object{"hints": object{"absent": false, "types": nil}}); !slices.Equal(got, all[:1]) {
		t.Errorf("without ?: %q", got)
	}
	if got := hints(object{"hints": object{"types": false}}); !slices.Equal(got, all[1:]) {
		t.Errorf("without types: %q", got)
	}
}

// TestLSPNewer: a client of LSP 3.18 gets documents with the Go, the graph, the plan and the manifest of what is in its buffer,
// several ranges formatted at once, and the command line of a lens as its tooltip. Others are offered none of it.
func TestLSPNewer(t *testing.T) {
	t.Parallel()
	const name = "child.flowgen.yaml"
	old := edit(t, nil)
	for _, word := range []string{"textDocumentContent", "rangesSupport"} {
		if strings.Contains(string(old.init), word) {
			t.Errorf("a client of 3.17 is offered %s", word)
		}
	}
	e := editFor(t, old.dir, object{"commands": []string{"flowgen.terminal"}},
		object{"workspace": object{"textDocumentContent": object{}}, "textDocument": object{"rangeFormatting": object{"rangesSupport": true}}})
	e.open(name, childFlow)
	for scheme, want := range map[string]string{"flowgen.generated": "func ", "flowgen.graph": "hello", "flowgen.plan": "hello", "flowgen.manifest": "child can touch"} {
		if !strings.Contains(string(e.init), scheme) {
			t.Errorf("%s is not offered", scheme)
		}
		got := answer[struct{ Text string }](t, e.ask("workspace/textDocumentContent", object{"uri": scheme + strings.TrimPrefix(e.uri(name), "file")})).Text
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s", scheme, got)
		}
	}
	for _, uri := range []string{"flowgen.plan:///etc/passwd", "file:///etc/passwd", "flowgen.plan", ""} {
		if _, err := e.try("workspace/textDocumentContent", object{"uri": uri}); err == nil {
			t.Errorf("%q has a document", uri)
		}
	}
	lenses := string(e.ask("textDocument/codeLens", object{"textDocument": object{"uri": e.uri(name)}}))
	if !strings.Contains(lenses, `"tooltip":"flowgen run child.flowgen.yaml"`) {
		t.Errorf("lenses: %s", lenses)
	}
	e.replace(name, "name: child", "name: child   ")
	e.replace(name, "nodes:", "nodes:   ")
	e.replace(name, "{text: $hello}", "{text: $hello}   ")
	line := func(n int) object { return object{"start": lspPosition{n, 0}, "end": lspPosition{n + 1, 0}} }
	edits := answer[[]lspEdit](t, e.ask("textDocument/rangesFormatting", object{"textDocument": object{"uri": e.uri(name)}, "ranges": []object{line(1), line(5)}, "options": object{"tabSize": 2, "insertSpaces": true}}))
	e.apply(lspEdits{map[string][]lspEdit{e.uri(name): edits}})
	if want := strings.Replace(childFlow, "$hello}", "$hello}   ", 1); e.texts[name] != want {
		t.Errorf("formatted:\n%s", e.texts[name])
	}
}

// TestLSPTags: what is not used is marked so, for editors that fade it.
func TestLSPTags(t *testing.T) {
	t.Parallel()
	e := edit(t, nil)
	const name = "maybe.flowgen.yaml"
	e.open(name, maybeFlow)
	tags := map[string][]int{}
	for _, d := range (<-e.published).Diagnostics {
		tags[d.Code] = d.Tags
	}
	if !slices.Equal(tags["FG0304"], []int{1}) {
		t.Errorf("tags: %v", tags)
	}
}
