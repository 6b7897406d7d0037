package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/lsp"
	"github.com/flowgen-dev/flowgen/ir/diag"
)

// watch is `check --watch`: it reports whenever a file has changed, until it is interrupted. The session is that of the language
// server, so only what is made of the file is compiled again.
func (a *app) watch(ctx context.Context, args []string, write func(io.Writer, []diag.Diagnostic) error) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	find := func() ([]string, bool, error) {
		names, found, err := workflows(tested(newDisk(), args))
		if len(args) == 0 {
			names, err = below(".")
		}
		return names, found, err
	}
	if _, _, err := find(); err != nil {
		return err
	}
	return lsp.Watch(ctx, a.lspOptions(), find, func(list []diag.Diagnostic, files int) error {
		if write != nil {
			return write(a.stdout, list)
		}
		if err := diag.Text(a.stderr, list, textOptions(a.stderr)); err != nil {
			return err
		}
		mistakes := fmt.Sprintf("%d %s", len(list), plural(len(list), "message", "messages"))
		_, err := fmt.Fprintf(a.stderr, "flowgen: %s; watching %d files\n", mistakes, files)
		return err
	})
}
