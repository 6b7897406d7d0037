// Command service is an HTTP service with a workflow in two handlers: one starts a run, which waits for a manager, the other
// takes the manager's answer and goes on with the run. It can be killed at any time: runs are in a folder.
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"expvar"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/flowgen-dev/flowgen/examples/service/expense"
	"github.com/flowgen-dev/flowgen/examples/service/expense/bank"
	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/journal"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
)

var requests, calls = expvar.NewMap("requests"), expvar.NewMap("calls")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	log := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	if err := serve(ctx, log, os.Getenv("ADDR"), os.Getenv("RUNS")); err != nil {
		log.Error("stopped", "error", err)
		os.Exit(1)
	}
}

// serve answers requests until ctx is done, and then ends those that have begun.
func serve(ctx context.Context, log *slog.Logger, addr, dir string) error {
	folder := runs.Open(dir, runs.Options{})
	w, err := expense.New(runtime.WithEngines(folder.Record), runtime.WithLogger(log), runtime.WithUsage(runtime.UsageFunc(count)))
	if err != nil {
		return err
	}
	s := &service{folder, w, log}
	if err := s.recover(ctx); err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /expenses", s.start)
	mux.HandleFunc("GET /expenses/{id}/questions", s.questions)
	mux.HandleFunc("POST /expenses/{id}/answer", s.answer)
	mux.Handle("GET /debug/vars", expvar.Handler())
	server := &http.Server{Handler: mux, ReadTimeout: 10 * time.Second}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	log.Info("listening", "addr", l.Addr().String())
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	return server.Shutdown(grace)
}

func count(a *runtime.Attempt) { calls.Add(a.Tool, 1) }

type service struct {
	folder *runs.Folder
	flow   *expense.Workflow
	log    *slog.Logger
}

// recover goes on with the runs that a crash has cut off. Those whose question is still open wait again.
func (s *service) recover(ctx context.Context) error {
	list, err := s.folder.List()
	for _, r := range list {
		if r.Outcome == journal.Open || r.Outcome == journal.Waiting {
			_, err := runs.Resume(ctx, s.folder, r.ID, s.flow.Run)
			s.log.Info("resumed", "run", r.ID, "result", err)
		}
	}
	return err
}

// start begins a run and replies with its question.
func (s *service) start(w http.ResponseWriter, r *http.Request) {
	var in expense.Input
	if !read(w, r, &in) {
		return
	}
	id := rand.Text()
	out, err := s.flow.Run(runtime.WithRunID(context.WithoutCancel(r.Context()), id), in) // a client that leaves stops nothing
	s.reply(w, id, out, err)
}

// questions replies with what a run waits for.
func (s *service) questions(w http.ResponseWriter, r *http.Request) {
	open, err := s.folder.Questions(r.PathValue("id"))
	if err != nil {
		s.reply(w, r.PathValue("id"), expense.Output{}, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(open) // the client has gone
}

// answer takes the answer to a question of a run and goes on with it.
func (s *service) answer(w http.ResponseWriter, r *http.Request) {
	var a struct{ Question, Answer string }
	if !read(w, r, &a) {
		return
	}
	ctx, id := context.WithoutCancel(r.Context()), r.PathValue("id")
	var out expense.Output
	err := s.folder.Respond(ctx, id, a.Question, a.Answer)
	if err == nil {
		out, err = runs.Resume(ctx, s.folder, id, s.flow.Run)
	}
	s.reply(w, id, out, err)
}

func read(w http.ResponseWriter, r *http.Request, v any) bool {
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<16)).Decode(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
	return err == nil
}

func (s *service) reply(w http.ResponseWriter, id string, out expense.Output, err error) {
	status, body := http.StatusOK, map[string]any{"run": id}
	var waiting *runtime.Waiting
	switch {
	case err == nil:
		body["result"] = out
	case errors.As(err, &waiting):
		status, body["question"] = http.StatusAccepted, waiting.Question
	case errors.Is(err, runs.ErrNoRun), errors.Is(err, runs.ErrNoQuestion):
		status, body["error"] = http.StatusNotFound, "no such question"
	case errors.Is(err, runs.ErrLate), errors.Is(err, runs.ErrBusy):
		status, body["error"] = http.StatusConflict, err.Error()
	case errors.Is(err, runs.ErrWrongAnswer):
		status, body["error"] = http.StatusUnprocessableEntity, err.Error()
	case errors.Is(err, bank.ErrFunds):
		status, body["error"] = http.StatusPaymentRequired, bank.ErrFunds.Error()
	default:
		status, body["error"] = http.StatusInternalServerError, "see the log of this run"
	}
	requests.Add(http.StatusText(status), 1)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client has gone
}
