package sirenspec

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/flowgen-dev/flowgen/runtime/dotenv"
)

// LoadEnv sets the variables of a file that are not set yet. The file is beside the workflow when flowgen runs it, and else
// in the working directory; without one nothing is set.
func LoadEnv(name string) error {
	if file := os.Getenv("FLOWGEN_FILE"); file != "" && !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(file), name)
	}
	if err := dotenv.Load(name); err != nil {
		return fmt.Errorf("env_file: %w", err)
	}
	return nil
}
