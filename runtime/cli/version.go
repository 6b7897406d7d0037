package cli

import (
	"runtime/debug"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/flow"
)

const modulePath = "github.com/flowgen-dev/flowgen"

func versionCommand(s *system, info *flow.Info, args []string) int {
	set := newFlagSet()
	rest, err := parseFlags(set, args)
	switch {
	case isHelp(err):
		return s.print(help(info))
	case err != nil:
		s.complain(flagMistake([]string{"help"}, err))
		return ExitUsage
	case len(rest) > 0:
		s.complain(mistake{"unexpected argument " + rest[0], ""})
		return ExitUsage
	}
	build, _ := debug.ReadBuildInfo()
	return s.print(versionText(info, build))
}

// versionText says what a report about the program needs to name.
func versionText(info *flow.Info, build *debug.BuildInfo) string {
	rows := [][2]string{{"source", safe(info.Source)}}
	name := safe(info.Name)
	if build == nil {
		return name + "\n"
	}
	if v := build.Main.Version; v != "" {
		name += " " + safe(v)
	}
	for _, m := range append([]*debug.Module{&build.Main}, build.Deps...) {
		if m.Path == modulePath {
			version := m.Version
			if m.Replace != nil {
				version = strings.TrimSpace(version + " (replaced)")
			}
			rows = append(rows, [2]string{"flowgen", safe(version)})
		}
	}
	for _, setting := range build.Settings {
		if setting.Key == "vcs.revision" {
			rows = append(rows, [2]string{"revision", safe(setting.Value)})
		}
	}
	rows = append(rows, [2]string{"go", safe(build.GoVersion)})
	var b strings.Builder
	b.WriteString(name + "\n")
	table(&b, rows)
	return b.String()
}
