package golden_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind"
	"github.com/flowgen-dev/flowgen/ir/check"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/hashes"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/parser"
	"github.com/flowgen-dev/flowgen/runtime/engine"
	"github.com/flowgen-dev/flowgen/runtime/journal"
)

// TestHashesOfLayout: the canonical layout, comments and other places of everything are the same program.
func TestHashesOfLayout(t *testing.T) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, 2)
	for _, c := range corpus(t) {
		if c.program == nil {
			continue
		}
		again := &testcase{name: c.name, file: c.file, archive: &txtar.Archive{}, used: map[string]bool{}}
		for _, f := range c.archive.Files {
			if isYAML(f.Name) && !strings.HasPrefix(f.Name, "want/") {
				f.Data = []byte(laidOut(t, f.Name, string(f.Data)))
			}
			again.archive.Files = append(again.archive.Files, f)
		}
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			again.compile()
			if again.program == nil {
				t.Errorf("%s does not compile any more: %v", c.name, again.list)
				return
			}
			if diff := cmp.Diff(hashes.Of(c.program), hashes.Of(again.program)); diff != "" {
				t.Errorf("%s: %s", c.name, diff)
			}
		})
	}
	wg.Wait()
}

// laidOut is a file in canonical layout with comments between its sections; as it is when it is not a workflow.
func laidOut(t *testing.T, name, text string) string {
	t.Helper()
	out, ok, err := parser.Format(source.NewFile(name, text), &diag.Sink{})
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		return text
	}
	lines := strings.Split(out, "\n")
	for i, l := range lines {
		if i > 0 && l != "" && strings.IndexByte("abcdefghijklmnopqrstuvwxyz", l[0]) >= 0 {
			lines[i] = "# a remark\n\n" + l
		}
	}
	return strings.Join(lines, "\n")
}

// TestHashesOfOneEdit: an edit of one node is an edit of that node and of what it stands in, in every place that it runs
// from, and of nothing else.
func TestHashesOfOneEdit(t *testing.T) {
	edits := 0
	for _, p := range programs(t) {
		before := hashes.Of(p)
		for _, s := range p.Table {
			s.Node.Join = 1 - s.Node.Join
			after := hashes.Of(p)
			s.Node.Join = 1 - s.Node.Join
			edits++
			onlyOf(t, p, s, before, after)
		}
		if diff := cmp.Diff(before, hashes.Of(p)); diff != "" {
			t.Errorf("%s: made again: %s", p.WF.Name.Name, diff)
		}
	}
	t.Logf("%d edits", edits)
	if edits < 400 {
		t.Error("too few")
	}
}

func onlyOf(t *testing.T, p *check.Program, s *check.Step, before, after *hashes.Set) {
	t.Helper()
	if before.Graph == after.Graph {
		t.Errorf("%s: the graph does not know that %s is another", p.WF.Name.Name, s.Node.ID.Name)
	}
	changed := map[string]bool{}
	for path, hash := range before.Nodes {
		if after.Nodes[path] != hash {
			changed[path] = true
		}
	}
	inner := 0
	for path := range changed {
		under := slices.ContainsFunc(slices.Collect(maps.Keys(changed)), func(q string) bool { return q != path && q != path+"/" && strings.HasPrefix(q, path+"/") })
		if under {
			continue
		}
		inner++
		node := strings.TrimSuffix(path, "/")
		if id := node[strings.LastIndexByte(node, '/')+1:]; id != s.Node.ID.Name {
			t.Errorf("%s: %s changed with %s", p.WF.Name.Name, path, s.Node.ID.Name)
		}
		for i := range node {
			if _, container := before.Nodes[node[:i]]; container && node[i] == '/' && !changed[node[:i]] {
				t.Errorf("%s: %s did not change with %s in it", p.WF.Name.Name, node[:i], path)
			}
		}
	}
	if inner == 0 {
		t.Errorf("%s: nothing changed with %s", p.WF.Name.Name, s.Node.ID.Name)
	}
}

// programs are those of the corpus and of the examples.
func programs(t *testing.T) []*check.Program {
	t.Helper()
	var out []*check.Program
	for _, c := range corpus(t) {
		if c.program != nil {
			out = append(out, c.program)
		}
	}
	files := examples(t)
	for _, f := range files {
		if p := example(t, f, func(text string) string { return text }); p != nil {
			out = append(out, p)
		}
	}
	return out
}

// examples are the workflows of the examples, without files that only declare.
func examples(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../examples/*/*" + suffix)
	files = slices.DeleteFunc(files, func(f string) bool {
		text, err := os.ReadFile(f)
		return err != nil || !strings.Contains(string(text), "\nnodes:")
	})
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	return files
}

// example compiles a file after an edit; nil when it lacks an interpreter.
func example(t *testing.T, file string, edit func(string) string) *check.Program {
	t.Helper()
	var sink diag.Sink
	w := parser.Parse(edited{edit}, file, &sink)
	if w != nil {
		bind.Resolve(w, bind.Options{Dir: filepath.Dir(file)}, &sink)
		if p := check.Check(w, &sink); p != nil {
			return p
		}
	}
	for _, d := range sink.List() {
		if d.Code == diag.Interpreter && os.Getenv("CI") == "" {
			return nil
		}
	}
	t.Fatalf("%s: %v", file, sink.List())
	return nil
}

type edited struct{ edit func(string) string }

func (e edited) ReadFile(name string) ([]byte, error) {
	b, err := os.ReadFile(name)
	if strings.HasSuffix(name, suffix) {
		b = []byte(e.edit(string(b)))
	}
	return b, err
}

// TestHashesOfExamples: the layout of the examples says nothing; their prompts and sources do.
func TestHashesOfExamples(t *testing.T) {
	files := examples(t)
	for _, f := range files {
		p := example(t, f, func(text string) string { return text })
		if p == nil {
			continue
		}
		before := hashes.Of(p)
		q := example(t, f, func(text string) string { return laidOut(t, f, text) })
		if diff := cmp.Diff(before, hashes.Of(q)); diff != "" {
			t.Errorf("%s: %s", f, diff)
		}
		for _, s := range p.Table {
			if edit := assetOf(s); edit != nil {
				undo := edit()
				after := hashes.Of(p)
				undo()
				onlyOf(t, p, s, before, after)
			}
		}
	}
}

// assetOf edits the text of the prompt file of a node.
func assetOf(s *check.Step) func() (undo func()) {
	var prompt *ir.Prompt
	switch v := s.Node.Verb.(type) {
	case *ir.LLM:
		prompt = v.Prompt
	case *ir.Agent:
		prompt = v.Prompt
	}
	if prompt == nil || prompt.Text == nil || prompt.Text.Tmpl == nil || len(prompt.Text.Tmpl.Segments) == 0 {
		return nil
	}
	return func() func() {
		first := &prompt.Text.Tmpl.Segments[0]
		saved := *first
		if first.Expr == nil {
			first.Lit += "."
		} else {
			first.Filter = "json"
		}
		return func() { *first = saved }
	}
}

// TestPathsOfKeys: every call of every run of every case belongs to a node by its path.
func TestPathsOfKeys(t *testing.T) {
	calls := 0
	for _, c := range corpus(t) {
		if c.program == nil || !c.has("want/run.json") {
			continue
		}
		var runs []goldenRun
		if err := json.Unmarshal([]byte(c.section("want/run.json")), &runs); err != nil {
			t.Fatal(err)
		}
		h, err := journal.ParseHashes(hashes.Of(c.program).JSON())
		if err != nil {
			t.Fatal(err)
		}
		agents := map[string]bool{}
		for _, s := range c.program.Table {
			if s.Agent != nil {
				agents[s.Node.ID.Name] = true
			}
		}
		for _, r := range runs {
			for _, key := range r.Calls {
				key, wait := waits(key)
				if strings.HasSuffix(key, engine.UndoNode) {
					continue // it is of no node
				}
				if i := strings.IndexAny(key, ": "); i >= 0 { // how it ended
					key = key[:i]
				}
				key = strings.TrimSuffix(key, "/"+ir.ApproveID) // of the call that is asked for
				calls++
				path := h.PathOf(key)
				_, container := h.Nodes[path+"/"]
				id := path[strings.LastIndexByte(path, '/')+1:]
				if last := lastID(key); path == "" || container && !wait || id != last && !agents[id] {
					t.Errorf("%s: call %s belongs to %q", c.name, key, path)
				}
			}
		}
	}
	t.Logf("%d calls", calls)
	if calls < 400 {
		t.Error("too few")
	}
}

// waits cuts off what says that a call is a wait, of a node or of a loop before an iteration, or the beginning of undos.
func waits(key string) (string, bool) {
	if key, undoes := strings.CutSuffix(key, " begins"); undoes {
		return key, true
	}
	return strings.CutSuffix(key, " waits")
}

func lastID(key string) string {
	id := key[strings.LastIndexByte(key, '/')+1:]
	id, _, _ = strings.Cut(id, "#")
	id, _, _ = strings.Cut(id, "[")
	return id
}
