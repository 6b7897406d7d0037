package store

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/stargraph/std"
)

// maxRows is how many rows a query gives at most.
const maxRows = 10_000

// Query asks a database of SQLite in the folder that tools see, which is only read: {columns, rows, row_count, truncated}, each
// row a map from the names of the columns. Other engines are POLICY_DENIED. std.sql_query@1.
func Query(ctx context.Context, database, query string, params []runtime.Value, engine string, limit int64) (runtime.Value, error) {
	if engine != "sqlite" {
		return runtime.Value{}, runtime.Errorf(runtime.PolicyDenied, "the engine %q is not asked: only sqlite is", engine)
	}
	file, err := std.Place(database)
	if err != nil {
		return runtime.Value{}, err
	}
	if st, err := os.Stat(file); err != nil || !st.Mode().IsRegular() {
		return runtime.Value{}, runtime.Errorf(runtime.ValidationError, "the database %q does not exist", database)
	}
	args := make([]any, len(params))
	for i, v := range params {
		switch v.Kind() {
		case runtime.NullKind:
		case runtime.StringKind:
			args[i] = v.String()
		case runtime.IntKind:
			args[i] = v.Int()
		case runtime.FloatKind:
			args[i] = v.Float()
		case runtime.BoolKind:
			args[i] = v.Bool()
		default:
			return runtime.Value{}, runtime.Errorf(runtime.ValidationError, "the parameter %d of the query is no scalar", i+1)
		}
	}
	out, err := rows(ctx, file, query, args, max(1, min(limit, maxRows)))
	if err != nil && ctx.Err() == nil {
		err = runtime.Errorf(runtime.ValidationError, "the query fails: %v", err)
	}
	return out, err
}

func rows(ctx context.Context, file, query string, args []any, limit int64) (runtime.Value, error) {
	db, err := open(file)
	if err != nil {
		return runtime.Value{}, err
	}
	defer func() { _ = db.Close() }()
	found, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return runtime.Value{}, err
	}
	defer func() { _ = found.Close() }()
	columns, err := found.Columns()
	if err != nil {
		return runtime.Value{}, err
	}
	cells, places := make([]any, len(columns)), make([]any, len(columns))
	for i := range cells {
		places[i] = &cells[i]
	}
	var list, names []runtime.Value
	for _, c := range columns {
		names = append(names, runtime.StringValue(c))
	}
	truncated := false
	for found.Next() {
		if truncated = int64(len(list)) >= limit; truncated {
			break
		}
		if err := found.Scan(places...); err != nil {
			return runtime.Value{}, err
		}
		row := make([]runtime.Entry, len(columns))
		for i, c := range columns {
			row[i] = runtime.Entry{Key: c, Value: cell(cells[i])}
		}
		list = append(list, runtime.MapValue(row...))
	}
	return runtime.MapValue(runtime.Entry{Key: "columns", Value: runtime.ListValue(names...)}, runtime.Entry{Key: "rows", Value: runtime.ListValue(list...)},
		runtime.Entry{Key: "row_count", Value: runtime.IntValue(int64(len(list)))}, runtime.Entry{Key: "truncated", Value: runtime.BoolValue(truncated)}), found.Err()
}

// cell is a value of a column. What JSON does not have is text.
func cell(v any) runtime.Value {
	switch v := v.(type) {
	case nil:
		return runtime.Value{}
	case bool:
		return runtime.BoolValue(v)
	case int64:
		return runtime.IntValue(v)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return runtime.StringValue(strings.ToLower(fmt.Sprint(v)))
		}
		return runtime.FloatValue(v)
	case string:
		return runtime.StringValue(strings.ToValidUTF8(v, "\uFFFD"))
	case []byte:
		return runtime.StringValue(strings.ToValidUTF8(string(v), "\uFFFD"))
	}
	return runtime.StringValue(fmt.Sprint(v))
}
