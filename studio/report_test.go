package studio_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/studio"
)

// packed is the data of a report.
func packed(t *testing.T, page []byte) string {
	t.Helper()
	m := regexp.MustCompile(`(?s)<script type="text/plain" id="report" data-run="[^"]*">([A-Za-z0-9+/=]*)</script>`).FindSubmatch(page)
	if m == nil {
		t.Fatalf("the page has no data: %.300s", page)
	}
	data, err := base64.StdEncoding.DecodeString(string(m[1]))
	if err != nil {
		t.Fatal(err)
	}
	zip, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestReport: the file has one script and one style, which its policy names by their hashes and lets load nothing; it has what the journal
// has, or only its shape.
func TestReport(t *testing.T) {
	folder := runs.Open(recorded(t), runs.Options{})
	page, err := studio.Report(folder, oneRun, studio.ReportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	policy := regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(text)
	if policy == nil || !strings.HasPrefix(policy[1], "default-src 'none'; ") || strings.Contains(policy[1], "unsafe") || strings.Contains(policy[1], "connect-src") {
		t.Fatalf("the policy is %q", policy)
	}
	for _, form := range []string{`(?s)<style>(.*?)</style>`, `(?s)<script>(.*?)</script>`} {
		found := regexp.MustCompile(form).FindAllStringSubmatch(text, -1)
		if len(found) != 1 {
			t.Fatalf("%s is there %d times", form, len(found))
		}
		sum := sha256.Sum256([]byte(found[0][1]))
		if !strings.Contains(policy[1], base64.StdEncoding.EncodeToString(sum[:])) {
			t.Errorf("the policy does not name what %s has", form)
		}
	}
	if strings.Count(text, "<script") != 2 || strings.Count(text, "</script") != 2 || regexp.MustCompile(`(src|href)="[^d]`).MatchString(text) {
		t.Error("the file has more scripts than its own, or refers to others")
	}
	if data := packed(t, page); strings.Count(data, canary) < 4 {
		t.Errorf("the data is %s", data)
	}
	page, err = studio.Report(folder, oneRun, studio.ReportOptions{NoContent: true})
	if err != nil {
		t.Fatal(err)
	}
	if data := strings.NewReplacer("a[0]/"+canary, "", "a/"+canary, "").Replace(packed(t, page)); strings.Contains(data, canary) || !strings.Contains(data, `"x\": \"string\"`) {
		t.Errorf("without content the data is %s", data)
	}
	for _, id := range []string{"nothing", "../" + oneRun, oneRun + "x"} {
		if _, err := studio.Report(folder, id, studio.ReportOptions{}); !errors.Is(err, runs.ErrNoRun) {
			t.Errorf("%s: %v", id, err)
		}
	}
	s := server(t, studio.Options{})
	if w := ask(s, http.MethodGet, "/api/v1/runs/"+oneRun+"/report", "", nil); w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/octet-stream" || !strings.Contains(packed(t, w.Body.Bytes()), canary) {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

// TestBundleSize: the page's first files are small: what goes over the wire with gzip.
func TestBundleSize(t *testing.T) {
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	for _, name := range []string{"studio.js", "studio.css"} {
		text, err := os.ReadFile(filepath.Join("dist", name))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = zip.Write(text)
	}
	if _ = zip.Close(); b.Len() > 60<<10 {
		t.Errorf("the page has %d bytes", b.Len())
	}
}
