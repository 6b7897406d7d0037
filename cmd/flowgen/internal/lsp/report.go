package lsp

import (
	"fmt"
	"os"
	"runtime"
)

// report writes what is known of a panic, which is a mistake of flowgen's own, to a file of the user's, and returns what the client is
// told. The report has the version and the stack, and nothing of what is in files.
func (s *server) report(what string, fault any, stack []byte) error {
	text := fmt.Sprintf("flowgen lsp %s, %s/%s: internal fault while %s: %v\n%s\n", s.opts.Version, runtime.GOOS, runtime.GOARCH, what, fault, stack)
	fmt.Fprint(s.opts.Log, text)
	where := "see the log of the server"
	if !s.reported { // one file says enough
		if f, err := os.CreateTemp("", "flowgen-lsp-*.txt"); err == nil {
			_, err = f.WriteString(text)
			if f.Close() == nil && err == nil {
				s.reported, where = true, "the report is "+f.Name()
			}
		}
	}
	return refusal{codeInternal, fmt.Sprintf("internal fault while %s: %s", what, where)}
}
