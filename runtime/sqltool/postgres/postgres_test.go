//go:build unix

package postgres_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/internal/postgrestest"
	"github.com/flowgen-dev/flowgen/runtime/sqltool"
	"github.com/flowgen-dev/flowgen/runtime/sqltool/postgres"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

var node = &flow.Node{ID: "n", Pos: "f.yaml:1:1"}

func start(t *testing.T, address string) *flow.Run {
	t.Helper()
	rt, err := flow.New(&flow.Info{Name: "test"}, runtime.WithSecrets(func(string) (string, bool) { return address, true }))
	if err != nil {
		t.Fatal(err)
	}
	return rt.Start(t.Context())
}

type order struct {
	Customer *string
	Total    float64
	N        int64
	Paid     bool
	Made     time.Time
	ID       string
}

func query(e flow.Effects, s sqltool.Statement, args ...any) *flow.Tool[struct{}, value.Value] {
	s.Database = "DB"
	return postgres.Bind[struct{}, value.Value]("t.q@1", e, s, func(struct{}) sqltool.Args { return args })
}

func TestStatements(t *testing.T) {
	address := postgrestest.Start(t)
	c, err := pgx.Connect(t.Context(), address)
	if err == nil {
		_, err = c.Exec(t.Context(), "create table orders (customer text unique, total numeric(10, 2) not null, n int, paid bool, made timestamptz, day date default '2026-01-02', id uuid, extra jsonb default '{\"a\": [1]}', raw bytea default '\\x00')")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(t.Context()) }()
	run := start(t, address)

	text := "'; drop table orders; --"
	add := postgres.Bind[order, value.Value]("t.add@1", flow.Writes, sqltool.Statement{
		Database: "DB", Text: "insert into orders (customer, total, n, paid, made, id) values ($1, $2, $3, $4, $5, $6) returning customer, total, n, paid, made, day, id, extra", Rows: sqltool.One,
	}, func(in order) sqltool.Args {
		return sqltool.Args{in.Customer, in.Total, in.N, in.Paid, in.Made, in.ID}
	})
	in := order{Customer: &text, Total: 12.5, N: 7, Paid: true, Made: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), ID: "6ba7b810-9dad-11d1-80b4-00c04fd430c8"}
	got, err := flow.Call(run, node, add, in)
	if err != nil {
		t.Fatal(err)
	}
	have, _ := json.Marshal(got)
	var row map[string]any
	if err := json.Unmarshal(have, &row); err != nil {
		t.Fatal(err)
	}
	made, err := time.Parse(time.RFC3339, row["made"].(string))
	if row["customer"] != text || row["total"] != "12.50" || row["n"] != 7.0 || row["paid"] != true || err != nil || !made.Equal(in.Made) ||
		row["day"] != "2026-01-02" || row["id"] != in.ID || !strings.Contains(string(have), `"extra":{"a":[1]}`) {
		t.Errorf("%s", have)
	}

	in.Customer = nil
	if got, err = flow.Call(run, node, add, in); err != nil || !strings.Contains(got.String(), "null") {
		t.Errorf("%v %v", got, err)
	}
	for _, tt := range []struct {
		e    flow.Effects
		s    sqltool.Statement
		args []any
		want string
	}{
		{flow.Writes, sqltool.Statement{Text: "insert into orders (customer, total) values ($1, 1)", Rows: sqltool.None}, []any{text}, "VALIDATION_ERROR: duplicate key value"},
		{flow.Writes, sqltool.Statement{Text: "insert into orders (customer, total) values ($1, 1)", Rows: sqltool.None}, []any{"\x00"}, "VALIDATION_ERROR: "},
		{flow.Reads, sqltool.Statement{Text: "delete from orders", Rows: sqltool.None}, nil, "POLICY_DENIED: cannot execute DELETE in a read-only transaction"},
		{flow.Reads, sqltool.Statement{Text: "select totl from orders"}, nil, `PROVIDER_ERROR: column "totl" does not exist`},
		{flow.Reads, sqltool.Statement{Text: "select 1; delete from orders"}, nil, "PROVIDER_ERROR: cannot insert multiple commands"},
		{flow.Reads, sqltool.Statement{Text: "select generate_series(1, 100000000) as n", MaxRows: 10}, nil, "POLICY_DENIED: the statement returns more than 10 rows"},
		{flow.Reads, sqltool.Statement{Text: "select 'NaN'::float8 as x"}, nil, "VALIDATION_ERROR: column x of row 1: NaN is not a JSON number"},
		{flow.Reads, sqltool.Statement{Text: "select raw from orders"}, nil, "VALIDATION_ERROR: column raw of row 1: it is binary (1 bytes)"},
	} {
		_, err := flow.Call(run, node, query(tt.e, tt.s, tt.args...), struct{}{})
		if te := value.ToolErrorOf(err); te == nil || !strings.HasPrefix(te.Error(), tt.want) {
			t.Errorf("%s: %v", tt.s.Text, err)
		}
	}
	got, err = flow.Call(run, node, query(flow.Reads, sqltool.Statement{Text: "select count(*) as n from orders where customer like $1 or $1 = 'x'", Rows: sqltool.One}, "%drop%"), struct{}{})
	if have, _ := json.Marshal(got); err != nil || string(have) != `{"n":1}` {
		t.Errorf("%s, %v", have, err)
	}
}

// What cannot be reached says so, without the address.
func TestWrongAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"postgres://flowgen:hunter2-x@127.0.0.1:1/shop":    "NETWORK_ERROR: the database cannot be reached",
		"postgres://flowgen:hunter2-x@127.0.0.1:port/shop": "AUTH_REQUIRED: the address of the database cannot be read",
	} {
		_, err := flow.Call(start(t, address), node, query(flow.Reads, sqltool.Statement{Text: "select 1 as n"}), struct{}{})
		if te := value.ToolErrorOf(err); te == nil || !strings.HasPrefix(te.Error(), want) || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "127.0.0.1") {
			t.Errorf("%v", err)
		}
	}
}
