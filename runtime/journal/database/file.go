package database

import (
	"context"
	"database/sql"
	"errors"
	"sync"

	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
)

// maxWaiting is how many bytes wait to be written before a write waits for them.
const maxWaiting = 1 << 20

// file is a log that is open for appending. What is written goes to the database as soon as what was written before is there, and
// when it is synced: lines that are written together are one part.
type file struct {
	store        *Store
	name         string
	lease, owner string
	kick         chan struct{} // something waits
	done         chan struct{} // closed when the writer has ended

	mu      sync.Mutex // guards the following
	waiting []byte
	broken  error

	writing sync.Mutex // held by who writes a part; taken before mu
	size    int64      // of what is in the database; guarded by writing
	closed  bool       // guarded by mu
}

// Append implements wal.Disk.
func (s *Store) Append(name string) (wal.File, error) {
	name = slashed(name)
	lease, owner, err := s.ownerOf(name)
	if err != nil {
		return nil, err
	}
	f := &file{store: s, name: name, lease: lease, owner: owner, kick: make(chan struct{}, 1), done: make(chan struct{})}
	made, err := s.exec(context.Background(), `INSERT INTO flowgen_files (name) SELECT CAST($1 AS TEXT) FROM flowgen_leases WHERE name = $2 AND owner = $3 ON CONFLICT (name) DO NOTHING`,
		name, lease, owner)
	if err != nil {
		return nil, err
	}
	if made == 0 { // it is there, or the lease is lost: the first part says
		err = s.query(func(r *sql.Rows) error { return r.Scan(&f.size) }, `SELECT COALESCE(MAX(place + LENGTH(data)), 0) FROM flowgen_parts WHERE name = $1`, name)
		if err != nil {
			return nil, err
		}
	}
	go f.write()
	return f, nil
}

// Write implements wal.File: it returns at once, unless much waits.
func (f *file) Write(p []byte) (int, error) {
	f.mu.Lock()
	if f.broken != nil || f.closed {
		defer f.mu.Unlock()
		return 0, errors.Join(f.broken, closedError(f.closed))
	}
	f.waiting = append(f.waiting, p...)
	much := len(f.waiting) > maxWaiting
	select {
	case f.kick <- struct{}{}:
	default: // the writer will look
	}
	f.mu.Unlock()
	if much {
		return len(p), f.Sync()
	}
	return len(p), nil
}

func closedError(closed bool) error {
	if closed {
		return errors.New("the log is closed")
	}
	return nil
}

// write writes what waits until the file is closed.
func (f *file) write() {
	defer close(f.done)
	for range f.kick {
		_ = f.Sync() // its error is that of the next Write, too
	}
}

// Sync implements wal.File: what was written before is in the database when it returns.
func (f *file) Sync() error {
	f.writing.Lock()
	defer f.writing.Unlock()
	f.mu.Lock()
	part, err := f.waiting, f.broken
	f.waiting = nil
	f.mu.Unlock()
	if err != nil || len(part) == 0 {
		return err
	}
	written, err := f.store.exec(context.Background(), `INSERT INTO flowgen_parts (name, place, data) SELECT CAST($1 AS TEXT), CAST($2 AS BIGINT), CAST($3 AS `+f.store.d.Bytes+`)
		FROM flowgen_leases WHERE name = $4 AND owner = $5`+f.store.d.Lock, f.name, f.size, part, f.lease, f.owner)
	if err == nil && written == 0 {
		err = ErrLost
	}
	if err == nil && f.store.there != nil {
		err = f.store.there()
	}
	if err != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.broken = err
		return err
	}
	f.size += int64(len(part))
	return nil
}

// Truncate implements wal.File.
func (f *file) Truncate(size int64) error {
	if err := f.Sync(); err != nil {
		return err
	}
	f.writing.Lock()
	defer f.writing.Unlock()
	var place int64
	var part []byte
	err := f.store.query(func(r *sql.Rows) error { return r.Scan(&place, &part) },
		`SELECT place, data FROM flowgen_parts WHERE name = $1 AND place < $2 AND place + LENGTH(data) > $2`, f.name, size)
	if err != nil {
		return err
	}
	held := ` AND EXISTS (SELECT 1 FROM flowgen_leases WHERE name = $3 AND owner = $4)`
	if part != nil { // it is cut: the rest goes with what follows
		if _, err := f.store.exec(context.Background(), `UPDATE flowgen_parts SET data = $5 WHERE name = $1 AND place = $2`+held, f.name, place, f.lease, f.owner, part[:size-place]); err != nil {
			return err
		}
	}
	if _, err := f.store.exec(context.Background(), `DELETE FROM flowgen_parts WHERE name = $1 AND place >= $2`+held, f.name, size, f.lease, f.owner); err != nil {
		return err
	}
	f.size = size
	return nil
}

// Close implements wal.File: what waits is written first.
func (f *file) Close() error {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return closedError(true)
	}
	f.closed = true
	close(f.kick)
	f.mu.Unlock()
	<-f.done
	return f.Sync()
}
