//go:build unix

package mcptool

import (
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// TestResource: a resource is read from both kinds of servers, and one that is not there or has no text is an error.
func TestResource(t *testing.T) {
	both(t, func(t *testing.T, s *Server) {
		if got, err := invoke(t, Resource("w.rows@1", s, "test://rows"), empty{}); err != nil || got != "[1,\n2]" {
			t.Error(got, err)
		}
		_, err := invoke(t, Resource("w.empty@1", s, "test://empty"), empty{})
		wantError(t, err, value.ValidationError, "has no text")
		_, err = invoke(t, Resource("w.none@1", s, "test://none"), empty{})
		wantError(t, err, value.ValidationError, "Resource not found")
	})
}
