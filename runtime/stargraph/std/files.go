package std

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"unicode/utf8"

	"github.com/flowgen-dev/flowgen/runtime"
)

// The bounds of files: bytes that are read, and names that are listed.
const (
	maxFile  = 4 << 20
	maxNames = 10_000
)

// inside opens the working directory: no name leads out of it, and no link.
func inside(name string, do func(root *os.Root, name string) error) error {
	root, err := os.OpenRoot(".")
	if err != nil {
		return runtime.Errorf(runtime.ProviderError, "the working directory: %s", reason(err))
	}
	defer func() { _ = root.Close() }()
	clean := filepath.FromSlash(path.Clean(filepath.ToSlash(name)))
	if name == "" || !filepath.IsLocal(clean) {
		return runtime.Errorf(runtime.PolicyDenied, "%q is not inside of the working directory", name)
	}
	if err := do(root, clean); err != nil {
		var te *runtime.ToolError
		if errors.As(err, &te) {
			return err
		}
		return runtime.Errorf(runtime.ProviderError, "%s: %s", name, reason(err))
	}
	return nil
}

func reason(err error) string {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// FileRead reads a text of the working directory. The result is {path, content, size}. std.file_read@1.
func FileRead(_ context.Context, name string) (out runtime.Value, err error) {
	err = inside(name, func(root *os.Root, at string) error {
		f, err := root.Open(at)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
			return runtime.Errorf(runtime.ValidationError, "%s is no file", name)
		}
		data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
		switch {
		case err != nil:
			return err
		case len(data) > maxFile:
			return runtime.Errorf(runtime.PolicyDenied, "%s is larger than %d MiB", name, maxFile>>20)
		case !utf8.Valid(data):
			return runtime.Errorf(runtime.ValidationError, "%s is no text in UTF-8", name)
		}
		out = runtime.MapValue(text("path", name), text("content", string(data)), runtime.Entry{Key: "size", Value: runtime.IntValue(int64(len(data)))})
		return nil
	})
	return out, err
}

func text(key, value string) runtime.Entry {
	return runtime.Entry{Key: key, Value: runtime.StringValue(value)}
}

// FileWrite writes a text of the working directory, and the folders that it needs. The result is {path, bytes_written}.
// std.file_write@1.
func FileWrite(_ context.Context, name, content string) (out runtime.Value, err error) {
	err = inside(name, func(root *os.Root, at string) error {
		for i, c := range at {
			if c == filepath.Separator {
				if err := root.Mkdir(at[:i], 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
					return err
				}
			}
		}
		f, err := root.Create(at)
		if err != nil {
			return err
		}
		_, err = f.WriteString(content)
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		out = runtime.MapValue(text("path", name), runtime.Entry{Key: "bytes_written", Value: runtime.IntValue(int64(len(content)))})
		return err
	})
	return out, err
}

// FileList lists a folder of the working directory. The result is {path, files}, names with / behind folders.
// std.file_list@1.
func FileList(_ context.Context, name string) (out runtime.Value, err error) {
	err = inside(name, func(root *os.Root, at string) error {
		entries, err := fs.ReadDir(root.FS(), filepath.ToSlash(at))
		if err != nil {
			return err
		}
		if len(entries) > maxNames {
			return runtime.Errorf(runtime.PolicyDenied, "%s has more than %d files", name, maxNames)
		}
		var files []runtime.Value
		for _, e := range entries {
			n := e.Name()
			if e.IsDir() {
				n += "/"
			}
			files = append(files, runtime.StringValue(n))
		}
		out = runtime.MapValue(text("path", name), runtime.Entry{Key: "files", Value: runtime.ListValue(files...)})
		return nil
	})
	return out, err
}
