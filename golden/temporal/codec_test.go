//go:build unix

package temporal

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// codec is a codec server. It is down while it is told to be.
type codec struct {
	URL     string
	encoded atomic.Int64 // payloads
	down    atomic.Bool
	refused atomic.Int64 // requests while it was down
}

// payload is one of the protocol of codec servers.
type payload struct {
	Metadata map[string]string `json:"metadata"`
	Data     string            `json:"data"`
}

func newCodec(t *testing.T) *codec {
	c := &codec{}
	s := httptest.NewServer(c)
	t.Cleanup(s.Close)
	c.URL = s.URL
	return c
}

// ServeHTTP implements http.Handler.
func (c *codec) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	if c.down.Load() {
		c.refused.Add(1)
		http.Error(rw, "down", http.StatusServiceUnavailable)
		return
	}
	var body struct {
		Payloads []payload `json:"payloads"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(rw, err.Error(), http.StatusBadRequest)
		return
	}
	for i, p := range body.Payloads {
		if strings.HasSuffix(r.URL.Path, "/encode") {
			inner, err := json.Marshal(p)
			if err != nil {
				http.Error(rw, err.Error(), http.StatusInternalServerError)
				return
			}
			body.Payloads[i] = payload{map[string]string{"encoding": base64.StdEncoding.EncodeToString([]byte("binary/mirrored"))}, base64.StdEncoding.EncodeToString(mirrored(inner))}
			c.encoded.Add(1)
			continue
		}
		outer, err := base64.StdEncoding.DecodeString(p.Data)
		if err != nil || json.Unmarshal(mirrored(outer), &body.Payloads[i]) != nil {
			http.Error(rw, "not of this codec", http.StatusBadRequest)
			return
		}
	}
	_ = json.NewEncoder(rw).Encode(body)
}

// A codec server has all payloads before Temporal does, and failures as well: what a run is given, does and says is nowhere in its history.
func TestCodecServer(t *testing.T) {
	served(t)
	codec := newCodec(t)
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
	if codec.encoded.Load() == 0 {
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

// What a call attaches to its result is in the store as the codec encodes it; the verb attachment decodes it.
func TestCodecAttachments(t *testing.T) {
	served(t)
	codec := newCodec(t)
	exe := build(t, "testdata/attaches.flowgen.yaml")
	store := t.TempDir()
	t.Setenv("FLOWGEN_BLOBS", store)
	attached := func(id string) string {
		t.Helper()
		worker(t, exe, "--queue", id)
		if out := ok(t, exe, "start", "--id", id, "--queue", id, "--wait"); len(out) > 4096 {
			t.Fatalf("not truncated: %d bytes", len(out))
		}
		m := regexp.MustCompile(`"url":"([^"]+)"`).FindStringSubmatch(ok(t, exe, "inspect", "--temporal", "--format", "jsonl", id))
		if m == nil {
			t.Fatal("no attachment")
		}
		return m[1]
	}
	whole := strings.Repeat("confidential\n", 15_000) + "the end" // without the end of the line
	var url string
	t.Run("coded", func(t *testing.T) {
		t.Setenv("TEMPORAL_CODEC_ENDPOINT", codec.URL)
		url = attached("attaches")
		if out := ok(t, exe, "attachment", url); out != whole {
			t.Errorf("%d bytes, %.100q", len(out), out)
		}
		fails(t, 3, "--tenant that of the run", exe, "attachment", "--tenant", "acme", url)
		fails(t, 2, "expected the URL of an attachment", exe, "attachment")
	})
	files, err := filepath.Glob(filepath.Join(store, "*", "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), "confidential") || strings.Contains(string(b), "Y29uZmlkZW50aWFs") { // base64 of it
			t.Errorf("%s is not encoded", f)
		}
	}
	if out := ok(t, exe, "attachment", url); strings.Contains(out, "confidential") { // without the codec: as the store has it
		t.Error("clear text")
	}
	if out := ok(t, exe, "attachment", attached("attaches-clear")); out != whole {
		t.Errorf("%d bytes, %.100q", len(out), out)
	}
	t.Setenv("FLOWGEN_BLOBS", "")
	fails(t, 2, "no store has the attachment", exe, "attachment", url)
}

// mirrored stands for an encryption: it is its own inverse.
func mirrored(b []byte) []byte {
	out := make([]byte, len(b))
	for i := range b {
		out[i] = b[i] ^ 0x5a
	}
	return out
}

// wrong starts a worker that cannot decode the payloads of a run, and waits until it has said so. It does the run no harm.
func wrong(t *testing.T, exe, says string, flags ...string) (stop func()) {
	t.Helper()
	var complaints said
	cmd := exec.Command(exe, append([]string{"worker"}, flags...)...)
	cmd.Env, cmd.Stderr = append(os.Environ(), server...), &complaints
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for !complaints.has(says) {
	}
	return func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
}

// A worker without the codec, and one whose codec server is down, fail no run: it goes on when they are right. All other verbs say what to
// do as well.
func TestUndecoded(t *testing.T) {
	served(t)
	codec := newCodec(t)
	exe := build(t, "testdata/publish.flowgen.yaml")
	queue := []string{"--queue", "undecoded"}
	const says = "run undecoded does not continue here: what it was given or has recorded cannot be decoded"
	var result string
	t.Run("coded", func(t *testing.T) {
		t.Setenv("TEMPORAL_CODEC_ENDPOINT", codec.URL)
		first := worker(t, exe, queue...)
		ok(t, exe, append([]string{"start", "--id", "undecoded", "--input", "what=the book"}, queue...)...)
		for ok(t, exe, "questions", "undecoded") == "[]\n" {
		}
		_ = first.Process.Kill()
		_ = first.Wait()
		answered := make(chan int)
		respond := exec.Command(exe, "respond", "undecoded", "ask", "yes") // waits until a worker has taken it
		respond.Env = append(os.Environ(), server...)
		if err := respond.Start(); err != nil {
			t.Fatal(err)
		}
		go func() { _ = respond.Wait(); answered <- respond.ProcessState.ExitCode() }()
		t.Run("without", func(t *testing.T) {
			t.Setenv("TEMPORAL_CODEC_ENDPOINT", "")
			wrong(t, exe, says, queue...)()
		})
		codec.down.Store(true)
		stop := wrong(t, exe, says, queue...)
		defer stop()
		codec.down.Store(false)
		if code := <-answered; code != 0 {
			ok(t, exe, "respond", "undecoded", "ask", "yes") // the server had given it up
		}
		result = ok(t, exe, "result", "undecoded")
		codec.down.Store(true)
		fails(t, 3, "the result of run undecoded cannot be decoded", exe, "result", "undecoded")
		fails(t, 3, "TEMPORAL_CODEC_ENDPOINT", exe, "replay", "undecoded")
	})
	if codec.refused.Load() == 0 || !strings.Contains(result, "posted 1 of the book") {
		t.Errorf("%d requests were refused, %s", codec.refused.Load(), result)
	}
	fails(t, 3, "TEMPORAL_CODEC_ENDPOINT", exe, "result", "undecoded")
	fails(t, 3, "TEMPORAL_CODEC_ENDPOINT", exe, "inspect", "--temporal", "undecoded")
}

// What others start as a run of the workflow is told what is wrong with it.
func TestForeignStart(t *testing.T) {
	served(t)
	exe := build(t, "testdata/publish.flowgen.yaml")
	worker(t, exe, "--queue", "foreign")
	for i, tt := range []struct {
		input string
		code  int
		says  string
	}{
		{`[{"what": 1}]`, 1, "the input is not one of workflow publish: "},
		{`["text"]`, 1, "the input is not one of workflow publish: "},
		{`[{"what": "x"}, "acme"]`, 1, `its second argument is "acme", and not left out or a JSON object`},
		{`[{"what": "x"}, {}, {"data": "Z2FyYmFnZQ==", "metadata": {"encoding": "YmluYXJ5L3BsYWlu"}}]`, 3, "the journal of the run cannot be read"},
	} {
		id := fmt.Sprint("foreign-", i)
		body := fmt.Sprintf(`{"workflowType": {"name": "publish"}, "taskQueue": {"name": "foreign"}, "input": %s}`, tt.input)
		r, err := http.Post(fmt.Sprintf("http://127.0.0.1:%d/api/v1/namespaces/%s/workflows/%s", shared.web, shared.namespace, id), "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Body.Close()
		if r.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s", tt.input, r.Status)
		}
		fails(t, tt.code, tt.says, exe, "result", id)
	}
}
