// Package database keeps the journals of runs in the tables of an SQL database, so that several replicas of a service share them. It
// is the part that all databases have in common; a leaf for each brings the driver:
//
//	store, err := postgres.Open(ctx, "postgres://triage@db/triage")
//	folder := runs.Open("", runs.Options{Disk: store})
//
// A log is a sequence of parts, each at its offset. Who appends to a log holds its lease, which is renewed while the process lives and
// can be taken over when it has expired. Every part is written in one statement with the question whether the lease is still the
// writer's: a process that was paused until another one had taken over can write nothing any more, and so it makes no call
// that writes either.
package database

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
)

// ErrLost is the error of writing to a log whose lease another process has taken over.
var ErrLost = errors.New("another process has taken over the run")

// The bounds of what the store waits for.
const (
	DefaultLease = 15 * time.Second
	statement    = 30 * time.Second // of the database's answer to one statement
)

// A Dialect is what databases say in different ways. Parameters are written $1, $2.
type Dialect struct {
	Bytes   string // the type of bytes
	Clock   string // an expression: milliseconds of the database's own clock
	Lock    string // the end of a SELECT that keeps the row it finds as it is until the statement is over; may be empty
	Rewrite func(query string) string
	// Unusable says of an error of the driver which of wal.ErrFull, wal.ErrReadOnly and wal.ErrGone it is, nil when it is none of them.
	Unusable func(error) error
}

// Options of a store. The zero value is for use.
type Options struct {
	// Lease is how long a process that says nothing keeps its runs; DefaultLease when it is 0. It is renewed three times in that
	// time. Runs of a process that was killed can be taken over when it has passed.
	Lease time.Duration
	// Name is what messages call the database. It has no password.
	Name string
	// There says why what has been written is not there any more, for databases that do not notice; nil: this one does.
	There func() error
}

// Store is a wal.Disk in a database. It is safe for concurrent use.
type Store struct {
	db    *sql.DB
	d     Dialect
	lease time.Duration
	name  string
	there func() error

	mu     sync.Mutex
	held   map[string]string // leases: owner by name
	closed bool
	stop   chan struct{} // ends the renewal; nil while nothing is held
	gone   chan struct{} // closed when the renewal has ended
}

// Open makes the tables where they are missing.
func Open(ctx context.Context, db *sql.DB, d Dialect, o Options) (*Store, error) {
	s := &Store{db: db, d: d, lease: o.Lease, name: o.Name, there: o.There, held: map[string]string{}}
	if s.lease <= 0 {
		s.lease = DefaultLease
	}
	for _, table := range []string{
		`CREATE TABLE IF NOT EXISTS flowgen_files (name TEXT PRIMARY KEY)`,
		`CREATE TABLE IF NOT EXISTS flowgen_parts (name TEXT NOT NULL, place BIGINT NOT NULL, data ` + d.Bytes + ` NOT NULL, PRIMARY KEY (name, place))`,
		`CREATE TABLE IF NOT EXISTS flowgen_leases (name TEXT PRIMARY KEY, owner TEXT NOT NULL, until BIGINT NOT NULL)`,
	} {
		if _, err := s.exec(ctx, table); err != nil {
			// Two that begin at the same time make the same table: then it is there for the second try.
			if _, err = s.exec(ctx, table); err != nil {
				return nil, fmt.Errorf("the tables of journals cannot be made: %w", err)
			}
		}
	}
	return s, nil
}

// String is what messages call the store.
func (s *Store) String() string { return s.name }

// Close gives the leases back and closes the database. Logs that are open can write nothing any more.
func (s *Store) Close() error {
	s.mu.Lock()
	stop, gone, held := s.stop, s.gone, s.held
	s.stop, s.held, s.closed = nil, map[string]string{}, true
	s.mu.Unlock()
	if stop != nil {
		close(stop)
		<-gone
	}
	var err error
	for name, owner := range held {
		err = errors.Join(err, s.release(name, owner))
	}
	return errors.Join(err, s.db.Close())
}

func (s *Store) exec(ctx context.Context, query string, args ...any) (changed int64, err error) {
	ctx, stop := context.WithTimeout(ctx, statement)
	defer stop()
	if s.d.Rewrite != nil {
		query = s.d.Rewrite(query)
	}
	r, err := s.db.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, s.failed(err)
	}
	return r.RowsAffected()
}

// query calls scan for each row.
func (s *Store) query(scan func(*sql.Rows) error, query string, args ...any) error {
	ctx, stop := context.WithTimeout(context.Background(), statement)
	defer stop()
	if s.d.Rewrite != nil {
		query = s.d.Rewrite(query)
	}
	rows, err := s.db.QueryContext(ctx, query, args...)
	if err != nil {
		return s.failed(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return s.failed(err)
	}
	return nil
}

func (s *Store) failed(err error) error {
	if kind := s.d.Unusable(err); kind != nil {
		return fmt.Errorf("%s: %w: %w", s.name, kind, err)
	}
	return fmt.Errorf("%s: %w", s.name, err)
}

// slashed is the name of a file as the database has it.
func slashed(name string) string { return strings.ReplaceAll(name, `\`, "/") }

// ReadFile implements wal.Disk.
func (s *Store) ReadFile(name string) ([]byte, error) {
	name = slashed(name)
	size, err := s.size(name)
	if err != nil {
		return nil, err
	}
	if size > wal.MaxFile {
		return nil, fmt.Errorf("%s: %s is too large: at most %d bytes are read", s.name, name, wal.MaxFile)
	}
	data := make([]byte, 0, size)
	err = s.query(func(r *sql.Rows) error {
		var place int64
		var part sql.RawBytes
		if err := r.Scan(&place, &part); err != nil {
			return err
		}
		if place != int64(len(data)) {
			return fmt.Errorf("%s: %s has a gap at byte %d", s.name, name, len(data))
		}
		if len(data)+len(part) > wal.MaxFile {
			return fmt.Errorf("%s: %s is too large: at most %d bytes are read", s.name, name, wal.MaxFile)
		}
		data = append(data, part...)
		return nil
	}, `SELECT place, data FROM flowgen_parts WHERE name = $1 ORDER BY place`, name)
	return data, err
}

// size is how many bytes a file has.
func (s *Store) size(name string) (size int64, err error) {
	var files int64
	err = s.query(func(r *sql.Rows) error { return r.Scan(&files, &size) },
		`SELECT (SELECT COUNT(*) FROM flowgen_files WHERE name = $1),
		COALESCE((SELECT place + LENGTH(data) FROM flowgen_parts WHERE name = $1 ORDER BY place DESC LIMIT 1), 0)`, name)
	if err == nil && files == 0 {
		err = &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist}
	}
	return size, err
}

// ReadRange implements wal.Ranger.
func (s *Store) ReadRange(name string, at, n int64) (data []byte, size int64, err error) {
	name = slashed(name)
	if size, err = s.size(name); err != nil || n <= 0 || at >= size {
		return nil, size, err
	}
	n = min(n, size-at)
	next := int64(-1) // where the next part begins
	err = s.query(func(r *sql.Rows) error {
		var place, length int64
		var part sql.RawBytes
		if err := r.Scan(&place, &length, &part); err != nil {
			return err
		}
		if next < 0 && place > at || next >= 0 && place != next {
			return fmt.Errorf("%s: %s has a gap before byte %d", s.name, name, place)
		}
		next = place + length
		data = append(data, part[:min(int64(len(part)), n-int64(len(data)))]...)
		return nil
	}, `SELECT place, LENGTH(data), SUBSTR(data, CAST(CASE WHEN place < $2 THEN $2 - place + 1 ELSE 1 END AS INTEGER), CAST($4 AS INTEGER))
		FROM flowgen_parts WHERE name = $1 AND place < $3
		AND place >= COALESCE((SELECT MAX(place) FROM flowgen_parts WHERE name = $1 AND place <= $2), 0) ORDER BY place`, name, at, at+n, n)
	return data, size, err
}

// ReadDir implements wal.Disk.
func (s *Store) ReadDir(dir string) ([]string, error) {
	prefix := under(dir)
	found := map[string]bool{}
	err := s.query(func(r *sql.Rows) error {
		var name string
		if err := r.Scan(&name); err != nil {
			return err
		}
		if child, _, ok := strings.Cut(name[len(prefix):], "/"); ok {
			found[child] = true
		}
		return nil
	}, `SELECT name FROM flowgen_files WHERE SUBSTR(name, 1, $1) = $2`, utf8.RuneCountInString(prefix), prefix)
	return slices.Sorted(maps.Keys(found)), err
}

// under is what the names of all files in a folder begin with.
func under(dir string) string {
	if dir = path.Clean(slashed(dir)); dir == "." {
		return ""
	}
	return dir + "/"
}

// RemoveAll implements wal.Disk.
func (s *Store) RemoveAll(dir string) error {
	prefix := under(dir)
	if prefix == "" {
		return errors.New("a store is not removed as a whole")
	}
	var err error
	for _, table := range []string{"flowgen_parts", "flowgen_files"} { // a crash in between leaves what can be removed again
		_, e := s.exec(context.Background(), `DELETE FROM `+table+` WHERE SUBSTR(name, 1, $1) = $2`, utf8.RuneCountInString(prefix), prefix)
		err = errors.Join(err, e)
	}
	return err
}

// Mkdir implements wal.Disk. Folders are there.
func (s *Store) Mkdir(string) error { return nil }

// SyncDir implements wal.Disk. Names are durable with what is in them.
func (s *Store) SyncDir(string) error { return nil }

// Lock implements wal.Disk: it takes a lease that is free, or has expired.
func (s *Store) Lock(name string) (unlock func() error, err error) {
	name = slashed(name)
	owner := rand.Text()
	if err := s.take(name, owner); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, s.failed(sql.ErrConnDone)
	}
	s.held[name] = owner
	if s.stop == nil {
		s.stop, s.gone = make(chan struct{}), make(chan struct{})
		go s.renew(s.stop, s.gone)
	}
	return func() error { return s.unlock(name, owner) }, nil
}

// take makes a lease the owner's. The error for a lease that somebody has says after which time others can have it.
func (s *Store) take(name, owner string) error {
	for tries := 1; ; tries++ {
		taken, err := s.exec(context.Background(), `INSERT INTO flowgen_leases (name, owner, until) VALUES ($1, $2, `+s.d.Clock+` + $3)
			ON CONFLICT (name) DO UPDATE SET owner = EXCLUDED.owner, until = EXCLUDED.until WHERE flowgen_leases.until <= `+s.d.Clock, name, owner, s.lease.Milliseconds())
		if err != nil || taken != 0 {
			return err
		}
		var left int64
		err = s.query(func(r *sql.Rows) error { return r.Scan(&left) }, `SELECT until - `+s.d.Clock+` FROM flowgen_leases WHERE name = $1`, name)
		switch {
		case err != nil:
			return err
		case left > 0:
			return fmt.Errorf("%w; if that process has died, the lease expires in %v", wal.ErrLocked, (time.Duration(left) * time.Millisecond).Round(100*time.Millisecond))
		case tries == 3:
			return wal.ErrLocked
		} // it has just expired, or was given back
	}
}

func (s *Store) unlock(name, owner string) error {
	s.mu.Lock()
	if s.held[name] == owner {
		delete(s.held, name)
	}
	var stop, gone chan struct{}
	if len(s.held) == 0 && s.stop != nil {
		stop, gone, s.stop = s.stop, s.gone, nil
	}
	s.mu.Unlock()
	if stop != nil {
		close(stop)
		<-gone
	}
	return s.release(name, owner)
}

func (s *Store) release(name, owner string) error {
	_, err := s.exec(context.Background(), `DELETE FROM flowgen_leases WHERE name = $1 AND owner = $2`, name, owner)
	return err
}

// renew keeps the leases until stop is closed. A lease that could not be renewed expires, and then the log's writes say so.
func (s *Store) renew(stop, gone chan struct{}) {
	defer close(gone)
	tick := time.NewTicker(s.lease / 3)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		s.mu.Lock()
		held := maps.Clone(s.held)
		s.mu.Unlock()
		for name, owner := range held {
			_, _ = s.exec(context.Background(), `UPDATE flowgen_leases SET until = `+s.d.Clock+` + $3 WHERE name = $1 AND owner = $2`, name, owner, s.lease.Milliseconds())
		}
	}
}

// ownerOf is the lease under which a file is written: its own, or that of the log in the folder above it, whose blobs it is one of.
func (s *Store) ownerOf(name string) (lease, owner string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if owner, ok := s.held[name]; ok {
		return name, owner, nil
	}
	for lease, owner := range s.held {
		if strings.HasPrefix(name, path.Dir(lease)+"/") {
			return lease, owner, nil
		}
	}
	return "", "", fmt.Errorf("%s: nobody has locked %s", s.name, name)
}
