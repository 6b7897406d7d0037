package yamlgraph

import (
	"fmt"

	"github.com/flowgen-dev/flowgen/runtime/dotenv"
)

// LoadEnv sets the variables of the file .env in the working directory that are not set yet, which functions and commands
// of a graph then see. Without the file nothing is set.
func LoadEnv() error {
	if err := dotenv.Load(".env"); err != nil {
		return fmt.Errorf(".env: %w", err)
	}
	return nil
}
