package core

import (
	"fmt"
	"os"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/internal/locate"
)

// findNeeds reports the variables and programs that tools need and that are missing, all at once. A replay needs none, and
// neither does a test with fakes.
func (rt *Runtime) findNeeds() error {
	if x, ok := rt.engine.(Executor); ok && !x.Executes() || rt.standIn != nil || rt.fakes != nil {
		return nil
	}
	var missing []string
	for _, v := range rt.info.Env {
		if os.Getenv(v.Name) == "" {
			missing = append(missing, fmt.Sprintf("the environment variable %s (%s), which is not set", v.Name, v.Description))
		}
	}
	for _, c := range rt.info.Programs {
		if place, gone := locate.Missing(c.Name); gone {
			missing = append(missing, fmt.Sprintf("the program %s (%s), which is not at %s; --root or FLOWGEN_ROOT names the folder it is found from", c.Name, c.Description, place))
		}
	}
	if missing == nil {
		return nil
	}
	return fmt.Errorf("workflow %s needs %s", rt.info.Name, strings.Join(missing, ", and "))
}
