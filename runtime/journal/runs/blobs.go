package runs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/flowgen-dev/flowgen/runtime"
	"github.com/flowgen-dev/flowgen/runtime/blob"
	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
)

// large is the size from which an input or output is in a file of its own, so that a journal can be read and compared
// by people.
var large = 64 << 10 // a variable for tests

// blobRef is in a line for a value that is kept next to it.
type blobRef struct {
	Blob  string `json:"$blob"` // SHA-256
	Bytes int    `json:"bytes"`
}

// blobs are the files of values that one engine has made sure of. Files are written one after the other: two calls may
// have the same value at the same time.
type blobs struct {
	mu   sync.Mutex
	kept map[string]bool
	lost error // of the first file that could not be written. A later sync of it may succeed, and promises nothing
}

// keep writes a large value into its file and returns what stands for it. Unless the folder promises nothing about crashes
// of the machine it is on the disk then, whatever the call: a later line that has to be on the disk takes all lines before
// it there, and they must not name files that are lost.
func (e *Engine) keep(value []byte) ([]byte, error) {
	sum := sha256.Sum256(value)
	ref, err := json.Marshal(blobRef{hex.EncodeToString(sum[:]), len(value)})
	if err != nil {
		return nil, err
	}
	dir := e.folder.Blobs(e.id)
	name := filepath.Join(dir, hex.EncodeToString(sum[:]))
	e.blobs.mu.Lock()
	defer e.blobs.mu.Unlock()
	if e.blobs.kept[name] {
		return ref, nil
	}
	if e.blobs.lost == nil && len(e.blobs.kept) == 0 {
		e.blobs.lost = errors.Join(e.folder.mkdir(dir, true), plainFolder(dir))
	}
	if e.blobs.lost == nil {
		e.blobs.lost = e.folder.write(name, value)
	}
	if e.blobs.lost != nil {
		return nil, e.blobs.lost
	}
	if e.blobs.kept == nil {
		e.blobs.kept = map[string]bool{}
	}
	e.blobs.kept[name] = true
	return ref, nil
}

// write makes a file, unless there is one that is the same already, which may not be on the disk yet.
func (f *Folder) write(name string, value []byte) error {
	disk := f.opts.Disk
	old, err := disk.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := disk.Append(name)
	if err != nil {
		return err
	}
	if !bytes.Equal(old, value) {
		if len(old) > 0 { // a crash has torn it
			err = file.Truncate(0)
		}
		if err == nil {
			_, err = file.Write(value)
		}
	}
	if err == nil && f.opts.Sync == Effect {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil && f.opts.Sync == Effect {
		err = disk.SyncDir(filepath.Dir(name))
	}
	return err
}

// mkdir makes a folder that only the user of the program can read, and those above it, which are on the disk then where
// crashes of the machine matter; with durable this one too.
func (f *Folder) mkdir(dir string, durable bool) error {
	above := filepath.Dir(dir)
	err := f.opts.Disk.Mkdir(dir)
	if errors.Is(err, fs.ErrNotExist) && above != dir {
		if err = f.mkdir(above, true); err == nil {
			err = f.opts.Disk.Mkdir(dir)
		}
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err == nil && durable && f.opts.Sync == Effect:
		return f.opts.Disk.SyncDir(above)
	}
	return wal.Unusable(err)
}

var blobMark = []byte(`{"$blob":"`)

// maxInline bounds the values that a journal refers to, in bytes: a line of a hundred bytes can name a gibibyte, and so can
// the next one.
var maxInline = 1 << 30 // a variable for tests

// inline puts the values back into a line that refers to them. held counts their bytes.
func (f *Folder) inline(id string, line []byte, held *int) ([]byte, error) {
	if !bytes.Contains(line, blobMark) || !isCall(line) {
		return line, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(line, &fields); err != nil {
		return nil, err
	}
	for _, name := range []string{"input", "output"} {
		var ref blobRef
		if v := fields[name]; !bytes.HasPrefix(v, blobMark) || json.Unmarshal(v, &ref) != nil || !isRef(v, ref) {
			continue
		}
		value, err := f.blob(id, ref)
		if err != nil {
			return nil, err
		}
		if *held += len(value); *held > maxInline {
			return nil, tooMuch()
		}
		at := bytes.Index(line, fields[name])
		line = bytes.Join([][]byte{line[:at], value, line[at+len(fields[name]):]}, nil)
	}
	return line, nil
}

func tooMuch() error {
	return fmt.Errorf("the values of the journal are too large: the limit is %d bytes", maxInline)
}

// isCall reports whether a line is about a call: the input and the output of a run are in its lines.
func isCall(line []byte) bool {
	return bytes.HasPrefix(line, []byte(`{"kind":"intent"`)) || bytes.HasPrefix(line, []byte(`{"kind":"end"`))
}

// isRef tells a reference from a value of a tool that looks like one: those are kept in files, whatever their size.
func isRef(v []byte, ref blobRef) bool {
	again, err := json.Marshal(ref)
	return err == nil && bytes.Equal(again, v) && len(ref.Blob) == sha256.Size*2
}

func (f *Folder) blob(id string, ref blobRef) ([]byte, error) {
	if _, err := hex.DecodeString(ref.Blob); err != nil || filepath.Base(ref.Blob) != ref.Blob {
		return nil, fmt.Errorf("%q names no blob", ref.Blob)
	}
	value, err := f.opts.Disk.ReadFile(filepath.Join(f.Blobs(id), ref.Blob))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("blob %s is missing", ref.Blob)
	}
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(value); hex.EncodeToString(sum[:]) != ref.Blob {
		return nil, fmt.Errorf("blob %s is damaged", ref.Blob)
	}
	return value, nil
}

// blobPart returns a part of a value that is kept beside the journal, and its size. Its sum is not compared: that would read all of it.
func (f *Folder) blobPart(id string, ref blobRef, at, n int64) ([]byte, int64, error) {
	if _, err := hex.DecodeString(ref.Blob); err != nil || filepath.Base(ref.Blob) != ref.Blob {
		return nil, 0, fmt.Errorf("%q names no blob", ref.Blob)
	}
	part, size, err := wal.ReadRange(f.opts.Disk, filepath.Join(f.Blobs(id), ref.Blob), max(at, 0), n)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, fmt.Errorf("blob %s is missing", ref.Blob)
	}
	return part, size, err
}

// store is where large outputs of a run are kept: next to its journal, and removed with it.
type store struct {
	once sync.Once
	kept *blob.Store
	err  error
}

// Create implements runtime.Blobs: outputs beyond the bound of their tool are kept with the run, unless the program has
// another store for them. Those of runs in a folder have the URLs of their files, others those that Attachment reads.
func (e *Engine) Create(ctx context.Context, tenant, contentType string) (runtime.Blob, error) {
	s := &e.store
	s.once.Do(func() {
		dir := e.folder.Blobs(e.id)
		if e.folder.opts.Disk != wal.OS {
			return
		}
		if s.err = errors.Join(e.folder.mkdir(dir, true), plainFolder(dir)); s.err == nil {
			s.kept, s.err = blob.Open(dir)
		}
	})
	switch {
	case s.err != nil:
		return nil, s.err
	case s.kept == nil:
		return &attachment{folder: e.folder, run: e.id, tenant: blob.Folder(tenant)}, nil
	}
	return s.kept.Create(ctx, tenant, contentType)
}

func (s *store) close() error {
	s.once.Do(func() { s.err = errors.New("the run has ended") })
	if s.kept == nil {
		return nil
	}
	return s.kept.Close()
}

// An attachment is a large output of a run that is on another disk than the operating system's. It is in memory until it is complete:
// runtime.MaxBlob bytes at most.
type attachment struct {
	folder      *Folder
	run, tenant string
	content     bytes.Buffer
	ended       bool
}

const attachmentScheme = "run:"

func (a *attachment) Write(p []byte) (int, error) { return a.content.Write(p) }

// Commit implements runtime.Blob.
func (a *attachment) Commit() (string, error) {
	if a.ended {
		return "", errors.New("the blob is ended")
	}
	a.ended = true
	sum := sha256.Sum256(a.content.Bytes())
	name := a.tenant + "/" + hex.EncodeToString(sum[:])
	if err := a.folder.write(filepath.Join(a.folder.Blobs(a.run), filepath.FromSlash(name)), a.content.Bytes()); err != nil {
		return "", err
	}
	return attachmentScheme + a.run + "/" + name, nil
}

// Abort implements runtime.Blob.
func (a *attachment) Abort() { a.ended = true }

// Attachment reads a large output of a run that is in no folder, by its URL, which is run:RUN/TENANT/SHA-256. It is fs.ErrNotExist for
// anything else.
func (f *Folder) Attachment(address string) ([]byte, error) {
	rest, ok := strings.CutPrefix(address, attachmentScheme)
	if !ok {
		return nil, fs.ErrNotExist
	}
	run, name, _ := strings.Cut(rest, "/")
	tenant, sum, _ := strings.Cut(name, "/")
	if _, err := hex.DecodeString(sum); err != nil || len(sum) != hex.EncodedLen(sha256.Size) || !isID(run) || strings.Trim(tenant, tenantLetters) != "" || tenant == "" {
		return nil, fs.ErrNotExist
	}
	content, err := f.opts.Disk.ReadFile(filepath.Join(f.Blobs(run), tenant, sum))
	if err != nil {
		return nil, err
	}
	if got := sha256.Sum256(content); hex.EncodeToString(got[:]) != sum {
		return nil, fmt.Errorf("attachment %s is damaged", address)
	}
	return content, nil
}

// tenantLetters are those of the folders of tenants, see blob.Folder.
const tenantLetters = "abcdefghijklmnopqrstuvwxyz0123456789-_"

// plainFolder refuses the link that a run from elsewhere may have in place of a folder: it would lead out of the run.
func plainFolder(dir string) error {
	if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
		return fmt.Errorf("%s is not a folder", dir)
	}
	return nil
}
