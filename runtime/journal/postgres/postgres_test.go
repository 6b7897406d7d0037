//go:build unix

package postgres_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/internal/postgrestest"
	"github.com/flowgen-dev/flowgen/runtime/journal/database"
	"github.com/flowgen-dev/flowgen/runtime/journal/internal/disktest"
	"github.com/flowgen-dev/flowgen/runtime/journal/postgres"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/runtime/stores"
)

func TestStore(t *testing.T) {
	address := postgrestest.Start(t)
	disktest.Run(t, func(t *testing.T, lease time.Duration) *database.Store {
		if lease > 0 {
			address := address + "&lease=" + lease.String()
			opened, _, err := stores.Runs.Open(address)
			if err != nil {
				t.Fatal(err)
			}
			return opened.(*database.Store)
		}
		s, err := postgres.Open(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}, func(t *testing.T) {
		c, err := pgx.Connect(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Exec(t.Context(), "UPDATE flowgen_leases SET until = 0")
		if err := errors.Join(err, c.Close(t.Context())); err != nil {
			t.Fatal(err)
		}
	})
}

// What cannot be opened says why, without the password.
func TestWrongAddresses(t *testing.T) {
	for _, tt := range []struct{ address, says string }{
		{"postgres://flowgen:hunter2@127.0.0.1:1/x", "postgres://flowgen@127.0.0.1/x"},
		{"postgres://flowgen:hunter2@127.0.0.1:port/x", "PGPASSWORD"},
		{"postgres://flowgen:hunter2@127.0.0.1:1/x?lease=soon", "a duration of at least a second"},
		{"postgres://flowgen:hunter2@127.0.0.1:1/x?lease=1ms", "a duration of at least a second"},
	} {
		_, err := postgres.Open(t.Context(), tt.address)
		if err == nil || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", tt.address, err)
		}
	}
	if _, _, err := stores.Runs.Open("mysql://x"); !errors.Is(err, stores.ErrNotLinked) {
		t.Errorf("a scheme that is not linked: %v", err)
	}
}

func ExampleOpen() {
	ctx := context.Background()
	store, err := postgres.Open(ctx, "postgres://triage@db/triage")
	if err != nil {
		panic(err)
	}
	defer store.Close()
	folder := runs.Open("", runs.Options{Disk: store})
	_ = runtime.WithEngines(folder.Record) // an option of triage.New
}
