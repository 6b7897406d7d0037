package cli

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What names a question, written once more as a regular expression, which programs do not link.
func TestNamedAnswers(t *testing.T) {
	oracle := regexp.MustCompile(`^((?:[A-Za-z_][A-Za-z0-9_]*(?:#\d+)?(?:\[\d+\])?/)*)([A-Za-z_][A-Za-z0-9_]*)(#\d+)?:(?:[ \t]|$)`)
	a := &askers{ids: map[string]bool{"ask": true, "b1": true}}
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"ask", "b1", "x", "/", "#", "2", "[", "]", "[3]", "#4", ":", ": ", " ", "\t", "yes", "é"}), 0, 9).Draw(t, "parts")
		line := strings.Join(parts, "")
		if rapid.Bool().Draw(t, "ask") {
			line = rapid.StringMatching(`(x#?2?\[3\]/){0,2}(ask|b1|x)(#4)?: ?`).Draw(t, "name") + line
		}
		wantName, wantAnswer := "", line
		if m := oracle.FindStringSubmatch(line); m != nil && a.ids[m[2]] {
			wantName, wantAnswer = m[1]+m[2]+m[3], strings.TrimSpace(line[len(m[0]):])
		}
		if name, answer := a.named(line); name != wantName || answer != wantAnswer {
			t.Fatalf("%q: %q %q, want %q %q", line, name, answer, wantName, wantAnswer)
		}
	})
	if name, answer := a.named("each[2]/ask#3: yes"); name != "each[2]/ask#3" || answer != "yes" {
		t.Errorf("%q %q", name, answer)
	}
}
