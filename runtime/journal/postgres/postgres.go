// Package postgres keeps the journals of runs in PostgreSQL, so that the replicas of a service share them:
//
//	store, err := postgres.Open(ctx, "postgres://triage@db/triage")
//	folder := runs.Open("", runs.Options{Disk: store})
//	w, err := triage.New(runtime.WithEngines(folder.Record))
//
// Package database says what a replica may do that is paused or dies. A program that links this package takes such URLs in --runs
// and FLOWGEN_RUNS.
package postgres

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/flowgen-dev/flowgen/runtime/journal/database"
	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
	"github.com/flowgen-dev/flowgen/runtime/stores"
)

func init() {
	for _, scheme := range []string{"postgres", "postgresql"} {
		stores.Runs.Register(scheme, func(address string) (wal.Disk, func() error, error) {
			s, err := Open(context.Background(), address)
			if err != nil {
				return nil, nil, err
			}
			return s, s.Close, nil
		})
	}
}

var dialect = database.Dialect{
	Bytes: "BYTEA",
	Clock: "CAST(EXTRACT(EPOCH FROM CLOCK_TIMESTAMP()) * 1000 AS BIGINT)",
	Lock:  " FOR SHARE",

	Unusable: unusable,
}

// unusable reads the codes of the server, see appendix A of its manual, and the failures of connections.
func unusable(err error) error {
	var said *pgconn.PgError
	var connecting *pgconn.ConnectError
	var network net.Error
	switch {
	case errors.As(err, &said):
		switch {
		case strings.HasPrefix(said.Code, "53"): // disk_full and other resources
			return wal.ErrFull
		case said.Code == "25006", said.Code == "42501": // read_only_sql_transaction, insufficient_privilege
			return wal.ErrReadOnly
		case strings.HasPrefix(said.Code, "08"), strings.HasPrefix(said.Code, "57P"), strings.HasPrefix(said.Code, "58"): // connections, shutdown, its disk
			return wal.ErrGone
		}
		return nil
	case errors.As(err, &connecting), errors.As(err, &network), pgconn.Timeout(err), pgconn.SafeToRetry(err),
		errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, driver.ErrBadConn):
		return wal.ErrGone
	}
	return nil
}

// connections is how many are open at once: one process seldom needs more, and a server has a hundred for all.
const connections = 8

// Open connects to a database, by a URL or a connection string of libpq, and makes the tables where they are missing. The usual
// variables (PGHOST, PGPASSWORD, ...) and the file of passwords complete it. The parameter lease of a URL, such as 30s, is
// database.Options.Lease. Errors and messages do not show the password.
func Open(ctx context.Context, address string) (*database.Store, error) {
	o := database.Options{}
	if u, err := url.Parse(address); err == nil && u.Scheme != "" {
		q := u.Query()
		if q.Has("lease") {
			if o.Lease, err = time.ParseDuration(q.Get("lease")); err != nil || o.Lease < time.Second {
				return nil, errors.New("the lease in the URL of the database is a duration of at least a second, such as 15s")
			}
			q.Del("lease")
			u.RawQuery = strings.ReplaceAll(q.Encode(), "+", "%20") // libpq and pgx take a plus as it is
			address = u.String()
		}
	}
	c, err := pgx.ParseConfig(address)
	if err != nil { // its text can hold the password
		return nil, errors.New("the URL of the database cannot be read: write postgres://user@host:5432/database, and the password into PGPASSWORD or ~/.pgpass")
	}
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = 10 * time.Second
	}
	o.Name = (&url.URL{Scheme: "postgres", User: url.User(c.User), Host: c.Host, Path: "/" + c.Database}).Redacted()
	db := stdlib.OpenDB(*c)
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	s, err := database.Open(ctx, db, dialect, o)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}
