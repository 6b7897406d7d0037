package stargraph

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// ArtifactsDir is the folder that artifacts are kept in, unless the environment variable STARGRAPH_ARTIFACTS names another.
const ArtifactsDir = ".stargraph/artifacts"

// maxName bounds the part of a file's name that is the artifact's.
const maxName = 100

// WriteText keeps text. The file is named after the content's hash and the name, so that the same content under the same
// name is kept once, and next to it is a file of JSON with what is known of it. The result is
// {artifact_id, name, content_type, content_hash, size, path}.
func WriteText(_ context.Context, content, name, contentType string, metadata value.Value) (value.Value, error) {
	return keep([]byte(content), name, contentType, metadata)
}

// WriteBytes keeps bytes, as WriteText does.
func WriteBytes(_ context.Context, content []byte, name, contentType string, metadata value.Value) (value.Value, error) {
	return keep(content, name, contentType, metadata)
}

// WriteValue keeps a value as JSON, as WriteText does; text in it is kept as it is.
func WriteValue(_ context.Context, content value.Value, name, contentType string, metadata value.Value) (value.Value, error) {
	if content.Kind() == value.StringKind {
		return keep([]byte(content.String()), name, contentType, metadata)
	}
	data, err := content.MarshalJSON()
	if err != nil {
		return value.Value{}, err
	}
	return keep(data, name, contentType, metadata)
}

func keep(content []byte, name, contentType string, metadata value.Value) (value.Value, error) {
	dir := os.Getenv("STARGRAPH_ARTIFACTS")
	if dir == "" {
		dir = filepath.FromSlash(ArtifactsDir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return value.Value{}, value.Errorf(value.ProviderError, "the folder of artifacts: %s", reason(err))
	}
	sum := sha256.Sum256(content)
	hash := hex.EncodeToString(sum[:])
	file := hash[:16] + "-" + fileName(name)
	ref := []value.Entry{
		{Key: "artifact_id", Value: value.String(hash[:16])},
		{Key: "name", Value: value.String(name)},
		{Key: "content_type", Value: value.String(contentType)},
		{Key: "content_hash", Value: value.String("sha256:" + hash)},
		{Key: "size", Value: value.Int(int64(len(content)))},
		{Key: "path", Value: value.String(filepath.ToSlash(filepath.Join(dir, file)))},
	}
	known, err := value.Map(append(ref[:len(ref):len(ref)], value.Entry{Key: "metadata", Value: metadata})...).MarshalJSON()
	if err != nil {
		return value.Value{}, err
	}
	for _, f := range []struct {
		name string
		data []byte
	}{{file, content}, {file + ".meta.json", append(known, '\n')}} {
		if err := write(dir, f.name, f.data); err != nil {
			return value.Value{}, value.Errorf(value.ProviderError, "the artifact %q: %s", name, reason(err))
		}
	}
	return value.Map(ref...), nil
}

// write makes a file appear as a whole.
func write(dir, name string, data []byte) error {
	tmp, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }()
	if _, err = tmp.Write(data); err == nil {
		err = tmp.Chmod(0o644)
	}
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), filepath.Join(dir, name))
}

// fileName is a name that leads nowhere else, on any system.
func fileName(name string) string {
	safe := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
	if safe = strings.TrimLeft(safe, "."); safe == "" {
		safe = "artifact"
	}
	if len(safe) > maxName {
		safe = safe[len(safe)-maxName:]
	}
	return strings.TrimRight(safe, ".")
}

// reason says what is wrong with a file, without its path.
func reason(err error) string {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}
