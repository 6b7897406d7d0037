package temporal_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/temporal"
)

// memory is a store of large outputs. full makes it refuse.
type memory struct {
	kept map[string][]byte
	full bool
}

type writing struct {
	bytes.Buffer
	m *memory
}

func (m *memory) Create(context.Context, string, string) (runtime.Blob, error) {
	return &writing{m: m}, nil
}

func (w *writing) Commit() (string, error) {
	if w.m.full {
		return "", fmt.Errorf("no space is left")
	}
	url := fmt.Sprint("memory:", len(w.m.kept))
	w.m.kept[url] = w.Bytes()
	return url, nil
}

func (*writing) Abort() {}

func (m *memory) Read(_, url string) (io.ReadCloser, error) {
	b, ok := m.kept[url]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

// Payloads come back as they were stored, or not at all.
func TestStorage(t *testing.T) {
	m := &memory{kept: map[string][]byte{}}
	s, err := temporal.Storage(m)
	if err != nil {
		t.Fatal(err)
	}
	driver := s.Drivers[0]
	in := []*common.Payload{{Metadata: map[string][]byte{"encoding": []byte("json/plain"), "b": []byte("c")}, Data: []byte(`"large"`)}, {Data: []byte("x")}}
	claims, err := driver.Store(converter.StorageDriverStoreContext{Context: t.Context()}, in)
	if err != nil {
		t.Fatal(err)
	}
	ctx := converter.StorageDriverRetrieveContext{Context: t.Context()}
	out, err := driver.Retrieve(ctx, claims)
	if err != nil || len(out) != 2 || !proto.Equal(out[0], in[0]) || !proto.Equal(out[1], in[1]) {
		t.Errorf("%v, %v", out, err)
	}
	m.kept["memory:1"][0] ^= 1
	if _, err := driver.Retrieve(ctx, claims); err == nil || !strings.Contains(err.Error(), "has been changed") {
		t.Errorf("%v", err)
	}
	claims[1].ClaimData["url"] = "file:///etc/passwd"
	if _, err := driver.Retrieve(ctx, claims); err == nil || !strings.Contains(err.Error(), "the same --blobs") {
		t.Errorf("%v", err)
	}
	m.full = true
	if _, err := driver.Store(converter.StorageDriverStoreContext{Context: t.Context()}, in); err == nil || !strings.Contains(err.Error(), "no space is left") {
		t.Errorf("%v", err)
	}
	if _, err := temporal.Storage(struct{ runtime.Blobs }{m}); err == nil {
		t.Error("a store that cannot be read was taken")
	}
}
