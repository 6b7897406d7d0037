// Package sqltool binds SQL statements as tools. Packages below it bring the engines, and generated code calls their Bind:
//
//	var orders = sqlite.Bind[OrdersIn, []Order]("shop.orders@1", flow.Reads, sqltool.Statement{
//		Database: "ORDERS", Text: "SELECT id, total FROM orders WHERE customer = ?1",
//	}, func(in OrdersIn) sqltool.Args { return sqltool.Args{in.Customer} })
//
// The address of the database is a secret. Values of the input are bound to parameters, and never become a part of the text. A statement is a
// transaction of its own.
//
// # Errors
//
//   - VALIDATION_ERROR: a row that does not fit the declared type; text that is not UTF-8; a row too many for One; a constraint of the
//     database that the input violates
//   - POLICY_DENIED: more rows or bytes than allowed
//   - NETWORK_ERROR: the database cannot be reached
//   - PROVIDER_ERROR: any other error of the database
//   - AUTH_REQUIRED: the address is missing or not accepted
//   - TIMEOUT: the context's deadline passed
//
// Cancellation comes back as the context's error, not as a tool error.
package sqltool

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

const (
	// DefaultMaxRows bounds the rows where Statement.MaxRows does not.
	DefaultMaxRows = 1000

	// DefaultMaxOutput bounds the result's JSON where Statement.MaxOutput does not: 2 MiB.
	DefaultMaxOutput = 2 << 20
)

// Rows is what a statement returns.
type Rows uint8

// Many is a list of rows. One is a row, or null when there is none; a second row is an error. None is {affected}, the number of rows
// that were changed.
const (
	Many Rows = iota
	One
	None
)

// A Statement is what the tool runs.
type Statement struct {
	Database  string // the secret that holds the address
	Text      string // with the parameters of the engine
	Rows      Rows
	MaxRows   int // 0: DefaultMaxRows
	MaxOutput int // bytes of JSON; 0: DefaultMaxOutput
}

// Args are the values of the parameters, in their order: text, numbers, bools, times, and pointers to them, of which nil is NULL.
type Args []any

// An Engine opens databases. Its methods are safe for concurrent use.
type Engine interface {
	// Open returns what runs the statement of one call, which the caller ends. Errors are *value.ToolError and do not show the address.
	Open(ctx context.Context, address string, e flow.Effects) (Conn, error)
	// Bound is a value as the engine takes it: of string, int64, float64, bool or time.Time.
	Bound(v any) any
	// Column is a value of a column as JSON has it; declared is the type of the column in the words of the engine.
	Column(v any, declared string) any
	// Failed is the error of a statement.
	Failed(err error) *value.ToolError
}

// A Conn runs one statement.
type Conn interface {
	ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
	// End ends the call. What the statement did is kept when done is true and there is no error.
	End(done bool) error
}

// Bind makes a tool of a statement. args are the values of its parameters; nil: it has none. Rows are objects by the names of their
// columns, and are decoded into Out as strictly as value.Decode does. The tool is safe for concurrent use.
func Bind[In, Out any](engine Engine, name string, e flow.Effects, s Statement, args func(In) Args, o ...flow.ToolOption) *flow.Tool[In, Out] {
	if s.MaxRows <= 0 {
		s.MaxRows = DefaultMaxRows
	}
	if s.MaxOutput <= 0 {
		s.MaxOutput = DefaultMaxOutput
	}
	return flow.Bind(name, e, func(ctx context.Context, in In) (out Out, err error) {
		var bound Args
		if args != nil {
			bound = args(in)
		}
		for i, v := range bound {
			bound[i] = engine.Bound(plain(v))
		}
		data, err := call(ctx, engine, e, &s, bound, tool.Room[Out](ctx, s.MaxOutput))
		if err != nil {
			return out, err
		}
		return out, tool.Cut(ctx, data, s.MaxOutput, &out)
	}, append([]flow.ToolOption{flow.MaxOutput(-1), flow.Secrets(s.Database), tool.Cancellable()}, o...)...)
}

// call runs a statement and returns its result as JSON.
func call(ctx context.Context, engine Engine, e flow.Effects, s *Statement, bound Args, room int) (data []byte, err error) {
	address, _ := tool.Secret(ctx, s.Database)
	db, err := engine.Open(ctx, address, e)
	if err != nil {
		return nil, stopped(ctx, err)
	}
	defer func() {
		if ended := db.End(err == nil); ended != nil && err == nil {
			data, err = nil, failed(ctx, engine, ended)
		}
	}()
	if s.Rows == None {
		result, err := db.ExecContext(ctx, s.Text, bound...)
		if err != nil {
			return nil, failed(ctx, engine, err)
		}
		n, err := result.RowsAffected()
		if err != nil {
			return nil, failed(ctx, engine, err)
		}
		return fmt.Appendf(nil, `{"affected":%d}`, n), nil
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	rows, err := db.QueryContext(running, s.Text, bound...)
	if err != nil {
		return nil, failed(ctx, engine, err)
	}
	data, err = read(ctx, engine, s, rows, room)
	if err != nil {
		stop() // else Close reads what is left, which may be without end
	}
	if closed := rows.Close(); err == nil && closed != nil {
		err = failed(ctx, engine, closed)
	}
	return data, err
}

// read writes rows as JSON, and stops at the bounds.
func read(ctx context.Context, engine Engine, s *Statement, rows *sql.Rows, room int) ([]byte, error) {
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, failed(ctx, engine, err)
	}
	names := make([][]byte, len(types))
	values, into := make([]any, len(types)), make([]any, len(types))
	for i, t := range types {
		names[i], _ = json.Marshal(t.Name()) // a string always has one
		into[i] = &values[i]
	}
	var out bytes.Buffer
	most := s.MaxRows
	if s.Rows == Many {
		out.WriteByte('[')
	} else {
		most = 1
	}
	n := 0
	for ; rows.Next(); n++ {
		switch {
		case n == most && s.Rows == One:
			return nil, value.Invalid("the statement returns more than one row: narrow it, or declare `rows: many`")
		case n == most:
			return nil, value.Errorf(value.PolicyDenied, "the statement returns more than %d rows: add a LIMIT, or raise max_rows", most)
		}
		if err := rows.Scan(into...); err != nil {
			return nil, failed(ctx, engine, err)
		}
		if n > 0 {
			out.WriteByte(',')
		}
		for i, v := range values {
			out.WriteByte("{,"[min(i, 1)])
			out.Write(names[i])
			out.WriteByte(':')
			text, err := column(engine.Column(v, types[i].DatabaseTypeName()))
			if err != nil {
				return nil, value.Invalid("column %s of row %d: %v", types[i].Name(), n+1, err)
			}
			out.Write(text)
		}
		out.WriteByte('}')
		if out.Len() > room {
			return nil, value.Errorf(value.PolicyDenied, "the rows have more than %d bytes: add a LIMIT, return fewer columns, or raise max_output", s.MaxOutput)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, failed(ctx, engine, err)
	}
	switch {
	case s.Rows == Many:
		out.WriteByte(']')
	case n == 0:
		out.WriteString("null")
	}
	return out.Bytes(), nil
}

// column is the JSON of a value.
func column(v any) ([]byte, error) {
	switch v := v.(type) {
	case string:
		if !utf8.ValidString(v) {
			return nil, errors.New("it is not text in UTF-8")
		}
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%v is not a JSON number", v)
		}
	case []byte:
		return nil, fmt.Errorf("it is binary (%d bytes): return it as text", len(v))
	}
	return json.Marshal(v)
}

// plain is a value of the input without pointers and names of types, nil for one that is absent.
func plain(v any) any {
	switch v := v.(type) {
	case nil, string, int64, float64, bool, time.Time:
		return v
	case *string:
		return deref(v)
	case *int64:
		return deref(v)
	case *float64:
		return deref(v)
	case *bool:
		return deref(v)
	case *time.Time:
		return deref(v)
	}
	return reflected(v)
}

func deref[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

// failed is the error of a statement that runs under ctx.
func failed(ctx context.Context, engine Engine, err error) error {
	if ctx.Err() != nil {
		return stopped(ctx, err)
	}
	return engine.Failed(err)
}

// stopped is the reason why ctx ended, and err when it did not.
func stopped(ctx context.Context, err error) error {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return value.Errorf(value.Timeout, "the statement took too long")
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return err
}
