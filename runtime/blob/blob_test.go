package blob

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/internal/leaks"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/redact"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

func TestMain(m *testing.M) { leaks.Main(m) }

var _ runtime.Blobs = (*Store)(nil)

func opened(t *testing.T, dir string, o ...Option) *Store {
	t.Helper()
	s, err := Open(dir, o...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func put(t *testing.T, s *Store, tenant, text string) (string, error) {
	t.Helper()
	b, err := s.Create(t.Context(), tenant, "text/plain")
	if err != nil {
		t.Fatal(err)
	}
	defer b.Abort()
	if _, err := io.Copy(b, strings.NewReader(text)); err != nil {
		return "", err
	}
	return b.Commit()
}

func read(s *Store, tenant, u string) string {
	r, err := s.Read(tenant, u)
	if err != nil {
		return "error"
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		return "error"
	}
	return string(b)
}

func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	_ = filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			names = append(names, p)
		}
		return err
	})
	return names
}

func TestStore(t *testing.T) {
	dir := t.TempDir() + "/a b/ü"
	s := opened(t, dir)
	one, err := put(t, s, "", "content")
	if err != nil || !strings.HasPrefix(one, "file:///") || strings.Contains(one, " ") {
		t.Fatal(one, err)
	}
	again, err := put(t, s, "", "content")
	if err != nil || again != one {
		t.Errorf("the same content is %s and %s, %v", one, again, err)
	}
	acme, err := put(t, s, "acme", "content")
	if err != nil || acme == one {
		t.Errorf("another tenant's is %s, %v", acme, err)
	}
	if n := files(t, dir); len(n) != 2 {
		t.Errorf("files %v", n)
	}
	later := opened(t, dir)
	if read(later, "", one) != "content" || read(later, "acme", acme) != "content" {
		t.Error("it does not come back")
	}
	u, _ := url.Parse(one)
	if b, err := os.ReadFile(ofURL(u)); err != nil || string(b) != "content" {
		t.Errorf("the URL leads to %q, %v", b, err)
	}
	for _, name := range files(t, dir) {
		if info, _ := os.Stat(name); info.Mode().Perm() != 0o600 && goruntime.GOOS != "windows" { // whose files have no such bits
			t.Errorf("%s: %v", name, info.Mode())
		}
	}
	b, _ := s.Create(t.Context(), "", "")
	_, _ = b.Write([]byte("x"))
	b.Abort()
	b.Abort()
	if _, err := b.Commit(); err == nil {
		t.Error("an aborted blob is kept")
	}
	if n := files(t, dir); len(n) != 2 || s.size != int64(2*len("content")) {
		t.Errorf("files %v, %d bytes", n, s.size)
	}
}

// No tenant reads what is another's, whatever it is called and however it asks.
func TestTenantsAreApart(t *testing.T) {
	dir := t.TempDir()
	s := opened(t, dir+"/store")
	if err := os.WriteFile(dir+"/outside", []byte("outside"), 0o600); err != nil {
		t.Fatal(err)
	}
	tenants := []string{"", "acme", "Acme", "ACME", "shared", "t-acme", "../acme", "acme/..", ".", "..", "a\x00", "ä", strings.Repeat("a", 65), strings.Repeat("a", 64), "t-", " acme"}
	urls := map[string]string{}
	for _, tenant := range tenants {
		u, err := put(t, s, tenant, "secret of all")
		if err != nil {
			t.Fatal(err)
		}
		for other, have := range urls {
			if have == u {
				t.Errorf("%q and %q share %s", tenant, other, u)
			}
		}
		urls[tenant] = u
	}
	for _, tenant := range tenants {
		for of, u := range urls {
			if got := read(s, tenant, u); (got == "secret of all") != (tenant == of) {
				t.Errorf("%q reads the blob of %q: %s", tenant, of, got)
			}
		}
		for _, u := range []string{"", "file:///etc/passwd", "file://" + dir + "/outside", "file://" + dir + "/store/../outside", "http://x/" + strings.Repeat("a", 64),
			"file:///" + strings.Repeat("a", 64), urls[""] + "/..", urls["acme"] + "?x", strings.Replace(urls["acme"], "t-acme", "t-acme/../t-acme", 1), "\x00"} {
			if got := read(s, tenant, u); got != "error" {
				t.Errorf("%q reads %q: %s", tenant, u, got)
			}
		}
	}
	if n := files(t, dir); len(n) != len(tenants)+1 {
		t.Errorf("files %v", n)
	}
}

func TestFullAndDead(t *testing.T) {
	dir := t.TempDir()
	s := opened(t, dir, MaxBytes(1000))
	if _, err := put(t, s, "", strings.Repeat("x", 900)); err != nil {
		t.Fatal(err)
	}
	if _, err := put(t, s, "", strings.Repeat("y", 200)); err == nil {
		t.Error("a full store takes more")
	}
	if _, err := put(t, s, "", strings.Repeat("z", 100)); err != nil {
		t.Errorf("what was refused takes room: %v", err)
	}
	if n := files(t, dir); len(n) != 2 {
		t.Errorf("files %v", n)
	}
	dead, young := dir+"/shared/dead"+unfinished, dir+"/shared/young"+unfinished
	for _, f := range []string{dead, young} {
		if err := os.WriteFile(f, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_ = os.Chtimes(dead, time.Now(), time.Now().Add(-25*time.Hour))
	if s := opened(t, dir, MaxBytes(1000)); s.size != 1000 {
		t.Errorf("%d bytes are counted", s.size)
	}
	if _, err := os.Stat(dead); err == nil {
		t.Error("a dead write is still there")
	}
	if _, err := os.Stat(young); err != nil {
		t.Error("a write in progress is gone")
	}
}

func TestConcurrent(t *testing.T) {
	s := opened(t, t.TempDir())
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 20 {
				text := strings.Repeat(fmt.Sprint(j), 1000)
				u, err := put(t, s, "", text)
				if err != nil || read(s, "", u) != text {
					t.Errorf("%d: %v", i, err)
				}
			}
		})
	}
	wg.Wait()
}

// Agent Tools 5.4: an output that is too large is cut, the envelope says so, and the whole is attached.
func TestTruncation(t *testing.T) {
	s := opened(t, t.TempDir())
	secret := "canary-canary"
	whole := strings.Repeat("grüße \"<&>\n", 1000) + secret + strings.Repeat("x", 5000)
	clean := strings.ReplaceAll(whole, secret, redact.Redacted)
	object := value.Map(value.Entry{Key: "list", Value: value.List(value.String(whole), value.Int(1))})
	limit := flow.MaxOutput(1000)
	node := &flow.Node{ID: "n", Pos: "f.yaml:1:1"}
	info := &flow.Info{Name: "w", Secrets: []string{"KEY"}}
	run := func(o ...runtime.Option) (*flow.Run, *journal.Recorder) {
		rec := journal.NewRecorder()
		rt, err := flow.New(info, append(o, runtime.WithEngine(rec), runtime.WithTenant("acme"),
			runtime.WithSecrets(func(string) (string, bool) { return secret, true }))...)
		if err != nil {
			t.Fatal(err)
		}
		return rt.Start(t.Context()), rec
	}
	check := func(t *testing.T, rec *journal.Recorder, contentType, blob string) {
		t.Helper()
		e := rec.Envelopes()[0]
		if !e.Truncated || len(e.Attachments) != 1 || len(e.Output) > 1000 || e.Error != nil {
			t.Fatalf("envelope %v %v, output of %d bytes, %v", e.Truncated, e.Attachments, len(e.Output), e.Error)
		}
		a := e.Attachments[0]
		if a.Kind != "blob" || a.ContentType != contentType || a.Bytes != int64(len(blob)) || read(s, "acme", a.URL) != blob {
			t.Errorf("attachment %+v of a blob of %d bytes", a, len(blob))
		}
		if read(s, "", a.URL) != "error" {
			t.Error("another tenant reads it")
		}
		text, err := rec.Journal().MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		j, err := journal.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if r := j.Records()[0]; !r.Truncated || r.Attachments[0] != a || bytes.Contains(text, []byte(secret)) {
			t.Errorf("record %+v", r)
		}
	}
	t.Run("text", func(t *testing.T) {
		tool := flow.Bind("t.text@1", flow.Reads, func(context.Context, int) (string, error) { return whole, nil }, limit)
		r, rec := run(runtime.WithBlobs(s))
		out, err := flow.Call(r, node, tool, 1)
		if err != nil || len(out) < 300 || !strings.HasPrefix(clean, out) {
			t.Fatalf("%d bytes, %v", len(out), err)
		}
		check(t, rec, "text/plain; charset=utf-8", clean)
	})
	t.Run("value that is text", func(t *testing.T) {
		tool := flow.Bind("t.text@1", flow.Reads, func(context.Context, int) (value.Value, error) { return value.String(whole), nil }, limit)
		r, rec := run(runtime.WithBlobs(s))
		out, err := flow.Call(r, node, tool, 1)
		if err != nil || out.Kind() != value.StringKind || !strings.HasPrefix(clean, out.String()) {
			t.Fatal(out, err)
		}
		check(t, rec, "text/plain; charset=utf-8", clean)
	})
	t.Run("any other value", func(t *testing.T) {
		tool := flow.Bind("t.value@1", flow.Reads, func(context.Context, int) (value.Value, error) { return object, nil }, limit)
		r, rec := run(runtime.WithBlobs(s))
		out, err := flow.Call(r, node, tool, 1)
		if err != nil {
			t.Fatal(err)
		}
		whole := strings.ReplaceAll(jsonOf(t, object), secret, redact.Redacted)
		a := rec.Envelopes()[0].Attachments[0]
		v, _ := out.Get("preview")
		preview := v.String()
		if !strings.HasPrefix(whole, preview) || len(preview) < 200 {
			t.Errorf("preview %q", preview)
		}
		want := fmt.Sprintf(`{"truncated":true,"preview":%s,"url":"%s","content_type":"application/json","bytes":%d}`, jsonOf(t, preview), a.URL, len(whole))
		if got := jsonOf(t, out); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
		check(t, rec, "application/json", whole)
	})
	t.Run("from the cache", func(t *testing.T) {
		tool := flow.Bind("t.cached@1", flow.Reads, func(context.Context, int) (string, error) { return whole, nil }, limit, flow.CacheForever())
		r, rec := run(runtime.WithBlobs(s))
		for range 2 {
			if _, err := flow.Call(r, node, tool, 1); err != nil {
				t.Fatal(err)
			}
		}
		if e := rec.Envelopes(); !e[1].Cached || !e[1].Truncated || len(e[1].Attachments) != 1 || e[1].Attachments[0] != e[0].Attachments[0] {
			t.Errorf("envelope %+v", e[1])
		}
	})
	t.Run("typed", func(t *testing.T) {
		tool := flow.Bind("t.list@1", flow.Reads, func(context.Context, int) ([]string, error) { return []string{whole}, nil }, limit)
		r, rec := run(runtime.WithBlobs(s))
		_, err := flow.Call(r, node, tool, 1)
		if err == nil || !strings.Contains(err.Error(), "POLICY_DENIED: output has ") || !strings.HasSuffix(err.Error(), "raise max_output of t.list") {
			t.Error(err)
		}
		e := rec.Envelopes()[0]
		if e.Truncated || len(e.Attachments) != 1 || e.Attachments[0].ContentType != "application/json" || e.Attachments[0].Bytes < int64(len(clean)) || !strings.HasPrefix(read(s, "acme", e.Attachments[0].URL), `["`) {
			t.Errorf("the whole is kept in %+v", e.Attachments)
		}
	})
	t.Run("no store", func(t *testing.T) {
		tool := flow.Bind("t.text@1", flow.Reads, func(context.Context, int) (string, error) { return whole, nil }, limit)
		r, rec := run()
		out, err := flow.Call(r, node, tool, 1)
		if e := rec.Envelopes()[0]; err != nil || len(out) < 300 || !strings.HasPrefix(clean, out) || !e.Truncated || len(e.Attachments) != 0 {
			t.Errorf("%q, %v, %+v", out, err, e)
		}
	})
	t.Run("full store", func(t *testing.T) {
		tool := flow.Bind("t.text@1", flow.Reads, func(context.Context, int) (string, error) { return whole, nil }, limit)
		dir := t.TempDir()
		r, rec := run(runtime.WithBlobs(opened(t, dir, MaxBytes(100))))
		if _, err := flow.Call(r, node, tool, 1); err == nil || !strings.Contains(err.Error(), "POLICY_DENIED: output is too large and cannot be kept") {
			t.Error(err)
		}
		if n := files(t, dir); len(n) != 0 || rec.Envelopes()[0].Truncated {
			t.Errorf("files %v", n)
		}
	})
	t.Run("fits exactly", func(t *testing.T) {
		tool := flow.Bind("t.text@1", flow.Reads, func(context.Context, int) (string, error) { return strings.Repeat("x", 998), nil }, limit)
		r, rec := run(runtime.WithBlobs(s))
		if out, err := flow.Call(r, node, tool, 1); err != nil || len(out) != 998 || rec.Envelopes()[0].Truncated {
			t.Error(len(out), err)
		}
	})
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	w, err := value.Of(v)
	if err != nil {
		t.Fatal(err)
	}
	b, err := w.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// ofURL is the path that a file's URL names: of file:///C:/x, C:/x.
func ofURL(u *url.URL) string {
	if drive := strings.TrimPrefix(u.Path, "/"); filepath.VolumeName(drive) != "" {
		return drive
	}
	return u.Path
}
