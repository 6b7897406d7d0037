package httptool

import (
	"errors"
	"net/http"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// A Client carries the requests of a protocol that runs on top of HTTP, with the credentials, the guard on addresses
// and the errors of this package. It follows no redirects. It is safe for concurrent use.
type Client struct{ c *config }

// NewClient makes a client. Of the options those about authentication and addresses count.
func NewClient(o ...Option) *Client { return &Client{newConfig(o)} }

// Secrets names the secrets that authenticate.
func (c *Client) Secrets() []string {
	var names []string
	for _, a := range c.c.auth {
		names = append(names, a.secret)
	}
	return names
}

// HeaderOf returns the headers that authenticate. values are those of Secrets, in their order.
func (c *Client) HeaderOf(values []string) (http.Header, error) {
	h := http.Header{"User-Agent": userAgent}
	for i, cred := range c.c.auth {
		if err := cred.set(h, values[i]); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// RoundTrip implements http.RoundTripper. Addresses that are neither public nor allowed are not connected to.
func (c *Client) RoundTrip(req *http.Request) (*http.Response, error) {
	return way{c.c.policy, c.c.transport}.RoundTrip(req)
}

// Failed is the tool error of a request that got no response: POLICY_DENIED for a refused address, TIMEOUT for a passed
// deadline, else NETWORK_ERROR. Of a cancelled request it is the context's error.
func (c *Client) Failed(req *http.Request, err error) error {
	return c.exchange(req, nil).failed(err)
}

// Refused is the tool error of a response whose status is not 2xx. It reads the beginning of the body.
func (c *Client) Refused(req *http.Request, resp *http.Response) *value.ToolError {
	var te *value.ToolError
	errors.As(c.exchange(req, resp).refused(), &te)
	return te
}

func (c *Client) exchange(req *http.Request, resp *http.Response) *exchange {
	return &exchange{config: c.c, outer: req.Context(), ctx: req.Context(), method: req.Method, url: req.URL, resp: resp}
}
