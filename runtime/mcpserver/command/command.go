// Package command is the verb mcp of programs: `flowgen build --verbs mcp` and `flowgen mcp` link it. With it the verb serve answers
// at /mcp, too.
package command

import (
	"context"
	"log/slog"
	"net/http"
	"os"

	"github.com/flowgen-dev/flowgen/runtime/mcpserver"
	"github.com/flowgen-dev/flowgen/runtime/serve"
	"github.com/flowgen-dev/flowgen/runtime/serve/command"
	"github.com/flowgen-dev/flowgen/runtime/serving"
)

func init() {
	serving.MCP = run
	command.MCP = func(s *serve.Server, c *serving.Command, log *slog.Logger) (http.Handler, func(), error) {
		o := options(c, log)
		o.Respond = nil // people are where requests are answered
		m, err := mcpserver.New(s, o)
		if err != nil {
			return nil, nil, err
		}
		return m, m.Close, nil
	}
}

func options(c *serving.Command, log *slog.Logger) mcpserver.Options {
	return mcpserver.Options{Wait: c.Wait, CancelWithRequest: c.WithRequest, ModelMayAnswer: c.ModelMay, Async: c.Async, Respond: c.Respond, Log: log,
		Graph: func(workflow string) string {
			for _, w := range c.Workflows {
				if w.Info.Name == workflow && c.Graph != nil {
					return c.Graph(w.Info)
				}
			}
			return ""
		}}
}

// run serves the client on standard input and output until it leaves.
func run(ctx context.Context, c *serving.Command) error {
	log := slog.New(slog.NewJSONHandler(c.Log, &slog.HandlerOptions{Level: slog.LevelWarn})) // clients show what is written there
	out := os.Stdout
	os.Stdout = os.Stderr // of a workflow's own code: out is for messages alone
	s, err := serve.Handler(command.Options(c, log), command.Workflows(c)...)
	if err != nil {
		return err
	}
	m, err := mcpserver.New(s, options(c, log))
	if err == nil {
		err = m.Stdio(ctx, os.Stdin, out)
	}
	if ctx.Err() != nil {
		ctx = context.WithoutCancel(ctx) // the signal that ended it; another ends the program
	}
	end, cancel := context.WithTimeout(ctx, c.Drain)
	defer cancel()
	if late := s.Shutdown(end); late != nil {
		log.Warn("unfinished runs", "error", late, "next", "they continue after the next start")
	}
	return err
}
