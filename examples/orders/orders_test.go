package main

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// The statements run against a real database, which holds what must always be true.
func TestDatabase(t *testing.T) {
	file := filepath.Join(t.TempDir(), "orders.db")
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	schema, err := os.ReadFile("schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), string(schema)+"insert into stock values ('tea', 10, 3.5)"); err != nil {
		t.Fatal(err)
	}
	w, err := New(runtime.WithSecrets(func(string) (string, bool) { return "sqlite://" + file, true }))
	if err != nil {
		t.Fatal(err)
	}
	note := "as always"
	for _, c := range []struct {
		in   Input
		code value.Code
	}{
		{Input{Customer: "ann", Item: "tea", Amount: 2, Note: &note}, ""},
		{Input{Customer: "x'; drop table orders; --", Item: "tea", Amount: 3}, ""},
		{Input{Customer: "ann", Item: "tea", Amount: 6}, value.ValidationError}, // 5 are left
		{Input{Customer: "ann", Item: "unicorn", Amount: 1}, value.ValidationError},
	} {
		out, err := w.Run(t.Context(), c.in)
		var te *value.ToolError
		switch {
		case c.code != "":
			if !errors.As(err, &te) || te.Code != c.code {
				t.Errorf("%+v: %v, want %s", c.in, err, c.code)
			}
		case err != nil || len(out.Orders) != 1 || out.Orders[0].Amount != c.in.Amount || out.Orders[0].Price != 3.5:
			t.Errorf("%+v: %+v, %v", c.in, out, err)
		}
	}
	var orders, left int
	if err := db.QueryRowContext(t.Context(), "select count(*), (select amount from stock) from orders").Scan(&orders, &left); err != nil || orders != 2 || left != 5 {
		t.Errorf("%d orders, %d left, %v", orders, left, err)
	}
}

// Functions take the place of the statements.
func TestFakes(t *testing.T) {
	added := 0
	w, err := New(WithFakes(Fakes{
		PriceOf: func(context.Context, PriceOfIn) (*PriceOfOut, error) { return &PriceOfOut{Price: 1, Amount: 1}, nil },
		AddOrder: func(_ context.Context, in AddOrderIn) (*AddOrderOut, error) {
			added += int(in.Amount)
			return &AddOrderOut{ID: 7}, nil
		},
		OrdersOf: func(context.Context, OrdersOfIn) ([]OutputOrders, error) {
			return []OutputOrders{{ID: 7, Item: "tea", Amount: 2, Price: 1}}, nil
		},
	}))
	if err != nil {
		t.Fatal(err)
	}
	out, err := w.Run(t.Context(), Input{Customer: "ann", Item: "tea", Amount: 2})
	if diff := cmp.Diff([]OutputOrders{{ID: 7, Item: "tea", Amount: 2, Price: 1}}, out.Orders); err != nil || diff != "" || added != 2 {
		t.Error(added, err, diff)
	}
}
