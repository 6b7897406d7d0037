// Command temporal is a Temporal server in one process, with SQLite in memory, for tests. It prints its address and namespace, and
// ends when its standard input does.
package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/server/temporaltest"
)

func main() {
	quiet := log.NewStructuredLogger(slog.New(slog.DiscardHandler))
	s := temporaltest.NewServer(temporaltest.WithBaseClientOptions(client.Options{Logger: quiet}))
	defer s.Stop()
	fmt.Println(s.GetFrontendHostPort(), s.GetDefaultNamespace())
	_, _ = io.Copy(io.Discard, os.Stdin) // whoever started it has ended
}
