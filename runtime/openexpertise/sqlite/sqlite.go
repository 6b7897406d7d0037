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
		file, err := openexpertise.Place(uri)
		if err != nil {
			return value.Value{}, err
		}
		if file, err = filepath.Abs(file); err != nil {
			return value.Value{}, value.Errorf(value.Unknown, "dataset %s cannot be read: %v", uri, err)
		}
		db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: filepath.ToSlash(file), RawQuery: "mode=ro&_pragma=busy_timeout(5000)&_pragma=query_only(1)"}).String())
		if err != nil {
			return value.Value{}, value.Errorf(value.ValidationError, "dataset %s cannot be read: %v", uri, err)
		}
		defer db.Close()
		v, err := rows(ctx, db, query)
		if err != nil {
			if ctx.Err() != nil {
				return v, err
			}
			return v, value.Errorf(value.ValidationError, "dataset %s: %v", uri, err)
		}
		return v, nil
	}, tool.Cancellable(), flow.MaxOutput(-1))
}

func rows(ctx context.Context, db *sql.DB, query string) (value.Value, error) {
	found, err := db.QueryContext(ctx, query)
	if err != nil {
		return value.Value{}, err
	}
	defer found.Close()
	columns, err := found.Columns()
	if err != nil {
		return value.Value{}, err
	}
	var items []value.Value
	cells, places := make([]any, len(columns)), make([]any, len(columns))
	for i := range cells {
		places[i] = &cells[i]
	}
	size := 0
	for found.Next() {
		if err := found.Scan(places...); err != nil {
			return value.Value{}, err
		}
		entries := make([]value.Entry, len(columns))
		for i, column := range columns {
			v, n := cell(cells[i])
			size += n + len(column)
			entries[i] = value.Entry{Key: column, Value: v}
		}
		if items = append(items, value.Map(entries...)); len(items) > maxRows || size > maxBytes {
			return value.Value{}, value.Errorf(value.PolicyDenied, "the query returns more than %d rows, or more than %d MiB", maxRows, maxBytes>>20)
		}
	}
	return value.List(items...), found.Err()
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
