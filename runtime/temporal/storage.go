package temporal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"

	"github.com/flowgen-dev/flowgen/runtime"
)

const (
	// storedFrom is the size from which a payload is kept in the store of large outputs.
	storedFrom = 128 << 10
	// largestPayload is what fits beside the rest of an event: a server refuses payloads of 2 MB.
	largestPayload = 2<<20 - 64<<10
)

// Storage keeps payloads of 128 KiB and more in a store of large outputs, so that the history has only their addresses. It is for
// the options of Temporal's client; Options.Stored says that workers and clients have it. What a codec encrypts, the store has
// encrypted. The store must be one that can be read: those of flowgen can.
func Storage(b runtime.Blobs) (converter.ExternalStorage, error) {
	read, err := readerOf(b)
	if err != nil {
		return converter.ExternalStorage{}, err
	}
	s := &storage{blobs: b, read: read}
	return converter.ExternalStorage{Drivers: []converter.StorageDriver{s}, PayloadSizeThreshold: storedFrom}, nil
}

// storage is the driver of Temporal's SDK over a store of blobs.
type storage struct {
	blobs runtime.Blobs
	read  reader
}

// reader reads what a store has of a tenant.
type reader func(ctx context.Context, tenant, url string) (io.ReadCloser, error)

func readerOf(b runtime.Blobs) (reader, error) {
	switch r := b.(type) {
	case interface {
		Read(ctx context.Context, tenant, url string) (io.ReadCloser, error)
	}:
		return r.Read, nil
	case interface {
		Read(tenant, url string) (io.ReadCloser, error)
	}:
		return func(_ context.Context, tenant, url string) (io.ReadCloser, error) { return r.Read(tenant, url) }, nil
	}
	return nil, fmt.Errorf("a %T cannot be read, so it cannot store payloads", b)
}

// all reads a blob of at most most bytes.
func (read reader) all(ctx context.Context, tenant, url string, most int64) ([]byte, error) {
	r, err := read(ctx, tenant, url)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err = errors.Join(err, r.Close()); err == nil && int64(len(b)) > most {
		err = fmt.Errorf("it has more than %d bytes", most)
	}
	return b, err
}

// Name implements converter.StorageDriver. It is in histories.
func (*storage) Name() string { return "flowgen" }

// Type implements converter.StorageDriver.
func (*storage) Type() string { return "flowgen.blobs" }

// Store implements converter.StorageDriver.
func (s *storage) Store(ctx converter.StorageDriverStoreContext, payloads []*common.Payload) ([]converter.StorageDriverClaim, error) {
	claims := make([]converter.StorageDriverClaim, len(payloads))
	for i, p := range payloads {
		if err := ctx.GetLimiter().Permit(ctx.Context, p, func() error {
			b, err := proto.MarshalOptions{Deterministic: true}.Marshal(p)
			if err != nil {
				return err
			}
			url, err := s.write(ctx.Context, b)
			if err != nil {
				return fmt.Errorf("a payload of %d bytes cannot be kept in the store of large outputs: %w", len(b), err)
			}
			sum := sha256.Sum256(b)
			claims[i] = converter.StorageDriverClaim{ClaimData: map[string]string{"url": url, "sha256": hex.EncodeToString(sum[:])}}
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return claims, nil
}

func (s *storage) write(ctx context.Context, b []byte) (url string, err error) {
	w, err := s.blobs.Create(ctx, "", "application/x-protobuf")
	if err != nil {
		return "", err
	}
	if _, err := w.Write(b); err != nil {
		w.Abort()
		return "", err
	}
	return w.Commit()
}

// Retrieve implements converter.StorageDriver. A history is not trusted: what is read must be what was stored.
func (s *storage) Retrieve(ctx converter.StorageDriverRetrieveContext, claims []converter.StorageDriverClaim) ([]*common.Payload, error) {
	out := make([]*common.Payload, len(claims))
	for i, c := range claims {
		if err := ctx.GetLimiter().Permit(ctx.Context, c, func() error {
			url := c.ClaimData["url"]
			b, err := s.read.all(ctx.Context, "", url, runtime.MaxBlob)
			if err != nil {
				return fmt.Errorf("payload %q is not available in the store of large outputs: %w; workers, start and replay need the same --blobs", url, err)
			}
			sum := sha256.Sum256(b)
			if hex.EncodeToString(sum[:]) != c.ClaimData["sha256"] {
				return fmt.Errorf("payload %q has been changed in the store of large outputs", url)
			}
			out[i] = &common.Payload{}
			return proto.Unmarshal(b, out[i])
		}); err != nil {
			return nil, err
		}
	}
	return out, nil
}
