// Package sqlite makes tools of the sqlite sources of OpenExpertise datasets. It is the only importer of the database.
package sqlite

import (
	"context"
	"database/sql"
	"net/url"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/openexpertise"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// The bounds of what a query returns.
const (
	maxRows  = 1_000_000
	maxBytes = 64 << 20
)

// Rows makes a tool of a query over a file, which is only read. Each row is a map from the names of the columns: numbers,
// text and null as they are, and bytes as Node's Buffer says itself in JSON. A relative name is looked for as
// openexpertise.File does.
func Rows(name, uri, query string) *flow.Tool[struct{}, value.Value] {
	return flow.Bind(name, flow.Reads, func(ctx context.Context, _ struct{}) (value.Value, error) {
		list, err := Records(ctx, Query{URI: uri, Query: query})
		if err != nil {
			return value.Value{}, err
		}
		return value.List(list...), nil
	}, tool.Cancellable(), flow.MaxOutput(-1))
}

// A Query is asked of the file of a database.
type Query struct {
	URI   string `json:"uri"`
	Query string `json:"query"`
}

// Records asks a file as Rows does, for the native language, in which it is a tool like any other:
// `go: github.com/flowgen-dev/flowgen/runtime/openexpertise/sqlite.Records`.
func Records(ctx context.Context, in Query) ([]value.Value, error) {
	file, err := openexpertise.Place(in.URI)
	if err != nil {
		return nil, err
	}
	if file, err = filepath.Abs(file); err != nil {
		return nil, value.Errorf(value.Unknown, "dataset %s cannot be read: %v", in.URI, err)
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: filepath.ToSlash(file), RawQuery: "mode=ro&_pragma=busy_timeout(5000)&_pragma=query_only(1)"}).String())
	if err != nil {
		return nil, value.Errorf(value.ValidationError, "dataset %s cannot be read: %v", in.URI, err)
	}
	defer db.Close()
	list, err := rows(ctx, db, in.Query)
	if err != nil && ctx.Err() == nil {
		err = value.Errorf(value.ValidationError, "dataset %s: %v", in.URI, err)
	}
	return list, err
}

func rows(ctx context.Context, db *sql.DB, query string) ([]value.Value, error) {
	found, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	columns, err := found.Columns()
	if err != nil {
		return nil, err
	}
	var items []value.Value
	cells, places := make([]any, len(columns)), make([]any, len(columns))
	for i := range cells {
		places[i] = &cells[i]
	}
	size := 0
	for found.Next() {
		if err := found.Scan(places...); err != nil {
			return nil, err
		}
		entries := make([]value.Entry, len(columns))
		for i, column := range columns {
			v, n := cell(cells[i])
			size += n + len(column)
			entries[i] = value.Entry{Key: column, Value: v}
		}
		if items = append(items, value.Map(entries...)); len(items) > maxRows || size > maxBytes {
			return nil, value.Errorf(value.PolicyDenied, "the query returns more than %d rows, or more than %d MiB", maxRows, maxBytes>>20)
		}
	}
	return items, found.Err()
}

// cell is a value of the database, and about how large it is.
func cell(v any) (value.Value, int) {
	switch v := v.(type) {
	case int64:
		return value.Int(v), 8
	case float64:
		return value.Float(v), 8
	case bool:
		return value.Bool(v), 8
	case string:
		return value.String(v), len(v)
	case []byte:
		data := make([]value.Value, len(v))
		for i, b := range v {
			data[i] = value.Int(int64(b))
		}
		return value.Map(value.Entry{Key: "type", Value: value.String("Buffer")}, value.Entry{Key: "data", Value: value.List(data...)}), 32 * len(v)
	}
	return value.Null(), 8
}
