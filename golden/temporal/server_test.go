//go:build unix

package temporal

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"
)

// devServer is a Temporal server, a process of its own: that of Temporal's command line tool, in which all its services are.
type devServer struct {
	cmd       *exec.Cmd
	in        io.Closer // the server is killed when it is closed, by whom ever
	says      bytes.Buffer
	grpc, web int
	db        string // a file; "": in memory
	namespace string
}

// killed starts the program that follows and kills it when standard input ends, as it does with the test's process.
const killed = `"$@" & p=$!; cat >/dev/null; kill -9 $p; wait $p`

// start starts the server, again on the same ports, and returns when it serves the namespace.
func (s *devServer) start() error {
	var err error
	again := s.grpc != 0
	for range 5 { // somebody else may take a port in between
		if !again {
			if s.grpc, s.web, err = ports(); err != nil {
				return err
			}
		}
		args := []string{"-c", killed, "sh", os.Getenv("TEMPORAL_SERVER"), "server", "start-dev", "--headless", "--log-level", "error", "--ip", "127.0.0.1",
			"--namespace", s.namespace, "--port", strconv.Itoa(s.grpc), "--http-port", strconv.Itoa(s.web)}
		if s.db != "" {
			args = append(args, "--db-filename", s.db)
		}
		s.cmd = exec.Command("sh", args...)
		s.says.Reset()
		s.cmd.Stdout, s.cmd.Stderr = &s.says, &s.says
		if s.in, err = s.cmd.StdinPipe(); err != nil {
			return err
		}
		if err = s.cmd.Start(); err != nil {
			return err
		}
		if err = s.ready(); err == nil {
			return nil
		}
		s.kill()
	}
	return fmt.Errorf("the server does not serve: %w\n%s", err, s.says.String())
}

func (s *devServer) ready() (err error) {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		var r *http.Response
		if r, err = http.Get(fmt.Sprintf("http://127.0.0.1:%d/api/v1/namespaces/%s", s.web, s.namespace)); err == nil {
			_ = r.Body.Close()
			if r.StatusCode == http.StatusOK {
				return nil
			}
			err = fmt.Errorf("status %s", r.Status)
		}
	}
	return err
}

// kill kills the server and waits until it is dead.
func (s *devServer) kill() {
	_ = s.in.Close()
	_ = s.cmd.Wait()
}

// environ says where the server is.
func (s *devServer) environ() []string {
	return []string{"TEMPORAL_ADDRESS=127.0.0.1:" + strconv.Itoa(s.grpc), "TEMPORAL_NAMESPACE=" + s.namespace}
}

// ports are two that nobody listens at.
func ports() (a, b int, err error) {
	var l [2]net.Listener
	for i := range l {
		if l[i], err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return 0, 0, err
		}
		defer func() { _ = l[i].Close() }()
	}
	return l[0].Addr().(*net.TCPAddr).Port, l[1].Addr().(*net.TCPAddr).Port, nil
}

// served skips a test that needs the server where there is none.
func served(t *testing.T) {
	t.Helper()
	if server == nil {
		t.Skip("TEMPORAL_SERVER is not set: make temporal runs this test")
	}
}
