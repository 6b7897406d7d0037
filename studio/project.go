package studio

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/cli"
	"github.com/flowgen-dev/flowgen/studio/picture"
)

// aFile is a line of the list of workflows.
type aFile struct {
	File        string          `json:"file"`
	Name        string          `json:"name,omitempty"`
	Description string          `json:"description,omitempty"`
	Dialect     string          `json:"dialect,omitempty"`
	Errors      int             `json:"errors"`
	Warnings    int             `json:"warnings"`
	AtMost      json.RawMessage `json:"at_most,omitempty"`
	Agents      int             `json:"agents"`
	Last        *aRun           `json:"last,omitempty"` // run
	Problem     string          `json:"problem,omitempty"`
}

func (s *Server) project(http.ResponseWriter, *http.Request) (any, error) {
	names, err := s.opts.Project.Files()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, problemf(http.StatusNotFound, "the folder is gone", s.opts.Root+" was moved or removed: start studio where it is now")
	}
	if err != nil {
		return nil, err
	}
	list, err := s.opts.Runs.ListStamped()
	problem := ""
	if err != nil {
		problem = err.Error()
	}
	files := []aFile{}
	for _, name := range names {
		f := aFile{File: name}
		w, err := s.opts.Project.Workflow(name)
		if err != nil {
			f.Problem = err.Error()
			files = append(files, f)
			continue
		}
		f.Name, f.Description, f.Dialect, f.Errors, f.Warnings, f.AtMost, f.Agents = w.Name, w.Description, w.Dialect, w.Errors, w.Warnings, w.AtMost, len(w.Agents)
		for i := range list {
			if list[i].Workflow == w.Name && w.Name != "" {
				last := s.aRun(&list[i])
				s.fill(&last, &list[i])
				f.Last = &last
				break
			}
		}
		files = append(files, f)
	}
	server := ""
	if s.opts.Server != nil {
		server = s.opts.Server.URL
	}
	temporal := ""
	if s.opts.Temporal != nil {
		temporal = s.opts.Temporal.Program
	}
	return map[string]any{"server": server, "temporal": temporal, "root": s.opts.Root, "version": s.opts.Version, "read_only": s.opts.ReadOnly, "no_run": s.opts.NoRun || s.opts.ReadOnly,
		"runs": s.opts.Runs.String(), "problem": problem, "files": files}, nil
}

func (s *Server) workflow(_ http.ResponseWriter, r *http.Request) (any, error) {
	file := r.URL.Query().Get("file")
	if err := s.projectFile(file); err != nil {
		return nil, err
	}
	w, err := s.opts.Project.Workflow(file)
	if err != nil {
		return nil, err
	}
	out := map[string]any{"file": w.File, "name": w.Name, "description": w.Description, "dialect": w.Dialect, "source": w.Source, "diagnostics": w.Diagnostics,
		"errors": w.Errors, "warnings": w.Warnings, "plan": w.Plan, "manifest": w.Manifest, "go": w.Go, "places": w.Places, "agents": w.Agents, "secrets": w.Secrets,
		"command": "flowgen " + strings.Join(programOf(w, "run"), " ")}
	if w.AtMost != nil {
		out["at_most"] = w.AtMost
	}
	if w.Input != nil {
		out["input"] = w.Input
	}
	if w.Info != nil {
		out["graph"] = picture.Of(cli.ShapeOf(w.Info))
	}
	return out, nil
}
