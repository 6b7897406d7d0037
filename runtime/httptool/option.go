package httptool

import (
	"net/http"
	"sync/atomic"

	"github.com/flowgen-dev/flowgen/runtime/flow"
)

// Option configures a tool.
type Option func(*config)

// config is what the calls of one tool share.
type config struct {
	auth      []credential
	maxOutput int64
	preview   int
	html      bool
	closed    bool
	accept    []string
	allow     []string
	base      string // an environment variable; empty: none
	tool      []flow.ToolOption
	transport *http.Transport
	policy    *policy
	ready     atomic.Pointer[ready]
}

// credential is a header whose value comes from a secret.
type credential struct {
	header, secret string
	format         func(secret string) (string, bool)
}

func newConfig(opts []Option) *config {
	c := &config{maxOutput: DefaultMaxOutput, preview: DefaultPreview}
	for _, o := range opts {
		o(c)
	}
	c.policy = newPolicy(c.allow)
	if c.transport == nil {
		c.transport = transportFor(c.policy)
	}
	return c
}

// Bearer sends the secret of that name as Authorization: Bearer.
func Bearer(secret string) Option {
	return authenticate(credential{"Authorization", secret, bearer})
}

// Basic sends the secret of that name, which must be user:password, as
// Authorization: Basic.
func Basic(secret string) Option {
	return authenticate(credential{"Authorization", secret, basic})
}

// HeaderAuth sends the secret of that name as the value of a header.
func HeaderAuth(header, secret string) Option {
	return authenticate(credential{http.CanonicalHeaderKey(header), secret, nil})
}

func authenticate(cred credential) Option {
	return func(c *config) {
		c.auth = append(c.auth, cred)
		c.tool = append(c.tool, flow.Secrets(cred.secret))
	}
}

// MaxOutput bounds the response's body in bytes, before and after decompression.
func MaxOutput(bytes int64) Option {
	return func(c *config) {
		if bytes > 0 {
			c.maxOutput = bytes
		}
	}
}

// Allow names addresses that are not public and may be reached all the same:
// "loopback", "private", an address, a CIDR range, or a host name, which allows
// whatever that host resolves to. Metadata services must be named by their very
// address. Entries that are none of these allow nothing.
func Allow(entries ...string) Option {
	return func(c *config) { c.allow = append(c.allow, entries...) }
}

// HTMLToText makes a Text tool turn HTML responses into plain text: without
// markup, scripts and styles, one line per block. Other responses stay as they are.
func HTMLToText() Option { return func(c *config) { c.html = true } }

// RefuseUnknown makes a JSON tool refuse responses with fields that its type
// does not have, instead of leaving those out.
func RefuseUnknown() Option { return func(c *config) { c.closed = true } }

// PreviewBytes sets how many bytes of text Preview keeps.
func PreviewBytes(bytes int) Option {
	return func(c *config) {
		if bytes > 0 {
			c.preview = bytes
		}
	}
}

// Tool passes options of the runtime on.
func Tool(o ...flow.ToolOption) Option {
	return func(c *config) { c.tool = append(c.tool, o...) }
}
