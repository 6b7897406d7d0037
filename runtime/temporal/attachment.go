package temporal

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/cli"
)

// Attachments is a store of large outputs that has the attachments of calls as a codec encodes them: what encrypts a history encrypts
// them, too. It belongs among Options.Runtime.
type Attachments struct {
	blobs runtime.Blobs
	read  reader
	codec converter.DataConverter
}

// NewAttachments keeps attachments in b, encoded by c, the DataConverter of Temporal's client. b must be a store that can be read, as
// those of flowgen can.
func NewAttachments(b runtime.Blobs, c converter.DataConverter) (*Attachments, error) {
	read, err := readerOf(b)
	return &Attachments{b, read, c}, err
}

// Create implements runtime.Blobs.
func (a *Attachments) Create(ctx context.Context, tenant, _ string) (runtime.Blob, error) {
	w, err := a.blobs.Create(ctx, tenant, "application/x-protobuf")
	if err != nil {
		return nil, err
	}
	return &encoding{to: w, codec: a.codec}, nil
}

// encoding is an attachment that is being written. A codec takes all of it at once.
type encoding struct {
	clear bytes.Buffer
	to    runtime.Blob
	codec converter.DataConverter
}

// Write implements io.Writer.
func (e *encoding) Write(p []byte) (int, error) { return e.clear.Write(p) }

// Commit implements runtime.Blob.
func (e *encoding) Commit() (url string, err error) {
	p, err := e.codec.ToPayload(e.clear.Bytes())
	var b []byte
	if err == nil {
		b, err = proto.MarshalOptions{Deterministic: true}.Marshal(p)
	}
	if err == nil {
		_, err = e.to.Write(b)
	}
	if err != nil {
		e.to.Abort()
		return "", fmt.Errorf("an attachment of %d bytes cannot be encoded: %w", e.clear.Len(), err)
	}
	return e.to.Commit()
}

// Abort implements runtime.Blob.
func (e *encoding) Abort() { e.to.Abort() }

// Read returns an attachment of a tenant as the call gave it.
func (a *Attachments) Read(ctx context.Context, tenant, url string) (io.ReadCloser, error) {
	b, err := a.read.all(ctx, tenant, url, 2*runtime.MaxBlob) // a codec may add to it
	if err != nil {
		return nil, err
	}
	var p common.Payload
	var clear []byte
	if err = proto.Unmarshal(b, &p); err == nil {
		err = a.codec.FromPayload(&p, &clear)
	}
	if err != nil {
		return nil, fmt.Errorf("attachment %q cannot be decoded: %w", url, err)
	}
	return io.NopCloser(bytes.NewReader(clear)), nil
}

// attachment prints one.
func (m *commands) attachment(c *cli.Call) int {
	tenant := ""
	args, code, ok := c.Flags(func(set *flag.FlagSet) { set.StringVar(&tenant, "tenant", "", "") })
	switch {
	case !ok:
		return code
	case len(args) != 1:
		return c.Fail(cli.ExitUsage, "expected the URL of an attachment", "inspect --temporal ID CALL shows it")
	}
	l, code, ok := configured(c)
	if !ok {
		return code
	}
	defer l.release()
	if l.store == nil {
		return c.Fail(cli.ExitUsage, "no store has the attachment", "name that of the workers with --blobs")
	}
	ctx, end := c.Context()
	defer end()
	read, err := readerOf(l.store)
	var b []byte
	if err == nil {
		b, err = read.all(ctx, tenant, args[0], runtime.MaxBlob)
	}
	if err != nil {
		return c.Fail(cli.ExitFault, err.Error(), "the store and the codec must be those of the workers, --tenant that of the run")
	}
	return c.Print(string(b))
}
