package runs

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/flowgen-dev/flowgen/runtime/journal/wal"
)

// large is the size from which an input or output stands in a file of its own, so that a journal can be read and compared
// by people.
const large = 64 << 10

// blobRef stands in a line for a value that is kept beside it.
type blobRef struct {
	Blob  string `json:"$blob"` // SHA-256
	Bytes int    `json:"bytes"`
}

// keep writes a large value into its file and returns what stands for it. With durable it is on the disk then.
func (f *Folder) keep(id string, value []byte, durable bool) ([]byte, error) {
	sum := sha256.Sum256(value)
	ref, err := json.Marshal(blobRef{hex.EncodeToString(sum[:]), len(value)})
	if err != nil {
		return nil, err
	}
	dir := f.Blobs(id)
	name := filepath.Join(dir, hex.EncodeToString(sum[:]))
	old, err := f.opts.Disk.ReadFile(name)
	if err == nil && bytes.Equal(old, value) {
		return ref, nil
	}
	if err := f.mkdir(dir); err != nil {
		return nil, err
	}
	file, err := f.opts.Disk.Append(name)
	if err != nil {
		return nil, err
	}
	if len(old) > 0 { // a crash has torn it
		err = file.Truncate(0)
	}
	if err == nil {
		_, err = file.Write(value)
	}
	if err == nil && durable {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil && durable {
		err = f.opts.Disk.SyncDir(dir)
		if err == nil {
			err = f.opts.Disk.SyncDir(filepath.Dir(dir)) // it may be the first blob of the run
		}
	}
	return ref, err
}

// mkdir makes a folder that only the user of the program can read. A simulated disk has no folders.
func (f *Folder) mkdir(dir string) error {
	if f.opts.Disk != wal.OS {
		return nil
	}
	return os.MkdirAll(dir, 0o700)
}

var blobMark = []byte(`{"$blob":"`)

// inline puts the values back into a line that refers to them.
func (f *Folder) inline(id string, line []byte) ([]byte, error) {
	if !bytes.Contains(line, blobMark) {
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
		at := bytes.Index(line, fields[name])
		line = bytes.Join([][]byte{line[:at], value, line[at+len(fields[name]):]}, nil)
	}
	return line, nil
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
