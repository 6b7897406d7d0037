package sirenspec

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

const maxEnvFile = 1 << 20 // bytes

// LoadEnv sets the variables of a file that are not set yet. The file is beside the workflow when flowgen runs it, and else
// in the working directory; without one nothing is set.
func LoadEnv(name string) error {
	if file := os.Getenv("FLOWGEN_FILE"); file != "" && !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(file), name)
	}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("env_file: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(io.LimitReader(f, maxEnvFile))
	lines.Buffer(nil, maxEnvFile)
	for lines.Scan() {
		key, value, ok := assignment(strings.TrimPrefix(lines.Text(), "\uFEFF"))
		if _, set := os.LookupEnv(key); !ok || set {
			continue
		}
		if err := os.Setenv(key, value); err != nil {
			return fmt.Errorf("env_file: %s: %w", key, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("env_file: %w", err)
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
