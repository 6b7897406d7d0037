package sirenspec

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/dynamic"
	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/tool"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// A Recollection is a call of a memory: it reads all values, or with a key writes one.
type Recollection struct {
	Key   string       `json:"key,omitempty"`
	Value *value.Value `json:"value,omitempty"`
}

// Memory makes the tool that keeps values in a folder, each in a file of its own, so that programs that run at the same time
// do not lose each other's. What is older than seconds is gone; 0 keeps it for ever.
func Memory(name, dir string, seconds int64) *flow.Tool[Recollection, value.Value] {
	m := memory{dir, time.Duration(seconds) * time.Second}
	again := flow.OnInDoubt(flow.Doubt{Policy: flow.RetryWithKey}) // to write a value twice is to write it once
	return flow.Bind(name, flow.Writes, func(_ context.Context, r Recollection) (value.Value, error) {
		if r.Key == "" {
			return m.all()
		}
		return value.Null(), m.keep(r.Key, r.Value)
	}, again, tool.Cancellable(), flow.MaxOutput(-1))
}

// Recall reads a memory: it is what placeholders see until something is written.
func Recall(r *flow.Run, n *flow.Node, t *flow.Tool[Recollection, value.Value]) (dynamic.Field, error) {
	v, err := flow.Call(r, n, t, Recollection{})
	return dynamic.Of(v), err
}

// Remember keeps a value that a node has written to memory.
func Remember(r *flow.Run, n *flow.Node, t *flow.Tool[Recollection, value.Value], memory dynamic.Field, key string) error {
	v := memory.At(key).Value()
	_, err := flow.Call(r, n, t, Recollection{Key: key, Value: &v})
	return err
}

// Recalled is Recall as a tool of a workflow of the native language: the values of a folder by their keys, but for those that
// were written more than ttl seconds ago; 0 keeps them for ever.
func Recalled(dir string, ttl int) (value.Value, error) {
	return memory{dir, time.Duration(ttl) * time.Second}.all()
}

// Remembered is Remember as such a tool: v is written at a path of the memory, whose first name is the key. It returns the
// memory with it.
func Remembered(dir string, memory value.Value, path []string, v value.Value) (value.Value, error) {
	if len(path) == 0 {
		return value.Value{}, value.Invalid("a value of a memory has a name")
	}
	return remembered(dir, set(dynamic.Of(memory), dynamic.Of(v), path), path[0])
}

func remembered(dir string, all dynamic.Field, key string) (value.Value, error) {
	v := all.At(key).Value()
	return all.Value(), memory{dir: dir}.keep(key, &v)
}

type memory struct {
	dir string
	ttl time.Duration
}

// A kept value is the content of a file.
type kept struct {
	Key     string      `json:"key"`
	Value   value.Value `json:"value"`
	Written time.Time   `json:"written"`
}

const (
	maxKept   = 16 << 20 // bytes of a file
	maxValues = 10_000
	suffix    = ".json"
)

// all are the values that are not too old, by their keys.
func (m memory) all() (value.Value, error) {
	files, err := os.ReadDir(m.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return value.Value{}, m.fails("read", err)
	}
	var out []value.Entry
	for _, f := range files {
		if !f.Type().IsRegular() || !strings.HasSuffix(f.Name(), suffix) {
			continue
		}
		if len(out) == maxValues {
			return value.Value{}, value.Errorf(value.PolicyDenied, "the memory %s has more than %d values", m.dir, maxValues)
		}
		k, err := m.read(f.Name())
		if err != nil {
			return value.Value{}, err
		}
		if k != nil && (m.ttl == 0 || time.Since(k.Written).Abs() < m.ttl) { // what a clock far ahead has written is too old
			out = append(out, value.Entry{Key: k.Key, Value: k.Value})
		}
	}
	slices.SortFunc(out, func(a, b value.Entry) int { return strings.Compare(a.Key, b.Key) })
	return value.Map(out...), nil
}

// read reads a file, nil when it is gone.
func (m memory) read(name string) (*kept, error) {
	f, err := os.Open(filepath.Join(m.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, m.fails("read", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxKept+1))
	if err != nil {
		return nil, m.fails("read", err)
	}
	var k kept
	if err := json.Unmarshal(text, &k); err != nil || len(text) > maxKept || fileName(k.Key) != name {
		return nil, value.Errorf(value.ValidationError, "%s is not a memory value: remove it", filepath.Join(m.dir, name))
	}
	return &k, nil
}

// keep writes a file, as a whole or not at all.
func (m memory) keep(key string, v *value.Value) error {
	k := kept{Key: key, Written: time.Now().UTC()}
	if v != nil {
		k.Value = *v
	}
	text, err := json.Marshal(k)
	if err != nil {
		return m.fails("written", err)
	}
	if len(text) > maxKept {
		return value.Errorf(value.ValidationError, "memory.%s is larger than %d MiB", key, maxKept>>20)
	}
	if err := os.MkdirAll(m.dir, 0o700); err != nil {
		return m.fails("written", err)
	}
	f, err := os.CreateTemp(m.dir, ".new-*")
	if err != nil {
		return m.fails("written", err)
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(m.dir, fileName(key)))
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return m.fails("written", err)
	}
	return nil
}

func (m memory) fails(what string, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return value.Errorf(value.Unknown, "the memory %s cannot be %s: %v", m.dir, what, err)
}

// fileName is the file of a key: the key itself, as far as every file system takes it, else a hash of it.
func fileName(key string) string {
	plain := len(key) <= 100 && key != ""
	for _, c := range key {
		plain = plain && (c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-')
	}
	if plain {
		return key + suffix
	}
	sum := sha256.Sum256([]byte(key))
	return "=" + hex.EncodeToString(sum[:16]) + suffix
}
