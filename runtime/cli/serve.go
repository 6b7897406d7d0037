package cli

import (
	"context"
	"errors"
	"flag"
	"strconv"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/serving"
)

// VerbLeaves are the leaves of the runtime that programs with a verb link, by the verb.
func VerbLeaves() map[string]string {
	return map[string]string{"serve": "serve/command", "mcp": "mcpserver/command"}
}

var serveFlagNames = []string{"addr", "admin", "admin-on-main", "tokens", "tls-cert", "tls-key", "client-ca", "public", "cors", "replica", "replicas", "expose", "on-restart",
	"max-runs", "max-queue", "max-tenant", "max-rate", "max-body", "max-answer", "max-streams", "max-reader", "max-wait", "drain", "drain-delay",
	"runs", "sync", "blobs", "cache", "usage", "root", "proxy", "help"}

const serveHelp = `Usage: serve [flags]

Serves the workflow over HTTP, below /v1, until it is stopped. docs/guides/serve.md describes the endpoints.

  --addr HOST:PORT      address to listen on; default 127.0.0.1:8080. Other machines have access only with --tokens or
                        --public
  --admin HOST:PORT     address of probes and metrics; default 127.0.0.1:9090, off turns them off
  --admin-on-main       serve probes and metrics at --addr. With --tokens, metrics require the right admin
  --tokens FILE         accepted callers: a line for each bearer token or client certificate
  --tls-cert FILE       TLS certificate of the server; with --tls-key FILE, its key
  --client-ca FILE      authority of the client certificates in --tokens
  --public              turn authentication off
  --cors ORIGIN         origin whose pages may use the server, such as https://app.example.com; repeatable
  --replica NAME        name of this server in --replicas, each with its own folder: run ids start with it
  --replicas A=URL,...  all replicas: requests for runs of another one are redirected there
  --expose calls        expose inputs and outputs of calls
  --on-restart MODE     resume or leave unfinished runs of the previous process; default resume
  --max-runs N          concurrent runs; default 64
  --max-queue N         queued runs; default 256
  --max-tenant N        running and queued runs of one tenant; default: --max-runs plus --max-queue
  --max-rate N          requests per second of one token or certificate; default: no limit
  --max-body BYTES      size of a request; default 1048576
  --max-answer BYTES    size of a request with an answer; default 65536
  --max-streams N       event streams; default 1000
  --max-reader N        event streams of one token or certificate; default 8
  --max-wait TIME       longest wait of one request for a run to finish; default 60s
  --drain TIME          time for runs to finish on SIGTERM; default 20s. The others continue after the next start
  --drain-delay TIME    time before that in which requests are served while /readyz fails; default 0s

and --runs, --sync, --blobs, --cache, --usage, --root and --proxy of run.
`

var mcpFlagNames = append([]string{"wait", "async", "cancel-with-request", "model-may-answer"}, serveFlagNames...)

const mcpHelp = `Usage: mcp [flags]

Offers the workflow as a tool over the Model Context Protocol, on standard input and output. docs/guides/mcp.md describes the tools.

  --addr HOST:PORT       serve many clients over HTTP at /mcp, with the endpoints of serve
  --wait TIME            longest wait of a call for its run to finish; default 25s. Then the result says how to get it
  --async                offer NAME_start, which does not wait, for all workflows. Workflows that ask, loop or may take
                         longer than --wait always have it
  --cancel-with-request  cancel the run when its request is cancelled. By default the run continues
  --model-may-answer     offer the tool run_answer, so that a model can answer questions for users

and the flags of serve; --tokens, --public, --admin, --expose and --drain-delay need --addr.
`

// serveCommand serves the workflow over HTTP, or to one MCP client.
func serveCommand(s *system, w *workflow, verb string, args []string) int {
	f := &runFlags{}
	c := &serving.Command{Workflows: w.served, Admin: "127.0.0.1:9090", Drain: 20 * time.Second, Log: s.stderr, Graph: Mermaid}
	names, help, answer := serveFlagNames, serveHelp, serving.Serve
	if verb == "mcp" {
		names, help, answer = mcpFlagNames, mcpHelp, serving.MCP
		c.Respond = s.responders(w.served)
	} else {
		c.Addr = "127.0.0.1:8080"
	}
	rest, err := parseServeFlags(f, c, verb, args)
	switch {
	case isHelp(err):
		return s.print(help)
	case err != nil:
		s.complain(flagMistake(names, err))
		return ExitUsage
	case len(rest) > 0:
		s.complain(mistake{"unexpected argument " + rest[0], "inputs come with requests: see " + verb + " --help"})
		return ExitUsage
	case answer == nil:
		s.complain(mistake{"this program was built without the verb " + verb, "build it with flowgen build --verbs " + verb + ", or use flowgen " + verb + " FILE"})
		return ExitUsage
	case c.Addr != "":
		answer = serving.Serve
	}
	wrong := f.keep.recorded(s, w.served)
	if wrong != nil {
		s.complain(*wrong)
		return ExitUsage
	}
	folder, _, wrong := f.keep.folder(s, w.info)
	if wrong == nil && folder == nil {
		wrong = &mistake{"runs must be recorded", "leave FLOWGEN_RUNS=off out, and name a folder with --runs"}
	}
	if wrong != nil {
		s.complain(*wrong)
		return ExitUsage
	}
	if _, wrong := ready(s, folder, true); wrong != nil {
		s.complain(*wrong)
		return ExitFault
	}
	x := newExecution(s, w, f)
	options, release, wrong := x.options()
	if wrong != nil {
		s.complain(*wrong)
		return ExitFault
	}
	defer release()
	c.Runs, c.With = folder, options
	ctx, _, end := s.cancelOnSignal(context.Background())
	defer end()
	if err := answer(ctx, c); err != nil {
		s.complain(mistake{err.Error(), ""})
		return ExitFault
	}
	return ExitOK
}

func parseServeFlags(f *runFlags, c *serving.Command, verb string, args []string) (rest []string, err error) {
	set := newFlagSet()
	f.stored(set)
	f.keep.flags(set)
	set.StringVar(&f.keep.sync, "sync", "", "")
	reachFlags(set, c)
	set.BoolVar(&c.Public, "public", false, "")
	set.Func("expose", "", func(v string) error {
		if c.ExposeCalls = v == "calls"; !c.ExposeCalls {
			return errors.New("write --expose calls")
		}
		return nil
	})
	set.Func("on-restart", "", func(v string) error {
		if c.Leave = v == "leave"; !c.Leave && v != "resume" {
			return errors.New("write --on-restart resume or --on-restart leave")
		}
		return nil
	})
	number := func(name string, to *int) {
		set.Func(name, "", func(v string) (err error) {
			if *to, err = strconv.Atoi(v); err != nil || *to < 1 {
				return errors.New("expected a number, at least 1")
			}
			return nil
		})
	}
	body, answer := 0, 0
	number("max-runs", &c.MaxRuns)
	number("max-queue", &c.MaxQueue)
	number("max-tenant", &c.MaxTenant)
	number("max-rate", &c.MaxRate)
	number("max-streams", &c.MaxStreams)
	number("max-reader", &c.MaxReader)
	number("max-body", &body)
	number("max-answer", &answer)
	times := map[string]*time.Duration{"max-wait": &c.MaxWait, "drain": &c.Drain, "drain-delay": &c.DrainDelay}
	if verb == "mcp" {
		times["wait"] = &c.Wait
		set.BoolVar(&c.Async, "async", false, "")
		set.BoolVar(&c.WithRequest, "cancel-with-request", false, "")
		set.BoolVar(&c.ModelMay, "model-may-answer", false, "")
	}
	for name, to := range times {
		set.Func(name, "", func(v string) (err error) {
			if *to, err = time.ParseDuration(v); err != nil || *to < 0 {
				return errors.New("expected a duration such as 20s or 1m")
			}
			return nil
		})
	}
	rest, err = parseFlags(set, args)
	c.MaxBody, c.MaxAnswer = int64(body), int64(answer)
	return rest, err
}

// reachFlags are the flags that say where a server is, and who reaches it.
func reachFlags(set *flag.FlagSet, c *serving.Command) {
	set.StringVar(&c.Addr, "addr", c.Addr, "")
	set.StringVar(&c.Admin, "admin", c.Admin, "")
	set.BoolVar(&c.AdminOnMain, "admin-on-main", false, "")
	set.StringVar(&c.Tokens, "tokens", "", "")
	set.StringVar(&c.Cert, "tls-cert", "", "")
	set.StringVar(&c.Key, "tls-key", "", "")
	set.StringVar(&c.ClientCA, "client-ca", "", "")
	set.StringVar(&c.Replica, "replica", "", "")
	set.Func("replicas", "", func(v string) error {
		c.Replicas = map[string]string{}
		for one := range strings.SplitSeq(v, ",") {
			name, address, ok := strings.Cut(one, "=")
			if !ok || name == "" {
				return errors.New("write --replicas a=http://a.example:8080,b=http://b.example:8080")
			}
			c.Replicas[name] = address
		}
		return nil
	})
	set.Func("cors", "", func(v string) error {
		scheme, host, ok := strings.Cut(v, "://") // net/url would be in every program
		if !ok || scheme != "http" && scheme != "https" || host == "" || strings.ContainsAny(host, "/?#@* \\") {
			return errors.New("write the origin of a page, as in --cors https://app.example.com")
		}
		c.Origins = append(c.Origins, v)
		return nil
	})
}
