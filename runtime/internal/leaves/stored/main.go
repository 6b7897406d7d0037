//go:build unix

// Stored reads what a database of runs has, and starts databases, for tests that link no driver:
//
//	stored URL list          prints the names of the runs
//	stored URL read NAME     prints a file
//	stored URL do STATEMENT  runs a statement on PostgreSQL
//	stored URL ask QUERY     prints the number that a query on PostgreSQL answers with
//	stored postgres N        starts PostgreSQL with the schemas h1 to hN, prints the URL and waits for the end of its input
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/flowgen-dev/flowgen/runtime/internal/postgrestest"
	_ "github.com/flowgen-dev/flowgen/runtime/journal/postgres" // its URLs, and its driver
	_ "github.com/flowgen-dev/flowgen/runtime/journal/sqlite"   // its URLs
	"github.com/flowgen-dev/flowgen/runtime/stores"
)

func main() {
	args := os.Args[1:]
	var err error
	switch {
	case len(args) == 2 && args[0] == "postgres":
		err = serve(args[1])
	case len(args) == 3 && args[1] == "do":
		err = do(args[0], args[2])
	case len(args) == 3 && args[1] == "ask":
		err = ask(args[0], args[2])
	case len(args) == 2 && args[1] == "list", len(args) == 3 && args[1] == "read":
		err = show(args)
	default:
		err = errors.New("usage: stored URL list, stored URL read NAME, stored URL do STATEMENT, stored URL ask QUERY, stored postgres N")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func show(args []string) error {
	disk, release, err := stores.Runs.Open(args[0])
	if err != nil {
		return err
	}
	if args[1] == "list" {
		var names []string
		names, err = disk.ReadDir("")
		for _, name := range names {
			fmt.Println(name)
		}
	} else {
		var data []byte
		data, err = disk.ReadFile(args[2])
		_, werr := os.Stdout.Write(data)
		err = errors.Join(err, werr)
	}
	return errors.Join(err, release())
}

func do(address, statement string) error {
	db, err := sql.Open("pgx", address)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(context.Background(), statement)
	return errors.Join(err, db.Close())
}

func ask(address, query string) error {
	db, err := sql.Open("pgx", address)
	if err != nil {
		return err
	}
	var n int
	if err = db.QueryRowContext(context.Background(), query).Scan(&n); err == nil {
		fmt.Println(n)
	}
	return errors.Join(err, db.Close())
}

func serve(schemas string) error {
	address, stop, err := postgrestest.Server()
	if err != nil {
		return err
	}
	defer stop()
	if err := do(address, "DO $$ BEGIN FOR i IN 1.."+schemas+" LOOP EXECUTE 'CREATE SCHEMA h' || i; END LOOP; END $$"); err != nil {
		return err
	}
	fmt.Println(address)
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
