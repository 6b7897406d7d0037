// Package sqlite keeps the journals of runs in a file of SQLite, which several processes of a machine can share:
//
//	store, err := sqlite.Open(ctx, "sqlite:///var/lib/triage/runs.db")
//	folder := runs.Open("", runs.Options{Disk: store})
//	w, err := triage.New(runtime.WithEngines(folder.Record))
//
// Package database says what a process may do that is paused or dies. The file must be on a local disk. A program that links this
// package takes such URLs in --runs and FLOWGEN_RUNS.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"time"

	driver "modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"github.com/flowgen-dev/flowgen/runtime/journal/database"
	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
	"github.com/flowgen-dev/flowgen/runtime/stores"
)

func init() {
	stores.Runs.Register("sqlite", func(address string) (wal.Disk, func() error, error) {
		s, err := Open(context.Background(), address)
		if err != nil {
			return nil, nil, err
		}
		return s, s.Close, nil
	})
}

var parameter = regexp.MustCompile(`\$([0-9])`)

var dialect = database.Dialect{
	Bytes:   "BLOB",
	Clock:   "CAST(UNIXEPOCH('subsec') * 1000 AS INTEGER)",
	Rewrite: func(query string) string { return parameter.ReplaceAllString(query, "?$1") }, // $1 is a name here

	Unusable: unusable,
}

// unusable reads the primary codes of SQLite.
func unusable(err error) error {
	var said *driver.Error
	if !errors.As(err, &said) {
		return nil
	}
	switch said.Code() & 0xff {
	case codes.SQLITE_FULL:
		return wal.ErrFull
	case codes.SQLITE_READONLY, codes.SQLITE_PERM:
		return wal.ErrReadOnly
	case codes.SQLITE_IOERR, codes.SQLITE_CANTOPEN:
		return wal.ErrGone
	}
	return nil
}

// there returns what says whether the file that has a name is still the one that was opened: SQLite goes on to write into a file that
// somebody has removed.
func there(name string, opened os.FileInfo) func() error {
	return func() error {
		now, err := os.Stat(name)
		if err == nil && !os.SameFile(now, opened) {
			err = errors.New("another file exists there")
		}
		if err != nil {
			return fmt.Errorf("%s: %w: %w", name, wal.ErrGone, err)
		}
		return nil
	}
}

// Open opens a file, and makes it where it is missing: sqlite:///var/lib/runs.db, or sqlite://runs.db for one in the working directory.
// The parameter lease, such as 30s, is database.Options.Lease. Only the user of the program can read a file that it makes.
func Open(ctx context.Context, address string) (*database.Store, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "sqlite" || u.Host+u.Path == "" || u.User != nil || u.Fragment != "" {
		return nil, errors.New("the URL of the database cannot be read: write sqlite:///var/lib/runs.db")
	}
	o := database.Options{}
	for name, v := range u.Query() {
		if name != "lease" {
			return nil, errors.New("the URL of the database has the parameter " + name + ": there is lease")
		}
		if o.Lease, err = time.ParseDuration(v[0]); err != nil || o.Lease < time.Second {
			return nil, errors.New("the lease in the URL of the database is a duration of at least a second, such as 15s")
		}
	}
	name, err := filepath.Abs(filepath.FromSlash(u.Host + u.Path))
	if err != nil {
		return nil, err
	}
	o.Name = name
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, wal.Unusable(err)
	}
	opened, err := f.Stat()
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	o.There = there(name, opened)
	at := url.URL{Scheme: "file", Path: filepath.ToSlash(name), RawQuery: "_pragma=busy_timeout(20000)&_pragma=journal_mode(wal)&_pragma=synchronous(full)&_txlock=immediate"}
	db, err := sql.Open("sqlite", at.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(4)
	s, err := database.Open(ctx, db, dialect, o)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}
