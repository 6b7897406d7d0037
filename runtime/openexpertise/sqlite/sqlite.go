// Package sqlite makes tools of the sqlite sources of OpenExpertise datasets. It is the only importer of the database.
package sqlite

import (
	"context"
	"database/sql"
	"net/url"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/openexpertise"
)

// The bounds of what a query gives.
const (
	maxRows  = 1_000_000
	maxBytes = 64 << 20
)

// Rows makes a tool of a query over a file, which is only read. Each row is a map from the names of the columns: numbers,
// text and null as they are, and bytes as Node's Buffer says itself in JSON. A relative name is looked for as
// openexpertise.File does.
func Rows(name, uri, query string) *runtime.Tool[struct{}, runtime.Value] {
	return runtime.Bind(name, runtime.Reads, func(ctx context.Context, _ struct{}) (runtime.Value, error) {
		file, err := openexpertise.Place(uri)
		if err != nil {
			return runtime.Value{}, err
		}
		if file, err = filepath.Abs(file); err != nil {
			return runtime.Value{}, runtime.Errorf(runtime.Unknown, "dataset %s cannot be read: %v", uri, err)
		}
		db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: filepath.ToSlash(file), RawQuery: "mode=ro&_pragma=busy_timeout(5000)&_pragma=query_only(1)"}).String())
		if err != nil {
			return runtime.Value{}, runtime.Errorf(runtime.ValidationError, "dataset %s cannot be read: %v", uri, err)
		}
		defer db.Close()
		v, err := rows(ctx, db, query)
		if err != nil {
			if ctx.Err() != nil {
				return v, err
			}
			return v, runtime.Errorf(runtime.ValidationError, "dataset %s: %v", uri, err)
		}
		return v, nil
	})
}

func rows(ctx context.Context, db *sql.DB, query string) (runtime.Value, error) {
	found, err := db.QueryContext(ctx, query)
	if err != nil {
		return runtime.Value{}, err
	}
	defer found.Close()
	columns, err := found.Columns()
	if err != nil {
		return runtime.Value{}, err
	}
	var items []runtime.Value
	cells, places := make([]any, len(columns)), make([]any, len(columns))
	for i := range cells {
		places[i] = &cells[i]
	}
	size := 0
	for found.Next() {
		if err := found.Scan(places...); err != nil {
			return runtime.Value{}, err
		}
		entries := make([]runtime.Entry, len(columns))
		for i, column := range columns {
			v, n := cell(cells[i])
			size += n + len(column)
			entries[i] = runtime.Entry{Key: column, Value: v}
		}
		if items = append(items, runtime.MapValue(entries...)); len(items) > maxRows || size > maxBytes {
			return runtime.Value{}, runtime.Errorf(runtime.PolicyDenied, "the query gives more than %d rows, or more than %d MiB", maxRows, maxBytes>>20)
		}
	}
	return runtime.ListValue(items...), found.Err()
}

// cell is a value of the database, and about how large it is.
func cell(v any) (runtime.Value, int) {
	switch v := v.(type) {
	case int64:
		return runtime.IntValue(v), 8
	case float64:
		return runtime.FloatValue(v), 8
	case bool:
		return runtime.BoolValue(v), 8
	case string:
		return runtime.StringValue(v), len(v)
	case []byte:
		data := make([]runtime.Value, len(v))
		for i, b := range v {
			data[i] = runtime.IntValue(int64(b))
		}
		return runtime.MapValue(runtime.Entry{Key: "type", Value: runtime.StringValue("Buffer")}, runtime.Entry{Key: "data", Value: runtime.ListValue(data...)}), 32 * len(v)
	}
	return runtime.Null(), 8
}
