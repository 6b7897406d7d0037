package sirenspec

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/dotenv"
)

// LoadEnv sets the variables of a file that are not set yet. The file is next to the workflow when flowgen runs it, and else
// in the working directory, or below; neither its name nor a link may lead out of there. Without one flowgen refuses to run
// it, as the engine does; a program that was built goes on.
func LoadEnv(name string) error {
	dir := "."
	file := os.Getenv("FLOWGEN_FILE")
	if file != "" {
		dir = filepath.Dir(file)
	}
	name = filepath.FromSlash(name)
	if !filepath.IsLocal(name) {
		return fmt.Errorf("env_file: %s is outside the folder of the workflow", name)
	}
	if full := filepath.Join(dir, name); file != "" {
		if _, err := os.Lstat(full); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf(".env file not found: %s", full)
		}
	}
	if err := dotenv.LoadIn(dir, name, assignment); err != nil {
		return fmt.Errorf("env_file: %w", err)
	}
	return nil
}

var (
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	comment      = regexp.MustCompile(`\s#`)
)

// assignment reads a line as the engine does: KEY=value, perhaps in quotes, in which nothing has a meaning of its own, or
// with a comment. It may begin with export, which the engine does not know.
func assignment(line string) (key, value string, ok bool) {
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' {
		return "", "", false
	}
	line = strings.TrimSpace(strings.TrimPrefix(line, "export "))
	key, value, ok = strings.Cut(line, "=")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	if !ok || !variableName.MatchString(key) {
		return "", "", false
	}
	if value != "" && (value[0] == '"' || value[0] == '\'') {
		value, _, _ = strings.Cut(value[1:], value[:1])
		return key, value, true
	}
	if at := comment.FindStringIndex(value); at != nil {
		value = strings.TrimSpace(value[:at[0]])
	}
	return key, value, true
}
