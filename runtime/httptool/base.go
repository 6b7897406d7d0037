package httptool

import (
	"net/url"
	"os"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/internal/plain"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// Base names an environment variable that holds what the tool's URLs go on from: scheme, host and perhaps a path, as
// in https://staging.example.com/v2. It is read at each call. Whoever sets it runs the program, so that its host is reached
// even when its address is not public. A variable that is not set, or holds something else, is a VALIDATION_ERROR.
func Base(variable string) Option { return func(c *config) { c.base = variable } }

// begin is what the URL goes on from, and chooses the transport for it.
func (x *exchange) begin() (string, error) {
	x.via = way{x.policy, x.transport}
	if x.base == "" {
		return "", nil
	}
	text := os.Getenv(x.base)
	if text == "" {
		return "", value.Invalid("environment variable %s (base URL) is not set", plain.Line(x.base, 64))
	}
	u, err := url.Parse(text)
	if err != nil || checkURL(u) != nil || u.RawQuery != "" || u.Fragment != "" || strings.ContainsAny(text, "?#{} \\\t\r\n") {
		return "", value.Invalid("environment variable %s is not a base URL such as https://example.com/v2", plain.Line(x.base, 64))
	}
	p := newPolicy(append(x.allow[:len(x.allow):len(x.allow)], u.Hostname()))
	x.via = way{p, transportFor(p)}
	return strings.TrimRight(text, "/"), nil
}
