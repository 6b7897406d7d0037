package runs_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
)

// forged writes a run with lines that nobody has recorded.
func forged(t *testing.T, lines ...string) (*runs.Folder, string) {
	t.Helper()
	const id = "w-20260101T000000000-abcd"
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, id, "blobs"), 0o700); err != nil {
		t.Fatal(err)
	}
	log, _, err := wal.Open(wal.OS, filepath.Join(dir, id, "journal.jsonl"), wal.Off)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		if err := log.Append([]byte(line), false); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return runs.Open(dir, runs.Options{}), id
}

// A line of a hundred bytes can name a large value, and so can the next.
func TestValuesThatAreNamedTooOften(t *testing.T) {
	value := []byte(`"` + strings.Repeat("x", 998) + `"`)
	sum := sha256.Sum256(value)
	name := hex.EncodeToString(sum[:])
	lines := []string{`{"kind":"run","format":1,"workflow":"w","seed":"1","begin":"2026-01-01T00:00:00Z"}`}
	for i := range 10 {
		lines = append(lines, fmt.Sprintf(`{"kind":"end","key":"n%d","attempt":1,"tool":"t@1","effects":"none","output":{"$blob":%q,"bytes":1000}}`, i, name))
	}
	f, id := forged(t, lines...)
	if err := os.WriteFile(filepath.Join(f.Blobs(id), name), value, 0o600); err != nil {
		t.Fatal(err)
	}
	if j, err := f.Read(id); err != nil || len(j.Records()) != 10 {
		t.Errorf("%v", err)
	}
	runs.SmallValues(t, 9999)
	if _, err := f.Read(id); err == nil || !strings.Contains(err.Error(), "line 11 of the journal: the values of the journal are too large") {
		t.Errorf("%v", err)
	}
}

// A list of a mebibyte holds half a million values. Reading a journal does not make them.
func TestJournalsDoNotSwell(t *testing.T) {
	const size = 1 << 20
	for name, input := range map[string]string{
		"numbers": "[" + strings.Repeat("0,", size/2) + "0]",
		"objects": "[" + strings.Repeat("{},", size/3) + "0]",
		"depth":   "[" + strings.Repeat(strings.Repeat("[", 500)+strings.Repeat("]", 500)+",", size/1000) + "0]",
	} {
		f, id := forged(t, `{"kind":"run","format":1,"workflow":"w","seed":"1","begin":"2026-01-01T00:00:00Z","input":`+input+`}`)
		var before, after goruntime.MemStats
		goruntime.ReadMemStats(&before)
		if _, err := f.Read(id); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		goruntime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 12*size {
			t.Errorf("%s: a journal of %d bytes took %d", name, len(input), took)
		}
	}
}
