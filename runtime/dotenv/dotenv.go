// Package dotenv reads files of variables, as python-dotenv does.
package dotenv

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"syscall"
)

const maxFile = 1 << 20 // bytes

// Load sets the variables of a file that the environment does not have yet. Without the file nothing is set. It changes
// the environment of the process: call it before anything else reads it.
func Load(name string) error { return LoadWith(name, assignment) }

// LoadWith is Load with a reader of lines that knows other rules: it gives what a line assigns to which variable, or false
// for a line that assigns nothing.
func LoadWith(name string, assignment func(line string) (key, value string, ok bool)) error {
	f, err := os.Open(name)
	return load(f, err, assignment)
}

// LoadIn is LoadWith for the name of a file below a folder, which neither the name nor a link leads out of.
func LoadIn(dir, name string, assignment func(line string) (key, value string, ok bool)) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // opening a pipe waits otherwise
	return load(f, err, assignment)
}

func load(f *os.File, err error, assignment func(line string) (key, value string, ok bool)) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil && !st.Mode().IsRegular() {
		return errors.New("it is not a regular file")
	}
	lines := bufio.NewScanner(io.LimitReader(f, maxFile))
	lines.Buffer(nil, maxFile)
	for lines.Scan() {
		key, value, ok := assignment(strings.TrimPrefix(lines.Text(), "\uFEFF"))
		if _, set := os.LookupEnv(key); !ok || set {
			continue
		}
		if err := os.Setenv(key, value); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return nil
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.]*$`)

// assignment reads a line as python-dotenv does: KEY=value, perhaps after export, in quotes or with a comment.
func assignment(line string) (key, value string, ok bool) {
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' {
		return "", "", false
	}
	line = strings.TrimSpace(strings.TrimPrefix(line, "export "))
	key, value, ok = strings.Cut(line, "=")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	if key = strings.Trim(key, "'"); !ok || !variableName.MatchString(key) {
		return "", "", false
	}
	if value != "" && (value[0] == '"' || value[0] == '\'') {
		q := value[:1]
		if inner, _, closed := strings.Cut(strings.ReplaceAll(value[1:], `\`+q, "\x00"), q); closed {
			inner = strings.ReplaceAll(inner, "\x00", q)
			if q == `"` {
				inner = strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\t`, "\t", `\\`, `\`).Replace(inner)
			}
			return key, inner, true
		}
	}
	if i := strings.Index(value, " #"); i >= 0 {
		value = strings.TrimSpace(value[:i])
	}
	return key, value, true
}
