// Package web makes tools of the http sources of OpenExpertise datasets.
package web

import (
	"net/url"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/httptool"
)

// maxBody bounds a response in bytes.
const maxBody = 64 << 20

// A Request is what a source sends.
type Request struct {
	Method string
	URL    string
	Body   string // empty: none
	JSON   bool   // the body is JSON
}

// Fetch makes a tool of a request, whose result is the body of the response. Its host is reached whatever its address is:
// the experience names it. Errors are those of package httptool.
func Fetch(name string, e flow.Effects, q Request) *flow.Tool[struct{}, string] {
	target := strings.NewReplacer("{", "%7B", "}", "%7D").Replace(q.URL) // it is no template
	opts := []httptool.Option{httptool.MaxOutput(maxBody)}
	if u, err := url.Parse(target); err == nil {
		opts = append(opts, httptool.Allow(u.Hostname()))
		if u.Hostname() == "localhost" {
			opts = append(opts, httptool.Allow("loopback"))
		}
	}
	return httptool.Text(name, e, func(struct{}) httptool.Request {
		out := httptool.Request{Method: q.Method, URL: httptool.URL(target), Header: []httptool.Field{{Name: "Accept", Value: "application/json"}}}
		if q.Body != "" {
			out.Body = httptool.TextBody(q.Body)
		}
		if q.JSON {
			out.Header = append(out.Header, httptool.Field{Name: "Content-Type", Value: "application/json"})
		}
		return out
	}, opts...)
}
