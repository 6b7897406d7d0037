// Package blob keeps what is too large for the output of a tool in a directory:
//
//	store, err := blob.Open(dir)
//	w, err := inbox.New(runtime.WithBlobs(store))
//
// A blob is named by the SHA-256 of its content, in a folder of its tenant: the
// same content is kept once for each tenant, and no tenant can read, or find out
// about, the blob of another. Blobs are written atomically. Nothing is
// removed: URLs in journals and envelopes stay good; when the store is full, new
// blobs are refused.
package blob

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/internal/fileurl"
)

// DefaultMaxBytes is the size of a store that names none: 4 GiB.
const DefaultMaxBytes = 4 << 30

// unfinished ends the names of files that are being written.
const unfinished = ".part"

// Store is a runtime.Blobs in a directory. It is safe for concurrent use.
type Store struct {
	dir  string // absolute
	root *os.Root
	max  int64

	mu   sync.Mutex // guards the following
	size int64      // of all files; what other programs write is counted when the store is opened
}

// Option configures Open.
type Option func(*Store)

// MaxBytes bounds the files of the store together.
func MaxBytes(n int64) Option { return func(s *Store) { s.max = n } }

// Open makes the directory where it is missing. Only the user of the program
// can read what is in it. Files of writes that have died are removed when they
// are a day old.
func Open(dir string, opts ...Option) (*Store, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	s := &Store{dir: dir, root: root, max: DefaultMaxBytes}
	for _, o := range opts {
		o(s)
	}
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return nil // somebody has removed it
		}
		if strings.HasSuffix(name, unfinished) && time.Since(info.ModTime()) > 24*time.Hour {
			return root.Remove(name)
		}
		s.size += info.Size()
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return s, nil
}

// Close releases the directory. Blobs stay.
func (s *Store) Close() error { return s.root.Close() }

// Create implements runtime.Blobs.
func (s *Store) Create(_ context.Context, tenant, _ string) (runtime.Blob, error) {
	folder := Folder(tenant)
	if err := s.root.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	part := path.Join(folder, strconv.FormatUint(rand.Uint64(), 36)+unfinished)
	f, err := s.root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return &writing{store: s, file: f, folder: folder, part: part, sum: sha256.New()}, nil
}

// Read opens a blob of a tenant by the URL that Commit returned. It is
// fs.ErrNotExist for anything else.
func (s *Store) Read(tenant, blobURL string) (io.ReadCloser, error) {
	name := path.Base(blobURL)
	if len(name) != hex.EncodedLen(sha256.Size) || strings.Trim(name, "0123456789abcdef") != "" || blobURL != s.url(Folder(tenant), name) {
		return nil, fs.ErrNotExist
	}
	return s.root.Open(path.Join(Folder(tenant), name))
}

func (s *Store) url(folder, name string) string {
	p := filepath.ToSlash(filepath.Join(s.dir, folder, name))
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // a drive letter
	}
	return fileurl.Of(p)
}

// Folder is the folder of a tenant in a store of blobs: its name where that is harmless, and else a hash of it.
func Folder(tenant string) string {
	switch {
	case tenant == "":
		return "shared"
	case len(tenant) <= 64 && strings.Trim(tenant, "abcdefghijklmnopqrstuvwxyz0123456789-_") == "":
		return "t-" + tenant
	}
	sum := sha256.Sum256([]byte(tenant))
	return "h-" + hex.EncodeToString(sum[:])
}

// reserve takes n bytes of the store's room.
func (s *Store) reserve(n int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.size+n > s.max {
		return fmt.Errorf("the store of %d bytes is full", s.max)
	}
	s.size += n
	return nil
}

func (s *Store) free(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.size -= n
}

// writing is a blob that is being written.
type writing struct {
	store        *Store
	file         *os.File
	folder, part string
	sum          hash.Hash
	size         int64
	ended        bool
}

func (w *writing) Write(p []byte) (int, error) {
	if err := w.store.reserve(int64(len(p))); err != nil {
		return 0, err
	}
	w.size += int64(len(p))
	w.sum.Write(p)
	return w.file.Write(p)
}

// Commit implements runtime.Blob.
func (w *writing) Commit() (string, error) {
	if w.ended {
		return "", errors.New("the blob is ended")
	}
	name := hex.EncodeToString(w.sum.Sum(nil))
	err := errors.Join(w.file.Sync(), w.file.Close())
	target := path.Join(w.folder, name)
	if err == nil {
		if _, e := w.store.root.Lstat(target); e == nil { // the same content is there
			w.ended = true
			w.drop()
			return w.store.url(w.folder, name), nil
		}
		err = w.store.root.Rename(w.part, target)
	}
	w.ended = true
	if err != nil {
		w.drop()
		return "", err
	}
	return w.store.url(w.folder, name), nil
}

// Abort implements runtime.Blob.
func (w *writing) Abort() {
	if w.ended {
		return
	}
	w.ended = true
	_ = w.file.Close() // it goes anyway
	w.drop()
}

func (w *writing) drop() {
	_ = w.store.root.Remove(w.part)
	w.store.free(w.size)
}
