//go:build unix

package temporal

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// A write in flight is cancelled with its run, on the worker that makes it, and what was done before is undone.
func TestWriteCancelled(t *testing.T) {
	served(t)
	w := newWorld()
	defer w.close()
	exe := build(t, "testdata/hold.flowgen.yaml")
	worker(t, exe, "--heartbeat", "2s")
	ok(t, exe, "start", "--id", "held", "--input", "port="+strconv.Itoa(w.port()))
	w.awaits(func() bool { return w.asked["ship"] == 1 })
	ok(t, exe, "cancel", "held")
	fails(t, 1, "was cancelled", exe, "result", "held")
	w.awaits(func() bool { return w.left["ship"] == 1 })
	asked, done := w.counts()
	if asked["ship"] != 1 || done["room"] != 1 || done["free"] != 1 {
		t.Errorf("asked %v, done %v", asked, done)
	}
	ok(t, exe, "replay", "held")
}

// Caps are those of the run, wherever its calls are made: a call that a cache answers gives its cost back, and one of a model the tokens
// that it did not need. A cache is shared by runs and workers of a tenant, and by no other tenant.
func TestCapsAndCaches(t *testing.T) {
	served(t)
	w := newWorld()
	defer w.close()
	exe := build(t, "testdata/promises.flowgen.yaml")
	cache := t.TempDir()
	port := "port=" + strconv.Itoa(w.port())
	first := worker(t, exe, "--cache", cache)
	run := func(id, items string, more ...string) string {
		return ok(t, exe, append([]string{"start", "--id", "caps-" + id, "--wait", "--input", port, "--input", "items=" + items}, more...)...)
	}
	const six = `["a","a","a","a","a","a"]`
	want := ok(t, exe, "run", "--quiet", "--no-journal", "--cache", t.TempDir(), "--input", port, "--input", "items="+six)
	asked, _ := w.counts()
	if asked["a"] != 1 {
		t.Fatalf("in one process it asked %v", asked)
	}
	if got := run("kept", six); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	_ = first.Process.Kill()
	_ = first.Wait()
	worker(t, exe, "--cache", cache)
	run("again", six)
	run("other", six, "--tenant", "acme")
	run("other-again", six, "--tenant", "acme")
	if asked, _ = w.counts(); asked["a"] != 3 { // in one process, of the first run, of the tenant's first
		t.Errorf("asked %v", asked)
	}
	ok(t, exe, "start", "--id", "dear", "--input", port, "--input", `items=["b","c","d"]`)
	fails(t, 1, "of the 1 that the policy allows 0.2 are left", exe, "result", "dear")
	if asked, _ = w.counts(); asked["b"] != 1 || asked["c"] != 1 || asked["d"] != 0 {
		t.Errorf("asked %v", asked)
	}
}

// A codec server has all payloads before Temporal does, and failures as well: what a run is given, does and says is nowhere in its history.
func TestCodecServer(t *testing.T) {
	served(t)
	var coded atomic.Int64
	codec := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		type payload struct {
			Metadata map[string]string `json:"metadata"`
			Data     string            `json:"data"`
		}
		var body struct {
			Payloads []payload `json:"payloads"`
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			http.Error(rw, err.Error(), http.StatusBadRequest)
			return
		}
		for i, p := range body.Payloads {
			switch {
			case strings.HasSuffix(r.URL.Path, "/encode"):
				inner, _ := json.Marshal(p)
				body.Payloads[i] = payload{map[string]string{"encoding": base64.StdEncoding.EncodeToString([]byte("binary/mirrored"))}, base64.StdEncoding.EncodeToString(mirrored(inner))}
				coded.Add(1)
			default:
				outer, err := base64.StdEncoding.DecodeString(p.Data)
				if err != nil || json.Unmarshal(mirrored(outer), &body.Payloads[i]) != nil {
					http.Error(rw, "not of this codec", http.StatusBadRequest)
					return
				}
			}
		}
		_ = json.NewEncoder(rw).Encode(body)
	}))
	defer codec.Close()
	w := newWorld()
	defer w.close()
	exe := build(t, "testdata/ledger.flowgen.yaml")
	start := func(id string, port int) {
		ok(t, exe, "start", "--id", id, "--queue", "coded", "--input", "port="+strconv.Itoa(port), "--input", `items=["confidential"]`)
	}
	t.Run("coded", func(t *testing.T) {
		t.Setenv("TEMPORAL_CODEC_ENDPOINT", codec.URL)
		worker(t, exe, "--queue", "coded")
		start("coded", w.port())
		if out := ok(t, exe, "result", "coded"); !strings.Contains(out, "mails") {
			t.Error(out)
		}
		start("coded-fails", 1) // where nobody listens
		fails(t, 1, "127.0.0.1:1", exe, "result", "coded-fails")
		ok(t, exe, "replay", "coded")
		if text := ok(t, exe, "inspect", "--temporal", "coded", "book"); !strings.Contains(text, "book-4") {
			t.Error(text)
		}
	})
	if coded.Load() == 0 {
		t.Error("the codec server was not asked")
	}
	for _, id := range []string{"coded", "coded-fails"} {
		text := ok(t, exe, "history", id) // without the codec: as the server has it
		for _, says := range []string{"confidential", base64.StdEncoding.EncodeToString([]byte(`"items":["conf`))[:16], "127.0.0.1:1", "connection refused"} {
			if strings.Contains(text, says) {
				t.Errorf("the history of %s says %q", id, says)
			}
		}
	}
}

// mirrored stands for an encryption: it is its own inverse.
func mirrored(b []byte) []byte {
	out := make([]byte, len(b))
	for i := range b {
		out[i] = b[i] ^ 0x5a
	}
	return out
}
