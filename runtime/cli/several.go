package cli

import (
	"encoding/json"
	"os"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/serving"
)

// Serve is the main of a program with several workflows, which has the verbs serve and mcp. It ends the process.
func Serve(ws ...*serving.Workflow) {
	os.Exit(serveSeveral(hostSystem(), ws))
}

func serveSeveral(s *system, ws []*serving.Workflow) int {
	defer s.close()
	if len(ws) == 0 || len(s.args) == 0 || s.args[0] != "serve" && s.args[0] != "mcp" {
		s.complain(mistake{"a program of several workflows has the verbs serve and mcp", "other verbs are those of a program with one workflow"})
		return ExitUsage
	}
	info := &flow.Info{Journal: ws[0].Info.Journal} // what they have in common
	for _, w := range ws {
		info.Secrets = append(info.Secrets, w.Info.Secrets...)
	}
	return serveCommand(s, &workflow{info: info, served: ws}, s.args[0], s.args[1:])
}

// responders name the command that answers a question of each workflow.
func (s *system) responders(ws []*serving.Workflow) func(workflow string) string {
	var files []string
	if json.Unmarshal([]byte(s.env("FLOWGEN_FILES")), &files) != nil || len(files) != len(ws) || len(ws) == 1 {
		return func(string) string { return s.again("respond", "") }
	}
	return func(workflow string) string {
		for i, w := range ws {
			if w.Info.Name == workflow {
				return "flowgen respond " + shellWord(files[i]) + " " + s.runs
			}
		}
		return s.again("respond", "")
	}
}

// recorded says what is wrong with workflows whose runs are to be in one folder.
func (k *keepFlags) recorded(s *system, ws []*serving.Workflow) *mistake {
	said := func(w *serving.Workflow) (j flow.Journaling) {
		if w.Info.Journal != nil {
			j = *w.Info.Journal
		}
		if k.dir != "" || s.env("FLOWGEN_RUNS") != "" {
			j.Dir = ""
		}
		if k.sync != "" {
			j.Sync = ""
		}
		return j
	}
	for _, w := range ws[1:] {
		if said(w) != said(ws[0]) {
			return &mistake{"the workflows " + ws[0].Info.Name + " and " + w.Info.Name + " say differently how runs are recorded", "say it for all with --runs and --sync"}
		}
	}
	return nil
}
