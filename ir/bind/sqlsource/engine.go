package sqlsource

import (
	"errors"
	"strings"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// A database is SQLite in memory, for its reader: statements are prepared, and nothing but the statements of a schema is run. What it may do is
// told by SQLite's authorizer: there is no way to a file.
type database struct {
	tls *libc.TLS
	db  uintptr
}

// Bounds of the database: a text or a row, and the steps of a statement of the schema.
const (
	maxLength = 4 << 20
	maxSteps  = 5_000_000
)

func openMemory() (*database, error) {
	d := &database{tls: libc.NewTLS()}
	err := d.out(func(p uintptr) error {
		name, err := libc.CString(":memory:")
		if err != nil {
			return err
		}
		defer libc.Xfree(d.tls, name)
		rc := sqlite3.Xsqlite3_open_v2(d.tls, name, p, sqlite3.SQLITE_OPEN_READWRITE|sqlite3.SQLITE_OPEN_CREATE|sqlite3.SQLITE_OPEN_MEMORY, 0)
		d.db = pointer(p)
		if rc != sqlite3.SQLITE_OK {
			return errors.New("SQLite cannot be opened in memory")
		}
		return nil
	})
	if err != nil {
		d.close()
		return nil, err
	}
	sqlite3.Xsqlite3_limit(d.tls, d.db, sqlite3.SQLITE_LIMIT_LENGTH, maxLength)
	sqlite3.Xsqlite3_progress_handler(d.tls, d.db, maxSteps, function(tooLong), 0)
	for _, option := range []int32{sqlite3.SQLITE_DBCONFIG_DQS_DDL, sqlite3.SQLITE_DBCONFIG_DQS_DML} { // a misspelt "name" is not text
		va := libc.NewVaList(int32(0), uintptr(0))
		sqlite3.Xsqlite3_db_config(d.tls, d.db, option, va)
		libc.Xfree(d.tls, va)
	}
	return d, nil
}

func (d *database) close() {
	if d.db != 0 {
		sqlite3.Xsqlite3_close_v2(d.tls, d.db)
	}
	d.tls.Close()
}

// The modes of the authorizer.
const (
	schemaMode = 1 // what makes tables
	queryMode  = 2 // what reads and writes them
)

func (d *database) allow(mode uintptr) {
	sqlite3.Xsqlite3_set_authorizer(d.tls, d.db, function(authorize), mode)
}

// anything is for what this package itself asks.
func (d *database) anything() { sqlite3.Xsqlite3_set_authorizer(d.tls, d.db, 0, 0) }

func authorize(_ *libc.TLS, mode uintptr, action int32, _, name, _, _ uintptr) int32 {
	switch action {
	case sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE, sqlite3.SQLITE_RECURSIVE:
		return sqlite3.SQLITE_OK
	case sqlite3.SQLITE_FUNCTION:
		if strings.EqualFold(libc.GoString(name), "load_extension") {
			return sqlite3.SQLITE_DENY
		}
		return sqlite3.SQLITE_OK
	case sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH, sqlite3.SQLITE_PRAGMA, sqlite3.SQLITE_TRANSACTION, sqlite3.SQLITE_SAVEPOINT:
		return sqlite3.SQLITE_DENY
	}
	if mode == schemaMode {
		return sqlite3.SQLITE_OK
	}
	return sqlite3.SQLITE_DENY
}

func tooLong(*libc.TLS, uintptr) int32 { return 1 }

// function is a declared function as SQLite calls it, which is how the driver does it: the value of a function is a pointer to what is never moved.
func function[T any](f T) uintptr { return *(*uintptr)(unsafe.Pointer(&struct{ f T }{f})) }

// pointer is what SQLite has written to p.
func pointer(p uintptr) uintptr { return **(**uintptr)(unsafe.Pointer(&p)) }

// out lends memory for a pointer.
func (d *database) out(f func(p uintptr) error) error {
	p := libc.Xcalloc(d.tls, 2, 8)
	if p == 0 {
		return errors.New("out of memory")
	}
	defer libc.Xfree(d.tls, p)
	return f(p)
}

// An engineError is an error of SQLite at an offset of the text; -1: nowhere.
type engineError struct {
	message string
	off     int
}

func (e *engineError) Error() string { return e.message }

func (d *database) failed() error {
	return &engineError{libc.GoString(sqlite3.Xsqlite3_errmsg(d.tls, d.db)), int(sqlite3.Xsqlite3_error_offset(d.tls, d.db))}
}

// prepared lends the first statement of a text, 0 when there is none; end is where it ends.
func (d *database) prepared(text string, f func(stmt uintptr, end int) error) error {
	c, err := libc.CString(text)
	if err != nil {
		return err
	}
	defer libc.Xfree(d.tls, c)
	return d.out(func(p uintptr) error {
		if rc := sqlite3.Xsqlite3_prepare_v2(d.tls, d.db, c, -1, p, p+8); rc != sqlite3.SQLITE_OK {
			return d.failed()
		}
		stmt := pointer(p)
		defer sqlite3.Xsqlite3_finalize(d.tls, stmt)
		return f(stmt, int(pointer(p+8)-c))
	})
}

// run runs the first statement of a text and returns where it ends.
func (d *database) run(text string) (end int, err error) {
	err = d.prepared(text, func(stmt uintptr, to int) error {
		end = to
		if stmt == 0 {
			return nil
		}
		for {
			switch sqlite3.Xsqlite3_step(d.tls, stmt) {
			case sqlite3.SQLITE_ROW:
			case sqlite3.SQLITE_DONE:
				return nil
			case sqlite3.SQLITE_INTERRUPT:
				return &engineError{"it takes too long", 0}
			default:
				return d.failed()
			}
		}
	})
	return end, err
}

// rows are the texts that a query of this package returns.
func (d *database) rows(query string) (out [][]string, err error) {
	err = d.prepared(query, func(stmt uintptr, _ int) error {
		n := sqlite3.Xsqlite3_column_count(d.tls, stmt)
		for sqlite3.Xsqlite3_step(d.tls, stmt) == sqlite3.SQLITE_ROW {
			row := make([]string, n)
			for i := range n {
				row[i] = libc.GoString(sqlite3.Xsqlite3_column_text(d.tls, stmt, i))
			}
			out = append(out, row)
		}
		return nil
	})
	return out, err
}

// A returned is a column of what a statement returns; table and origin are empty for an expression.
type returned struct{ name, declared, table, origin string }

// describe prepares a statement and says what it returns, and whether it only reads.
func (d *database) describe(text string) (columns []returned, reads bool, err error) {
	err = d.prepared(text, func(stmt uintptr, _ int) error {
		if stmt == 0 {
			return &engineError{"it is not a statement", 0}
		}
		reads = sqlite3.Xsqlite3_stmt_readonly(d.tls, stmt) != 0
		for i := range sqlite3.Xsqlite3_column_count(d.tls, stmt) {
			columns = append(columns, returned{
				libc.GoString(sqlite3.Xsqlite3_column_name(d.tls, stmt, i)), libc.GoString(sqlite3.Xsqlite3_column_decltype(d.tls, stmt, i)),
				libc.GoString(sqlite3.Xsqlite3_column_table_name(d.tls, stmt, i)), libc.GoString(sqlite3.Xsqlite3_column_origin_name(d.tls, stmt, i)),
			})
		}
		return nil
	})
	return columns, reads, err
}
