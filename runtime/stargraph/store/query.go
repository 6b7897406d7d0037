package store

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/stargraph/std"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// maxRows is how many rows a query returns at most.
const maxRows = 10_000

// Query asks a database of SQLite in the folder that tools see, which is only read: {columns, rows, row_count, truncated}, each
// row a map from the names of the columns. Other engines are POLICY_DENIED. std.sql_query@1.
func Query(ctx context.Context, database, query string, params []value.Value, engine string, limit int64) (value.Value, error) {
	if engine != "sqlite" {
		return value.Value{}, value.Errorf(value.PolicyDenied, "the engine %q is not asked: only sqlite is", engine)
	}
	file, err := std.Place(database)
	if err != nil {
		return value.Value{}, err
	}
	if st, err := os.Stat(file); err != nil || !st.Mode().IsRegular() {
		return value.Value{}, value.Errorf(value.ValidationError, "the database %q does not exist", database)
	}
	args := make([]any, len(params))
	for i, v := range params {
		switch v.Kind() {
		case value.NullKind:
		case value.StringKind:
			args[i] = v.String()
		case value.IntKind:
			args[i] = v.Int()
		case value.FloatKind:
			args[i] = v.Float()
		case value.BoolKind:
			args[i] = v.Bool()
		default:
			return value.Value{}, value.Errorf(value.ValidationError, "parameter %d of the query is not a scalar", i+1)
		}
	}
	out, err := rows(ctx, file, query, args, max(1, min(limit, maxRows)))
	if err != nil && ctx.Err() == nil {
		err = value.Errorf(value.ValidationError, "the query fails: %v", err)
	}
	return out, err
}

func rows(ctx context.Context, file, query string, args []any, limit int64) (value.Value, error) {
	db, err := open(file)
	if err != nil {
		return value.Value{}, err
	}
	defer func() { _ = db.Close() }()
	found, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return value.Value{}, err
	}
	defer func() { _ = found.Close() }()
	columns, err := found.Columns()
	if err != nil {
		return value.Value{}, err
	}
	cells, places := make([]any, len(columns)), make([]any, len(columns))
	for i := range cells {
		places[i] = &cells[i]
	}
	var list, names []value.Value
	for _, c := range columns {
		names = append(names, value.String(c))
	}
	truncated := false
	for found.Next() {
		if truncated = int64(len(list)) >= limit; truncated {
			break
		}
		if err := found.Scan(places...); err != nil {
			return value.Value{}, err
		}
		row := make([]value.Entry, len(columns))
		for i, c := range columns {
			row[i] = value.Entry{Key: c, Value: cell(cells[i])}
		}
		list = append(list, value.Map(row...))
	}
	return value.Map(value.Entry{Key: "columns", Value: value.List(names...)}, value.Entry{Key: "rows", Value: value.List(list...)},
		value.Entry{Key: "row_count", Value: value.Int(int64(len(list)))}, value.Entry{Key: "truncated", Value: value.Bool(truncated)}), found.Err()
}

// cell is a value of a column. What JSON does not have is text.
func cell(v any) value.Value {
	switch v := v.(type) {
	case nil:
		return value.Value{}
	case bool:
		return value.Bool(v)
	case int64:
		return value.Int(v)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return value.String(strings.ToLower(fmt.Sprint(v)))
		}
		return value.Float(v)
	case string:
		return value.String(strings.ToValidUTF8(v, "\uFFFD"))
	case []byte:
		return value.String(strings.ToValidUTF8(string(v), "\uFFFD"))
	}
	return value.String(fmt.Sprint(v))
}
