// Package sqlite makes tools of statements for files of SQLite. See package sqltool.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/sqltool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Bind makes a tool of a statement, whose parameters are written ?1, ?2. The address is sqlite:///var/lib/shop.db, or sqlite://shop.db for
// a file in the working directory. The file must be there. A statement with effects flow.Reads cannot change it.
func Bind[In, Out any](name string, e flow.Effects, s sqltool.Statement, args func(In) sqltool.Args, o ...flow.ToolOption) *flow.Tool[In, Out] {
	return sqltool.Bind[In, Out](engine{}, name, e, s, args, o...)
}

type engine struct{}

func (engine) Open(_ context.Context, address string, e flow.Effects) (sqltool.Conn, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "sqlite" || u.Host+u.Path == "" || u.User != nil || u.Fragment != "" || u.RawQuery != "" {
		return nil, value.Errorf(value.AuthRequired, "the address of the database cannot be read: write sqlite:///var/lib/shop.db") // err holds the address
	}
	name, err := filepath.Abs(filepath.FromSlash(u.Host + u.Path))
	if err != nil {
		return nil, value.Errorf(value.Unknown, "the working directory is not known").From(err)
	}
	q := "mode=ro&_pragma=query_only(1)"
	if e > flow.Reads {
		q = "mode=rw&_txlock=immediate&_pragma=foreign_keys(1)"
	}
	at := url.URL{Scheme: "file", Path: filepath.ToSlash(name), RawQuery: q + "&_pragma=busy_timeout(20000)"}
	db, err := sql.Open("sqlite", at.String())
	if err != nil {
		return nil, value.Errorf(value.NetworkError, "the database cannot be opened").From(err)
	}
	db.SetMaxOpenConns(1)
	return conn{db}, nil
}

// conn is a connection for one statement, which the engine commits.
type conn struct{ *sql.DB }

// End implements sqltool.Conn.
func (c conn) End(bool) error { return c.Close() }

// timeForm is how SQLite's own functions write a time.
const timeForm = "2006-01-02 15:04:05.999"

func (engine) Bound(v any) any {
	if t, ok := v.(time.Time); ok {
		return t.UTC().Format(timeForm)
	}
	return v
}

func (engine) Column(v any, declared string) any {
	switch n := v.(type) {
	case int64:
		if strings.HasPrefix(declared, "BOOL") && (n == 0 || n == 1) { // the driver knows BOOLEAN only
			return n == 1
		}
	case time.Time:
		if declared == "DATE" {
			return n.Format(time.DateOnly)
		}
	case []byte:
		if n == nil { // an empty blob
			return []byte{}
		}
	}
	return v
}

// The primary result codes of SQLite that say more than that something is wrong.
const (
	busy, locked, readonly, cannotOpen, constraint, mismatch, unauthorized, noDatabase = 5, 6, 8, 14, 19, 20, 23, 26
)

func (engine) Failed(err error) *value.ToolError {
	code, text := value.ProviderError, err.Error()
	var e *sqlite.Error
	if errors.As(err, &e) {
		switch e.Code() & 0xff {
		case busy, locked:
			text = "the database is locked by another program"
		case readonly:
			code = value.PolicyDenied
		case cannotOpen:
			code, text = value.NetworkError, "the file of the database cannot be opened: it is not there, or not readable"
		case constraint, mismatch:
			code = value.ValidationError
		case unauthorized:
			code = value.AuthRequired
		case noDatabase:
			text = "the file is not an SQLite database"
		}
	}
	return value.Errorf(code, "%s", text).From(err)
}
