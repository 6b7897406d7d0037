package sqlite_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/journal/database"
	"github.com/flowgen-dev/flowgen/runtime/journal/internal/disktest"
	"github.com/flowgen-dev/flowgen/runtime/journal/sqlite"
)

func TestStore(t *testing.T) {
	name := filepath.Join(t.TempDir(), "räume #1.db")
	address := "sqlite://" + strings.ReplaceAll(filepath.ToSlash(name), "#", "%23")
	disktest.Run(t, func(t *testing.T, lease time.Duration) *database.Store {
		address := address
		if lease > 0 {
			address += "?lease=" + lease.String()
		}
		s, err := sqlite.Open(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}, func(t *testing.T) {
		db, err := sql.Open("sqlite", name+"?_pragma=busy_timeout(20000)")
		if err != nil {
			t.Fatal(err)
		}
		_, err = db.Exec("UPDATE flowgen_leases SET until = 0")
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
	})
	info, err := os.Stat(name)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
}

func TestWrongAddresses(t *testing.T) {
	full := filepath.Join(t.TempDir(), "no", "such", "folder")
	for _, tt := range []struct{ address, says string }{
		{"sqlite://", "write sqlite:///var/lib/runs.db"},
		{"sqlite://u:hunter2@x", "write sqlite:///var/lib/runs.db"},
		{"sqlite://x?leese=1s", "there is lease"},
		{"sqlite://x?lease=1ns", "a duration of at least a second"},
		{"sqlite://" + filepath.ToSlash(full), "no such file or directory"},
	} {
		_, err := sqlite.Open(t.Context(), tt.address)
		if err == nil || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", tt.address, err)
		}
	}
}

// A file that is not a database is left as it is.
func TestForeignFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "notes.txt")
	text := strings.Repeat("no database at all\n", 100)
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(t.Context(), "sqlite://"+filepath.ToSlash(name)); err == nil || !strings.Contains(err.Error(), "not a database") {
		t.Errorf("a foreign file: %v", err)
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != text {
		t.Errorf("it was changed, %v", err)
	}
}
