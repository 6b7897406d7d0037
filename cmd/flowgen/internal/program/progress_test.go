package program

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

func TestProgress(t *testing.T) {
	var long strings.Builder
	for i := range 2 * many {
		fmt.Fprintf(&long, "example.com/p%d\n", i)
	}
	const mistake = "# example.com/p3\n./a.go:1:2: undefined: x\n"
	for _, tt := range []struct{ name, text, said, kept string }{
		{"nothing is compiled", "", "", ""},
		{"an edited workflow", "example.com/flow\nflowgen.local/triage\n", "", ""},
		{"a first build", long.String(), "^flowgen: compiling triage and .*\nflowgen: compiled 16 packages in [0-9]+s\n$", ""},
		{"a download", "go: downloading example.com/m v1.0.0\ngo: downloading example.com/n v1.0.0\n",
			"^flowgen: downloading the modules of triage\n$", "go: downloading example.com/m v1.0.0\ngo: downloading example.com/n v1.0.0\n"},
		{"a mistake", "unsafe\n" + mistake, "", mistake},
		{"a line without an end", "go: no", "", "go: no"},
	} {
		for _, size := range []int{1, 7, 4096} {
			var out bytes.Buffer
			p := newProgress(&out, "x/triage.flowgen.yaml")
			for rest := tt.text; rest != ""; {
				n := min(size, len(rest))
				if _, err := p.Write([]byte(rest[:n])); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			kept := p.done()
			if kept != tt.kept {
				t.Errorf("%s: kept %q", tt.name, kept)
			}
			if tt.said == "" && out.Len() > 0 || tt.said != "" && !regexp.MustCompile(tt.said).MatchString(out.String()) {
				t.Errorf("%s: says %q", tt.name, out.String())
			}
		}
	}
}

func TestProgressOnTerminal(t *testing.T) {
	var out bytes.Buffer
	p := newProgress(&out, "triage.flowgen.yaml")
	p.live = true
	for i := range many + 1 {
		fmt.Fprintf(p, "example.com/p%d\n", i)
	}
	p.done()
	want := "^\r\x1b\\[Kflowgen: compiling triage .*: 8\r\x1b\\[Kflowgen: compiling triage .*: 9\r\x1b\\[Kflowgen: compiled 9 packages in [0-9]+s\n$"
	if !regexp.MustCompile(want).MatchString(out.String()) {
		t.Errorf("%q", out.String())
	}
}
