package std

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/value"
)

// The bounds of files: bytes that are read, and names that are listed.
const (
	maxFile  = 1_000_000
	maxNames = 500
)

// root is the folder that tools see: what the environment variable STARGRAPH_TOOLS_FS_ROOT names, else the working directory.
func root() (string, error) {
	name := strings.TrimSpace(os.Getenv("STARGRAPH_TOOLS_FS_ROOT"))
	if name == "" {
		name = "."
	}
	name, err := filepath.Abs(name)
	if err == nil {
		name, err = filepath.EvalSymlinks(name)
	}
	return name, err
}

// Place is the entire name of a file in the folder that tools see, its links followed. A name that leads out of it is
// POLICY_DENIED.
func Place(name string) (full string, err error) {
	dir, err := root()
	if err != nil {
		return "", value.Errorf(value.ProviderError, "the folder of the tools: %s", reason(err))
	}
	if full = filepath.FromSlash(name); !filepath.IsAbs(full) {
		full = filepath.Join(dir, full)
	}
	if full, err = filepath.EvalSymlinks(full); err != nil {
		return "", value.Errorf(value.ProviderError, "%s: %s", name, reason(err))
	}
	if rel, err := filepath.Rel(dir, full); err != nil || !filepath.IsLocal(rel) {
		return "", value.Errorf(value.PolicyDenied, "%q is not inside of %s: STARGRAPH_TOOLS_FS_ROOT names another folder", name, dir)
	}
	return full, nil
}

// inside opens the folder that tools see: no name leads out of it, and no link. full is the entire name of the file.
func inside(name string, do func(root *os.Root, at, full string) error) error {
	dir, err := root()
	if err != nil {
		return value.Errorf(value.ProviderError, "the folder of the tools: %s", reason(err))
	}
	r, err := os.OpenRoot(dir)
	if err != nil {
		return value.Errorf(value.ProviderError, "the folder of the tools: %s", reason(err))
	}
	defer func() { _ = r.Close() }()
	clean := filepath.FromSlash(path.Clean(filepath.ToSlash(name)))
	if filepath.IsAbs(clean) {
		if rel, err := filepath.Rel(dir, clean); err == nil {
			clean = rel
		}
	}
	if name == "" || !filepath.IsLocal(clean) {
		return value.Errorf(value.PolicyDenied, "%q is not inside of %s: STARGRAPH_TOOLS_FS_ROOT names another folder", name, dir)
	}
	if err := do(r, clean, filepath.Join(dir, clean)); err != nil {
		var te *value.ToolError
		if errors.As(err, &te) {
			return err
		}
		return value.Errorf(value.ProviderError, "%s: %s", name, reason(err))
	}
	return nil
}

func reason(err error) string {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// FileRead reads a text file: {path, content, truncated}. What is not UTF-8 in it is replaced. std.file_read@1.
func FileRead(_ context.Context, name string, maxBytes int64) (out value.Value, err error) {
	err = inside(name, func(root *os.Root, at, full string) error {
		f, err := root.Open(at)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
			return value.Errorf(value.ValidationError, "%s is not a file", name)
		}
		limit := max(1, min(maxBytes, maxFile))
		data, err := io.ReadAll(io.LimitReader(f, limit+1))
		truncated := int64(len(data)) > limit
		if truncated {
			data = data[:limit]
		}
		out = value.Map(text("path", full), text("content", strings.ToValidUTF8(string(data), "\uFFFD")), entry("truncated", value.Bool(truncated)))
		return err
	})
	return out, err
}

func text(key, v string) value.Entry {
	return value.Entry{Key: key, Value: value.String(v)}
}

// FileWrite writes a text file, or adds to it, and makes the folders that it needs: {path, bytes_written}. std.file_write@1.
func FileWrite(_ context.Context, name, content string, add bool) (out value.Value, err error) {
	err = inside(name, func(root *os.Root, at, full string) error {
		for i, c := range at {
			if c == filepath.Separator {
				if err := root.Mkdir(at[:i], 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
					return err
				}
			}
		}
		how := os.O_TRUNC
		if add {
			how = os.O_APPEND
		}
		f, err := root.OpenFile(at, os.O_WRONLY|os.O_CREATE|how, 0o644)
		if err != nil {
			return err
		}
		_, err = f.WriteString(content)
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		out = value.Map(text("path", full), entry("bytes_written", value.Int(int64(len(content)))))
		return err
	})
	return out, err
}

// FileList lists what of a folder a pattern fits: {path, entries: [{name, is_dir, size}], truncated}. std.file_list@1.
func FileList(_ context.Context, name, pattern string) (out value.Value, err error) {
	err = inside(name, func(root *os.Root, at, full string) error {
		if _, err := path.Match(pattern, ""); err != nil || strings.Contains(pattern, "/") {
			return value.Errorf(value.ValidationError, "%q is not a valid file name pattern", pattern)
		}
		list, err := fs.ReadDir(root.FS(), filepath.ToSlash(at))
		if err != nil {
			return err
		}
		var entries []value.Value
		truncated := false
		for _, e := range list {
			if ok, _ := path.Match(pattern, e.Name()); !ok {
				continue
			}
			if truncated = len(entries) >= maxNames; truncated {
				break
			}
			size, isDir := int64(0), e.IsDir()
			if st, err := root.Stat(filepath.Join(at, e.Name())); err == nil {
				if isDir = st.IsDir(); st.Mode().IsRegular() {
					size = st.Size()
				}
			} else if e.Type()&fs.ModeSymlink != 0 {
				continue // it leads out of the folder, or nowhere
			}
			entries = append(entries, value.Map(text("name", e.Name()), entry("is_dir", value.Bool(isDir)), entry("size", value.Int(size))))
		}
		out = value.Map(text("path", full), entry("entries", value.List(entries...)), entry("truncated", value.Bool(truncated)))
		return nil
	})
	return out, err
}
