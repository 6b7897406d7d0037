//go:build unix

package temporal

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// recorded are the workflows of the histories in testdata/histories.
var recorded = map[string]string{
	"ledger": "testdata/ledger.flowgen.yaml", "trip": "testdata/trip.flowgen.yaml", "asks": "testdata/publish.flowgen.yaml", "incident": incident,
}

var identity = regexp.MustCompile(`"identity": "[^"]*"`)

// record keeps the history of a run where TEMPORAL_RECORD is set, without what it says about the machine.
func record(t *testing.T, exe, id string) {
	t.Helper()
	if os.Getenv("TEMPORAL_RECORD") == "" {
		return
	}
	text := identity.ReplaceAllString(ok(t, exe, "history", id), `"identity": "worker"`)
	if host, err := os.Hostname(); err == nil {
		text = strings.ReplaceAll(text, host, "host")
	}
	if err := os.MkdirAll("testdata/histories", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("testdata/histories", id+".json"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Histories that earlier versions of flowgen have left replay: runs survive an update of flowgen. TEMPORAL_RECORD=1 records them anew,
// which has to be told to users.
func TestRecorded(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	dir, err := filepath.Abs(filepath.Dir(incident))
	if err != nil {
		t.Fatal(err)
	}
	all := maps.Clone(recorded)
	if server != nil { // CI has one; ordinary tests build fewer programs
		maps.Copy(all, examples)
		for name := range cookbook {
			all["cookbook_"+name] = recipe(name)
		}
	}
	for name, workflow := range all {
		t.Run(name, func(t *testing.T) {
			if name == "incident" {
				t.Setenv("FLOWGEN_ROOT", dir)
			}
			out := ok(t, build(t, workflow), "replay", filepath.Join("testdata/histories", name+".json"))
			if !strings.HasSuffix(out, " events replayed\n") {
				t.Error(out)
			}
		})
	}
}

// A history of an earlier format is refused, and the message says what to do.
func TestEarlier(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	for file, workflow := range map[string]string{"earlier": "ledger", "earlier_turns": "trip"} { // calls with all they know, turns with all that was said before
		fails(t, 1, "the history is of an earlier version of flowgen", build(t, "testdata/"+workflow+".flowgen.yaml"), "replay", "testdata/"+file+".json")
	}
}
