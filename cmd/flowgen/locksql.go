package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/pgdescribe"
	"github.com/flowgen-dev/flowgen/ir"
	"github.com/flowgen-dev/flowgen/ir/bind/mcplock"
	"github.com/flowgen-dev/flowgen/ir/bind/sqlsource"
	"github.com/flowgen-dev/flowgen/ir/diag"
	"github.com/flowgen-dev/flowgen/ir/source"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/mcptool"
	"github.com/flowgen-dev/flowgen/runtime/tool"
)

// addStatement takes a statement for PostgreSQL.
func (f *lockFolder) addStatement(b *ir.SQLTool) {
	name := mcplock.Database(b)
	for _, s := range f.servers {
		if s.decl.Name.Name == name {
			s.add(b)
			return
		}
	}
	s := &lockServer{decl: &ir.Server{Name: ir.Ident{Name: name, Span: b.DB.Span}}, tools: map[string]source.Span{}, statements: map[string]*ir.SQLTool{}}
	s.add(b)
	f.servers = append(f.servers, s)
}

func (s *lockServer) add(b *ir.SQLTool) {
	s.tools[sqlsource.Key(b)] = b.Query.At(0, len(b.Query.Value))
	s.statements[sqlsource.Key(b)] = b
}

// errNoDatabase is that the secret with the address of a database is not set.
var errNoDatabase = errors.New("its secret is not set")

// describe asks the database of the statements. The mistakes that it finds in them are reported to sink.
func (s *lockServer) describe(ctx context.Context, sink *diag.Sink) (listing mcptool.Listing, err error) {
	node := &flow.Node{ID: "lock", Pos: s.decl.Name.Name, Timeout: time.Minute}
	rt, err := flow.New(&flow.Info{Name: "lock", Nodes: []*flow.Node{node}})
	if err != nil {
		return listing, err
	}
	var secret string
	for _, b := range s.statements {
		secret = b.DB.Name
	}
	asked := false
	ask := flow.Bind("lock.sql@1", flow.Reads, func(ctx context.Context, _ struct{}) (struct{}, error) {
		asked = true
		address, _ := tool.Secret(ctx, secret)
		db, err := pgdescribe.Open(ctx, address)
		if err != nil {
			return struct{}{}, err
		}
		defer db.Close()
		for _, name := range sortedNames(s.tools) {
			b := s.statements[name]
			if b == nil { // of another workflow
				continue
			}
			text, err := sqlsource.Locked(b, func(text string) ([]string, []sqlsource.Column, error) { return statementOf(ctx, db, text) }, sink)
			if err != nil {
				return struct{}{}, err
			}
			if text != "" {
				listing.Tools = append(listing.Tools, mcptool.Listed{Name: name, JSON: text})
			}
		}
		return struct{}{}, nil
	}, flow.Secrets(secret), tool.Cancellable())
	run := rt.Start(ctx)
	defer run.End(&err)
	if _, err = flow.Call(run, node, ask, struct{}{}); err != nil && !asked {
		return listing, errNoDatabase
	}
	return listing, err
}

func statementOf(ctx context.Context, db *pgdescribe.Server, text string) (params []string, columns []sqlsource.Column, err error) {
	params, list, err := db.Describe(ctx, text)
	var wrong *pgdescribe.Error
	if errors.As(err, &wrong) {
		return nil, nil, &sqlsource.Failure{Message: wrong.Message, Hint: wrong.Hint, At: wrong.At, Name: wrong.Name}
	}
	for _, c := range list {
		columns = append(columns, sqlsource.Column{Name: c.Name, Type: c.Type, Present: c.NotNull})
	}
	return params, columns, err
}

// asking says what is about to be asked.
func (s *lockServer) asking() string {
	return fmt.Sprintf("asking %s about %d of its statements", s.decl.Name.Name, len(s.statements))
}

// engine is that of a database.
func (s *lockServer) engine() string {
	if s.statements != nil {
		return "postgres"
	}
	return ""
}
