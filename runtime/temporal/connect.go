package temporal

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.temporal.io/sdk/temporal"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/cli"
)

const dialTime = 10 * time.Second

// link is what the environment says about the server, and the store of large payloads.
type link struct {
	options client.Options
	store   runtime.Blobs // of attachments, as a codec server encodes them; nil: none
	release func()
}

// configured reads the configuration, as Temporal's own tools read it, and opens the store. Unless ok, the call ends with code.
func configured(c *cli.Call) (l *link, code int, ok bool) {
	o, err := envconfig.LoadClientOptions(envconfig.LoadClientOptionsRequest{IncludeRemoteCodec: true})
	if err != nil {
		return nil, c.Fail(cli.ExitUsage, "Temporal's configuration: "+err.Error(), "check the variables TEMPORAL_... and the configuration file"), false
	}
	o.Logger = logger{c}
	coded := o.DataConverter != nil
	o.DataConverter = Converter(o.DataConverter)
	o.FailureConverter = temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{DataConverter: o.DataConverter,
		EncodeCommonAttributes: coded}) // what a failure says is encoded, too
	store, release, code, ok := c.Blobs()
	if !ok {
		return nil, code, false
	}
	if store != nil {
		o.ExternalStorage, err = Storage(store)
		if err == nil && coded {
			store, err = NewAttachments(store, o.DataConverter)
		}
		if err != nil {
			release()
			return nil, c.Fail(cli.ExitUsage, err.Error(), ""), false
		}
	}
	return &link{o, store, release}, cli.ExitOK, true
}

// stored reports whether large payloads have a store.
func (l *link) stored() bool { return len(l.options.ExternalStorage.Drivers) > 0 }

// dial connects to the server. Unless ok, the call ends with code.
func (l *link) dial(ctx context.Context, c *cli.Call) (cl client.Client, code int, ok bool) {
	ctx, stop := context.WithTimeout(ctx, dialTime)
	defer stop()
	cl, err := client.DialContext(ctx, l.options)
	if err != nil {
		address := l.options.HostPort
		if address == "" {
			address = client.DefaultHostPort
		}
		return nil, c.Fail(cli.ExitFault, "no Temporal server answers at "+address+": "+err.Error(), "TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE say where it is"), false
	}
	return cl, cli.ExitOK, true
}

// connected calls f with a client.
func (m *commands) connected(c *cli.Call, f func(context.Context, client.Client) int) int {
	l, code, ok := configured(c)
	if !ok {
		return code
	}
	defer l.release()
	ctx, end := c.Context()
	defer end()
	cl, code, ok := l.dial(ctx, c)
	if !ok {
		return code
	}
	defer cl.Close()
	return f(ctx, cl)
}

// logger shows warnings and errors of the SDK.
type logger struct{ c *cli.Call }

func (logger) Debug(string, ...any)          {}
func (logger) Info(string, ...any)           {}
func (l logger) Warn(msg string, kv ...any)  { l.c.Say("warning: " + line(msg, kv)) }
func (l logger) Error(msg string, kv ...any) { l.c.Say("error: " + line(msg, kv)) }

// line is what is shown of an entry. Of a history that does not fit the program it says which node differs and what to do.
func line(msg string, kv []any) string {
	run := ""
	for i := 0; i+1 < len(kv); i += 2 {
		if kv[i] == "WorkflowID" {
			run = fmt.Sprint(kv[i+1])
		}
	}
	for i := 0; i+1 < len(kv); i += 2 {
		if kv[i] != "Error" {
			continue
		}
		if says, ok := isUndecoded(fmt.Sprint(kv[i+1])); ok {
			return "run " + run + " does not continue here: " + says + "; " + sameCodec
		}
		if says, ok := differs(fmt.Sprint(kv[i+1])); ok {
			return "run " + run + " does not continue with this program: " + says + "; " + anew
		}
		switch key := fmt.Sprint(kv[i]); key {
		case "Error", "error", "WorkflowID", "ActivityID":
			msg += fmt.Sprintf(" %s=%v", key, kv[i+1])
		}
	}
	return strings.ReplaceAll(msg, "\n", " ")
}
