// Package postgres makes tools of statements for PostgreSQL. See package sqltool.
package postgres

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/sqltool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Bind makes a tool of a statement, whose parameters are written $1, $2. The address is postgres://user@host/shop; the usual variables
// (PGPASSWORD, ...) complete it. A call is a transaction, for which it has a connection of the program's pool for the address: at most 10,
// closed after 30 seconds without a call. One with effects flow.Reads cannot write. A pooler in front of the server may hand out
// connections by transaction.
func Bind[In, Out any](name string, e flow.Effects, s sqltool.Statement, args func(In) sqltool.Args, o ...flow.ToolOption) *flow.Tool[In, Out] {
	return sqltool.Bind[In, Out](engine{}, name, e, s, args, o...)
}

type engine struct{}

func (engine) Open(ctx context.Context, address string, e flow.Effects) (sqltool.Conn, error) {
	p, err := pools.take(address)
	if err != nil {
		return nil, err
	}
	tx, err := p.BeginTx(ctx, &sql.TxOptions{ReadOnly: e <= flow.Reads})
	if err != nil {
		pools.give(p)
		return nil, engine{}.Failed(err)
	}
	return &transaction{tx, p}, nil
}

func (engine) Bound(v any) any { return v }

func (engine) Column(v any, declared string) any {
	switch n := v.(type) {
	case string:
		if declared == "JSON" || declared == "JSONB" {
			return json.RawMessage(n)
		}
	case []byte:
		switch {
		case declared == "JSON" || declared == "JSONB":
			return json.RawMessage(n)
		case declared != "BYTEA":
			return string(n)
		}
	case time.Time:
		if declared == "DATE" {
			return n.Format(time.DateOnly)
		}
	}
	return v
}

func (engine) Failed(err error) *value.ToolError {
	var failed *pgconn.PgError
	var connect *pgconn.ConnectError
	code, text := value.ProviderError, "the statement failed"
	switch {
	case errors.As(err, &failed) && len(failed.Code) == 5:
		text = failed.Message
		switch failed.Code[:2] {
		case "22", "23": // data, constraints
			code = value.ValidationError
		case "28": // authorization
			code = value.AuthRequired
		case "25": // a write where only reads are allowed
			code = value.PolicyDenied
		case "08", "53", "57": // connections, resources, shutdown
			code = value.NetworkError
		}
	case errors.As(err, &connect): // its text has host and user
		code, text = value.NetworkError, "the database cannot be reached"
	case pgconn.SafeToRetry(err) || pgconn.Timeout(err):
		code, text = value.NetworkError, "the connection to the database failed"
	}
	return value.Errorf(code, "%s", text).From(err)
}
