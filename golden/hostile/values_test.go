package hostile

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/codegen"
)

const expandFlow = `flowgen: 1
name: expand
input: {a: string, b: string, xs: list<string>}
secrets: [CANARY]
state: {note: {type: string, init: ""}}
tools:
  print: {command: [printf, "%s", "({{ a }}|{{ b }})"], in: {a: string, b: string}, stdin: "{{ b }}", env: {VALUE: "{{ a }}"}, out: string, effects: none}
nodes:
  one: {let: {t: "<{{ input.a }}|{{ input.b }}>"}, set: {note: "{{ one.t }}{{ input.a }}"}}
  two:
    let:
      t: "{{ one.t }}{{ one.t }}$$ {a} ${b} %s {{ \"{{\" }} {{ state.note }}"
      u: "{{ input.xs | join(\"{{\") }}"
      l: "{{ input.xs | lines }}"
      j: "{{ input.xs | json }}"
      e: $input.a + "{{ input.b }}" + input.b
  each: {map: $input.xs, as: x, do: {let: {t: "{{ x }}{{ input.a }}"}}}
  ran: {map: $input.xs, as: x, max_items: 4, do: {tool: print, with: {a: $x, b: "{{ input.a }}"}}}
edges: [one -> two -> each -> ran]
output: {t: $two.t, u: $two.u, l: $two.l, j: $two.j, e: $two.e, each: "$each.map(x, x.t)", ran: $ran}
`

const expandMain = `package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
)

var pieces = []string{"{{", "}}", "{{ input.a }}", "{{ input.b }}", "{{ secrets.CANARY }}", "{{ env.CANARY }}", "$input.a", "$CANARY", "${CANARY}", "$(env)", "$$", "$", "{a}", "{+a}", "{", "}",
	"%s", "%!s", "%d", "\\", "\\n", "\\x41", "\"", "'", "` + "`" + `", "\n", "\r\n", "\t", "\u2028", "\u00e9", "\U0001F4A9", "{%", "%}", "{#", "<%=", "#{", "$.x", "[[", "]]", "a", "b", " ", "//", "*/", ";", "|", "&", "<", ">", "\x01", "\x7f", "\ufeff"}

func drawn(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(8) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

func main() {
	count, _ := strconv.Atoi(os.Args[1])
	every, _ := strconv.Atoi(os.Args[2])
	w, err := New()
	if err != nil {
		panic(err)
	}
	values, processes := 0, 0
	r := rand.New(rand.NewPCG(1, 2))
	for i := 0; values < count; i++ {
		in := Input{A: drawn(r), B: drawn(r), Xs: []string{}}
		if i%every == 0 { // a process for each
			in.Xs = []string{drawn(r), drawn(r)}
		}
		out, err := w.Run(context.Background(), in)
		if err != nil {
			fmt.Printf("%q: %v\n", in, err)
			os.Exit(1)
		}
		one := "<" + in.A + "|" + in.B + ">"
		want := Output{T: one + one + "$$ {a} ${b} %s {{ " + one + in.A, U: strings.Join(in.Xs, "{{"), L: strings.Join(in.Xs, "\n"), E: in.A + "{{ input.b }}" + in.B, Each: []string{}, Ran: []string{}}
		for _, x := range in.Xs {
			want.Each = append(want.Each, x+in.A)
			want.Ran = append(want.Ran, "("+x+"|"+in.A+")")
			processes++
		}
		var back []string
		if err := json.Unmarshal([]byte(out.J), &back); err != nil || !slices.Equal(back, in.Xs) {
			fmt.Printf("%q: JSON %q\n", in.Xs, out.J)
			os.Exit(1)
		}
		want.J = out.J
		if fmt.Sprintf("%q", out) != fmt.Sprintf("%q", want) {
			fmt.Printf("in   %q\nout  %q\nwant %q\n", in, out, want)
			os.Exit(1)
		}
		if strings.Contains(fmt.Sprint(out), "5ecre7") {
			fmt.Printf("the canary is in %q\n", out)
			os.Exit(1)
		}
		values += 2 + len(in.Xs)
	}
	json.NewEncoder(os.Stdout).Encode(map[string]int{"values": values, "processes": processes})
}
`

// TestValues: what a template writes is the text around its expressions and the values, one after the other. Nothing in a
// value is looked at again, by templates, commands, or anything between them.
func TestValues(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	p := &project{name: "expand", main: "expand.flowgen.yaml", files: map[string]string{"expand.flowgen.yaml": expandFlow}}
	r := p.compile("", "")
	if r.program == nil {
		t.Fatalf("%s: %s", firstOf(r), r.list[0].Help)
	}
	opts := codegen.Options{Package: "main", Name: "expand_flow"}
	code, err := codegen.Generate(r.program, opts)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"expand_flow.go": string(code), "main.go": expandMain}
	for _, a := range codegen.Assets(r.program, opts) {
		files[a.Name] = string(a.Data)
	}
	exe := buildMain(t, files)
	count := pick(50_000, 50_000, 1_000_000)
	cmd := exec.Command(exe, strconv.Itoa(count), strconv.Itoa(pick(400, 400, 2000)))
	cmd.Env = append(os.Environ(), "CANARY=5ecre7")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var done struct{ Values, Processes int }
	if err := json.Unmarshal(out, &done); err != nil || done.Values < count || done.Processes < 50 {
		t.Fatalf("%v %s", err, out)
	}
	t.Logf("%d values, %d of them through processes", done.Values, done.Processes)
}

func firstOf(r *result) string {
	for _, d := range r.list {
		return d.Message + " at " + d.Span.Text()
	}
	return ""
}

// buildMain builds a program whose package exists in an overlay only.
func buildMain(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	virtual, err := filepath.Abs("program")
	if err != nil {
		t.Fatal(err)
	}
	replace := map[string]string{}
	for name, text := range files {
		real := filepath.Join(dir, name)
		if err := os.WriteFile(real, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(virtual, name)] = real
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o644); err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(dir, "program")
	if out, err := exec.Command("go", "build", "-ldflags=-s", "-overlay", list, "-o", exe, "./program").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, strings.TrimSpace(string(out)))
	}
	return exe
}
