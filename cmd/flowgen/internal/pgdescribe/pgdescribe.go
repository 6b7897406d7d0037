// Package pgdescribe asks a server of PostgreSQL what statements take and return. It runs none of them.
package pgdescribe

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// A Column is one of what a statement returns.
type Column struct {
	Name, Type string // its type by the server's name; of a domain the name of what it is made of
	NotNull    bool   // it is a table's, which does not let it be null
}

// An Error is what the server says of a statement that it does not take.
type Error struct {
	Message, Hint string
	At            int  // the character where it is, from 1; 0: nowhere
	Name          bool // a name that it does not know
}

func (e *Error) Error() string { return e.Message }

// A Server is a connection. What is asked of it is asked in transactions that cannot write, so that a pooler may be in between.
type Server struct{ conn *pgconn.PgConn }

// Errors of Open, whose texts have nothing of the address.
var (
	ErrAddress = errors.New("the address of the database cannot be read: write postgres://user@host:5432/database")
	ErrConnect = errors.New("the database cannot be reached, or does not accept the user")
)

// Open connects. Close ends the connection.
func Open(ctx context.Context, address string) (*Server, error) {
	c, err := pgconn.ParseConfig(address)
	if err != nil {
		return nil, ErrAddress
	}
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = 10 * time.Second
	}
	conn, err := pgconn.ConnectConfig(ctx, c)
	if err != nil {
		return nil, ErrConnect
	}
	return &Server{conn}, nil
}

// Close ends the connection.
func (s *Server) Close() { _ = s.conn.Close(context.Background()) }

// Describe returns the types of a statement's parameters, by the server's names, and its columns.
func (s *Server) Describe(ctx context.Context, text string) (params []string, columns []Column, err error) {
	if _, err := s.conn.Exec(ctx, "begin read only").ReadAll(); err != nil {
		return nil, nil, errors.New("the connection to the database failed")
	}
	defer func() {
		if _, ended := s.conn.Exec(ctx, "rollback").ReadAll(); ended != nil && err == nil {
			err = errors.New("the connection to the database failed")
		}
	}()
	d, err := s.conn.Prepare(ctx, "", text, nil)
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return nil, nil, &Error{refused.Message, refused.Hint, int(refused.Position), strings.HasPrefix(refused.Code, "427") || refused.Code == "42883" || refused.Code == "42P01"}
	}
	if err != nil {
		return nil, nil, errors.New("the connection to the database failed")
	}
	oids, origins := []uint32{0}, "(0, 0)"
	oids = append(oids, d.ParamOIDs...)
	for _, f := range d.Fields {
		oids = append(oids, f.DataTypeOID)
		origins += fmt.Sprintf(", (%d, %d)", f.TableOID, f.TableAttributeNumber)
	}
	list := strings.Trim(strings.ReplaceAll(fmt.Sprint(oids), " ", ", "), "[]")
	names, err := s.pairs(ctx, "select t.oid, coalesce(b.typname, t.typname) from pg_catalog.pg_type t left join pg_catalog.pg_type b on t.typtype = 'd' and b.oid = t.typbasetype where t.oid in ("+list+")")
	if err != nil {
		return nil, nil, err
	}
	notNull, err := s.pairs(ctx, "select attrelid || '.' || attnum, '' from pg_catalog.pg_attribute where attnotnull and (attrelid, attnum) in ("+origins+")")
	if err != nil {
		return nil, nil, err
	}
	name := func(oid uint32) string { return names[strconv.FormatUint(uint64(oid), 10)] }
	for _, oid := range d.ParamOIDs {
		params = append(params, name(oid))
	}
	for _, f := range d.Fields {
		_, known := notNull[fmt.Sprintf("%d.%d", f.TableOID, f.TableAttributeNumber)]
		columns = append(columns, Column{f.Name, name(f.DataTypeOID), known})
	}
	return params, columns, nil
}

// pairs are the rows of a query of two columns.
func (s *Server) pairs(ctx context.Context, query string) (map[string]string, error) {
	results, err := s.conn.Exec(ctx, query).ReadAll()
	if err != nil || len(results) != 1 {
		return nil, errors.New("the database does not say what it knows of types")
	}
	out := map[string]string{}
	for _, row := range results[0].Rows {
		out[string(row[0])] = string(row[1])
	}
	return out, nil
}
