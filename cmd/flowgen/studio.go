package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/origin"
	"github.com/flowgen-dev/flowgen/internal/files"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/studio"
)

// studioFlags are the flags of `studio`.
type studioFlags struct {
	runs            string
	port            uint16
	readOnly, noRun bool
}

func (a *app) studioCommand() *cobra.Command {
	var f studioFlags
	cmd := &cobra.Command{
		Use:   "studio [FOLDER]",
		Short: "Open a local page over workflows and recorded runs, in a browser",
		Long: "Studio serves a page over the workflows and the recorded runs of a folder, to this machine only: graphs, diagnostics and\n" +
			"plans, runs as they go on, their calls, questions, costs, and the differences between two runs. It loads nothing from\n" +
			"other hosts. The printed address contains a token, without which nothing is answered; it changes with each start.\n\n" +
			"Runs that the page starts are those of the command line, and go on when studio ends. Edits are shown before they\n" +
			"are written. docs/studio.md describes the page.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			folder := "."
			if len(args) > 0 {
				folder = args[0]
			}
			return a.studio(cmd.Context(), &f, folder)
		},
	}
	runsFlag(cmd, &f.runs)
	cmd.Flags().Uint16Var(&f.port, "port", 0, "port of 127.0.0.1 and ::1 to listen at (default: any free one)")
	cmd.Flags().BoolVar(&f.readOnly, "read-only", false, "change and start nothing")
	cmd.Flags().BoolVar(&f.noRun, "no-run", false, "start nothing; edits and answers are written")
	return cmd
}

func (a *app) studio(ctx context.Context, f *studioFlags, folder string) error {
	if !files.IsDir(folder) {
		return unusablef("%s is not a folder; name the folder of the workflows", folder)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	dir := f.runs
	if env := os.Getenv("FLOWGEN_RUNS"); dir == "" && env != "off" {
		dir = env
	}
	if dir != "" { // it is named from the folder that the command runs in
		if dir, err = filepath.Abs(dir); err != nil {
			return err
		}
	}
	if err := os.Chdir(folder); err != nil {
		return err
	}
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	recorded, err := runsFolder(dir, runs.Options{ReadOnly: f.readOnly})
	if err != nil {
		return err
	}
	listeners, err := loopback(f.port)
	if err != nil {
		return err
	}
	port := strconv.Itoa(listeners[0].Addr().(*net.TCPAddr).Port)
	server := studio.New(studio.Options{
		Root: root, Version: origin.Version(), Project: newStudioProject(recorded.Dir()), Runs: recorded, ReadOnly: f.readOnly, NoRun: f.noRun,
		Command: func(args ...string) *exec.Cmd { return exec.Command(self, args...) },
	}, port)
	fmt.Fprintf(a.stderr, "flowgen: studio of %s, until Ctrl-C:\n", root)
	fmt.Fprintf(a.stdout, "http://127.0.0.1:%s/#token=%s\n", port, server.Token())
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	return server.Serve(ctx, listeners...)
}

// loopback listens at a port of this machine, with the same number for IPv6 where the machine has it.
func loopback(port uint16) ([]net.Listener, error) {
	four, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port))))
	if err != nil {
		return nil, unusablef("port %d cannot be listened at: %w; name another one with --port", port, err)
	}
	list := []net.Listener{four}
	if six, err := net.Listen("tcp6", net.JoinHostPort("::1", strconv.Itoa(four.Addr().(*net.TCPAddr).Port))); err == nil {
		list = append(list, six)
	}
	return list, nil
}
