package secret

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

const (
	maxFile = 1 << 20 // of a .env file and of a secret, in bytes

	// recheck is how long a file counts as unchanged.
	recheck = time.Second
)

// File is a file of lines NAME=VALUE, as .env files are; see Parse. It is read
// again when it changes, at most once in a second. A file that is missing or
// cannot be read as a whole holds nothing: Parse says what is wrong with it.
func File(path string) Source { return &file{path: path} }

type file struct {
	path string

	mu      sync.Mutex // guards the following
	checked time.Time
	size    int64
	changed time.Time
	values  map[string]string
}

func (f *file) Secret(tenant, name string) (string, bool) {
	if tenant != "" {
		return "", false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := time.Now(); f.checked.IsZero() || now.Sub(f.checked) >= recheck {
		f.checked = now
		f.read()
	}
	v, ok := f.values[name]
	return v, ok
}

func (f *file) read() {
	info, err := os.Stat(f.path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		f.values, f.changed = nil, time.Time{}
		return
	}
	if info.ModTime().Equal(f.changed) && info.Size() == f.size {
		return
	}
	f.changed, f.size = info.ModTime(), info.Size()
	f.values = nil
	if data, err := readFile(f.path); err == nil {
		f.values, _ = Parse(string(data))
	}
}

func readFile(path string) ([]byte, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return readAll(in)
}

func readAll(in io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("more than %d bytes", maxFile)
	}
	return data, err
}

// Parse reads the text of a .env file: lines NAME=VALUE, perhaps after
// `export`. Empty lines and lines that begin with # are left out. A value in
// single quotes is taken as it is; in double quotes \n, \r, \t, \" and \\ mean
// what they do in Go, and both may go over several lines; any other value ends
// before " #" and the white space around it does not count. Nothing is expanded.
// A name that occurs again is an error, as is every line of another form; no
// error shows a value.
func Parse(text string) (map[string]string, error) {
	values := map[string]string{}
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	for line := 1; text != ""; {
		first, rest, _ := strings.Cut(text, "\n")
		trimmed := strings.TrimSpace(first)
		if trimmed == "" || trimmed[0] == '#' {
			text = rest
			line++
			continue
		}
		name, _, ok := strings.Cut(trimmed, "=")
		name = strings.TrimSpace(strings.TrimPrefix(name, "export "))
		if !ok || !isName(name) {
			return nil, fmt.Errorf("line %d is not NAME=VALUE", line)
		}
		if _, twice := values[name]; twice {
			return nil, fmt.Errorf("line %d sets %s again", line, name)
		}
		from := strings.IndexByte(text, '=') + 1
		value, used, err := parseValue(text[from:])
		if err != nil {
			return nil, fmt.Errorf("line %d: the value of %s %w", line, name, err)
		}
		line += strings.Count(text[:from+used], "\n")
		text = text[from+used:]
		values[name] = value
	}
	return values, nil
}

// parseValue reads a value to the end of its line and returns how long it is.
func parseValue(s string) (value string, used int, err error) {
	begin := len(s) - len(strings.TrimLeft(s, " \t"))
	if begin == len(s) || s[begin] != '"' && s[begin] != '\'' {
		line, _, _ := strings.Cut(s, "\n")
		used = min(len(line)+1, len(s))
		if i := strings.Index(line, " #"); i >= 0 {
			line = line[:i]
		}
		return strings.TrimSpace(line), used, nil
	}
	quote := s[begin]
	var b strings.Builder
	i := begin + 1
	for ; i < len(s) && s[i] != quote; i++ {
		c := s[i]
		if c == '\\' && quote == '"' && i+1 < len(s) {
			if at := strings.IndexByte(`nrt"\`, s[i+1]); at >= 0 {
				c = "\n\r\t\"\\"[at]
				i++
			}
		}
		b.WriteByte(c)
	}
	if i >= len(s) {
		return "", 0, fmt.Errorf("has no closing quote")
	}
	after, _, _ := strings.Cut(s[i+1:], "\n")
	if rest := strings.TrimSpace(after); rest != "" && rest[0] != '#' {
		return "", 0, fmt.Errorf("goes on after its closing quote")
	}
	return b.String(), min(i+1+len(after)+1, len(s)), nil
}

func isName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !(c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || i > 0 && '0' <= c && c <= '9') {
			return false
		}
	}
	return s != ""
}
