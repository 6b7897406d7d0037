package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/flowgen-dev/flowgen/cmd/flowgen/internal/origin"
	"github.com/flowgen-dev/flowgen/internal/files"
	"github.com/flowgen-dev/flowgen/runtime/journal/runs"
	"github.com/flowgen-dev/flowgen/studio"
)

// studioFlags are the flags of `studio`.
type studioFlags struct {
	runs, addr      string
	port            uint16
	hosts           []string
	cert, key       string // files, for TLS
	server, token   string // of `serve`, and the file with a token for it
	temporal        string // program that reads runs on Temporal
	proxy, open     bool
	readOnly, noRun bool
}

func (a *app) studioCommand() *cobra.Command {
	var f studioFlags
	cmd := &cobra.Command{
		Use:   "studio [FOLDER]",
		Short: "Show workflows and recorded runs in a browser",
		Long: "Studio is a local web page for the workflows and recorded runs of a folder: graphs, diagnostics and\n" +
			"plans, live runs, their calls, questions, costs, and the differences between two runs. It loads nothing from\n" +
			"other hosts. The printed URL contains a token, which every request needs; it changes with each start.\n\n" +
			"Runs that the page starts are separate processes and continue when studio exits. Edits are shown before they\n" +
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
	cmd.Flags().Uint16Var(&f.port, "port", 0, "port to listen on at 127.0.0.1 and ::1 (default: any free port)")
	cmd.Flags().StringVar(&f.addr, "addr", "", "listen on HOST:PORT, also for other machines; requires --tls-cert or --behind-proxy")
	cmd.Flags().StringArrayVar(&f.hosts, "host", nil, "host name that browsers use for the server, HOST or HOST:PORT; repeatable")
	cmd.Flags().StringVar(&f.cert, "tls-cert", "", "certificate `FILE` for TLS, with --tls-key")
	cmd.Flags().StringVar(&f.key, "tls-key", "", "key `FILE` of the certificate")
	cmd.Flags().BoolVar(&f.proxy, "behind-proxy", false, "a proxy in front of it terminates TLS")
	cmd.Flags().BoolVar(&f.open, "open", false, "open the page in a browser")
	cmd.Flags().StringVar(&f.server, "server", "", "also show the runs of the server of flowgen serve at this `URL`, such as https://triage.example.com")
	cmd.Flags().StringVar(&f.token, "server-token", "", "`FILE` with a token of the server")
	cmd.Flags().StringVar(&f.temporal, "temporal", "", "also show the runs on Temporal, which this `PROGRAM` of `build --engine temporal` reads")
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
	if f.token != "" {
		if f.token, err = filepath.Abs(f.token); err != nil {
			return err
		}
	}
	if f.temporal != "" {
		if f.temporal, err = programFile(f.temporal); err != nil {
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
	remote, err := f.remote()
	if err != nil {
		return err
	}
	temporal, done, err := f.onTemporal()
	if err != nil {
		return err
	}
	defer done()
	listeners, err := f.listen()
	if err != nil {
		return err
	}
	port := strconv.Itoa(listeners[0].Addr().(*net.TCPAddr).Port)
	server := studio.New(studio.Options{
		Root: root, Version: origin.Version(), Project: newStudioProject(recorded.Dir()), Runs: recorded, Server: remote, Temporal: temporal, ReadOnly: f.readOnly, NoRun: f.noRun, Hosts: f.hosts, Secure: f.cert != "" || f.proxy,
		Command: func(args ...string) *exec.Cmd { return exec.Command(self, args...) },
	}, port)
	fmt.Fprintf(a.stderr, "flowgen: studio of %s, until Ctrl-C:\n", root)
	if f.addr != "" && !isLoopback(f.addr) {
		can := "reads runs, edits files and starts workflows"
		if f.readOnly {
			can = "reads runs"
		}
		fmt.Fprintf(a.stderr, "flowgen: other machines can reach it: a user with the token %s\n", can)
	}
	base := f.base(port)
	fmt.Fprintf(a.stdout, "%s/#token=%s\n", base, server.Token())
	if f.open {
		if err := openBrowser(base + "/#code=" + server.Code()); err != nil {
			fmt.Fprintf(a.stderr, "flowgen: no browser was opened: %v\n", err)
		}
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	return server.Serve(ctx, listeners...)
}

// remote is the server of --server; nil without it. A token is not sent in clear to other machines.
func (f *studioFlags) remote() (*studio.Remote, error) {
	if f.server == "" {
		if f.token != "" {
			return nil, usage("--server-token requires --server")
		}
		return nil, nil
	}
	at, err := url.Parse(f.server)
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" || at.User != nil || at.RawQuery != "" || at.Fragment != "" {
		return nil, usage("--server %q: write a URL such as https://triage.example.com", f.server)
	}
	m := &studio.Remote{URL: strings.TrimSuffix(f.server, "/")}
	if f.token == "" {
		return m, nil
	}
	if at.Scheme == "http" && !isLoopback(net.JoinHostPort(at.Hostname(), "0")) {
		return nil, usage("--server-token: %s would receive the token unencrypted; use https", f.server)
	}
	m.Token = func() (string, error) {
		text, err := files.Read(f.token, maxToken)
		return strings.TrimSpace(string(text)), err
	}
	if _, err := m.Token(); err != nil {
		return nil, unusablef("the token for the server cannot be read: %w", err)
	}
	return m, nil
}

// maxToken bounds the file of --server-token.
const maxToken = 64 << 10 // bytes

// listen opens the address of --addr, or one of this machine.
func (f *studioFlags) listen() ([]net.Listener, error) {
	if (f.cert == "") != (f.key == "") {
		return nil, usage("--tls-cert and --tls-key belong together")
	}
	var config *tls.Config
	if f.cert != "" {
		pair, err := tls.LoadX509KeyPair(f.cert, f.key)
		if err != nil {
			return nil, unusablef("the certificate cannot be used: %w", err)
		}
		config = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	}
	list, err := loopback(f.port)
	if f.addr != "" {
		if f.port != 0 {
			return nil, usage("--addr has the port: leave out --port")
		}
		list, err = f.elsewhere(config != nil)
	}
	if err != nil || config == nil {
		return list, err
	}
	for i := range list {
		list[i] = tls.NewListener(list[i], config)
	}
	return list, nil
}

// elsewhere listens at --addr. What leaves the machine is encrypted.
func (f *studioFlags) elsewhere(encrypted bool) ([]net.Listener, error) {
	if _, _, err := net.SplitHostPort(f.addr); err != nil {
		return nil, usage("--addr %q: write HOST:PORT", f.addr)
	}
	if !encrypted && !f.proxy && !isLoopback(f.addr) {
		return nil, usage("--addr %s can be reached from other machines: add --tls-cert and --tls-key, or --behind-proxy if a proxy terminates TLS", f.addr)
	}
	l, err := net.Listen("tcp", f.addr)
	if err != nil {
		return nil, unusablef("cannot listen on %s: %w", f.addr, err)
	}
	return []net.Listener{l}, nil
}

// isLoopback reports whether only this machine reaches an address.
func isLoopback(addr string) bool {
	host, _, _ := net.SplitHostPort(addr)
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// base is the address of the page.
func (f *studioFlags) base(port string) string {
	scheme := "http"
	if f.cert != "" || f.proxy {
		scheme = "https"
	}
	if len(f.hosts) > 0 {
		return scheme + "://" + f.hosts[0]
	}
	return scheme + "://127.0.0.1:" + port
}

// openBrowser opens an address in the user's browser.
func openBrowser(address string) error {
	name, args := "xdg-open", []string{address}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	}
	cmd := exec.Command(name, args...)
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // the page is what it opens, not what it says
	return nil
}

// loopback listens at a port of this machine, with the same number for IPv6 where the machine has it.
func loopback(port uint16) ([]net.Listener, error) {
	four, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port))))
	if err != nil {
		return nil, unusablef("cannot listen on port %d: %w; choose another one with --port", port, err)
	}
	list := []net.Listener{four}
	if six, err := net.Listen("tcp6", net.JoinHostPort("::1", strconv.Itoa(four.Addr().(*net.TCPAddr).Port))); err == nil {
		list = append(list, six)
	}
	return list, nil
}
