package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/sourcegraph/jsonrpc2"
)

type deaf struct{}

func (deaf) Handle(context.Context, *jsonrpc2.Conn, *jsonrpc2.Request) {}

// TestFault: a request whose handler panics is answered with an error that names the report, and the server goes on.
func TestFault(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	methods["test/panic"] = func(*server, *json.RawMessage) (any, error) { panic("a mistake") }
	defer delete(methods, "test/panic")
	here, there := net.Pipe()
	var log bytes.Buffer
	ended := make(chan bool)
	go func() {
		Serve(context.Background(), there, Options{Version: "v0", Log: &log, Find: func() ([]string, error) { return nil, nil },
			Compile: func(string, Inputs) *Result { return &Result{} }, Enter: func(string) error { return nil }})
		close(ended)
	}()
	conn := jsonrpc2.NewConn(context.Background(), jsonrpc2.NewBufferedStream(io.ReadWriteCloser(here), jsonrpc2.VSCodeObjectCodec{}), deaf{})
	ask := func(method string) error {
		var out any
		return conn.Call(context.Background(), method, map[string]any{}, &out)
	}
	if err := ask("initialize"); err != nil {
		t.Fatal(err)
	}
	err := ask("test/panic")
	if err == nil || !strings.Contains(err.Error(), "the report is ") {
		t.Fatalf("the answer is %v", err)
	}
	name := err.Error()[strings.Index(err.Error(), "the report is ")+len("the report is "):]
	if text, err := os.ReadFile(strings.TrimSpace(name)); err != nil || !strings.Contains(string(text), "a mistake") || !strings.Contains(string(text), "report_test.go") {
		t.Errorf("report: %v\n%s", err, text)
	}
	if err := ask("test/panic"); err == nil || !strings.Contains(err.Error(), "log of the server") {
		t.Errorf("the second answer is %v", err)
	}
	if err := ask("shutdown"); err != nil {
		t.Error(err)
	}
	conn.Close()
	<-ended
}
