package studio

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// node answers with the texts of a node that a rerun can edit.
func (s *Server) node(_ http.ResponseWriter, r *http.Request) (any, error) {
	file := r.URL.Query().Get("file")
	if err := s.projectFile(file); err != nil {
		return nil, err
	}
	return s.opts.Project.Node(file, r.URL.Query().Get("node"))
}

// rerun begins a new run with the results of another and an edit, which the files do not have.
func (s *Server) rerun(w http.ResponseWriter, r *http.Request) (any, error) {
	var body struct {
		From string            `json:"from"`
		Set  map[string]string `json:"set"` // fields of the input
		Edit *Operation        `json:"edit"`
	}
	if err := decode(r, &body); err != nil {
		return nil, err
	}
	id := r.PathValue("id")
	reader, err := s.opts.Runs.Follow(id)
	if err != nil {
		return nil, err
	}
	if _, _, err := reader.Next(); err != nil {
		return nil, err
	}
	workflow := reader.Header().Workflow
	file, _, _ := s.fileOf(workflow)
	if file == "" {
		return nil, problemf(http.StatusConflict, "no file of this folder is the workflow "+workflow, "start studio in the folder of the workflow")
	}
	args := append(s.programOf("rerun", file), id, "--runs", s.opts.Runs.Dir())
	if body.From != "" {
		args = append(args, "--from="+body.From)
	}
	for _, name := range slices.Sorted(maps.Keys(body.Set)) {
		if !strings.HasPrefix(name, "input.") {
			return nil, problemf(http.StatusBadRequest, "only the input can be set", "")
		}
		args = append(args, "--set="+name+"="+body.Set[name])
	}
	before, err := s.opts.Runs.Latest(workflow)
	if err != nil {
		return nil, err
	}
	dir := ""
	if body.Edit != nil {
		if body.Edit.File != file || body.Edit.Kind != EditNode {
			return nil, problemf(http.StatusBadRequest, "the edit is not one of a node of "+file, "")
		}
		texts, err := s.opts.Project.Overlay(*body.Edit)
		if err != nil {
			return nil, err
		}
		if dir, err = writeOverlay(texts); err != nil {
			return nil, err
		}
		args = slices.Insert(args, 1, "--overlay", filepath.Join(dir, overlayName))
	}
	st := s.launch(nil, args...)
	st.scratch = dir
	if err := st.start(); err != nil {
		return nil, err
	}
	return s.recorded(w, r, st, workflow, before)
}

const overlayName = "overlay.json"

// writeOverlay writes texts in place of files for a program that is started.
func writeOverlay(texts map[string]string) (dir string, err error) {
	if dir, err = os.MkdirTemp("", "flowgen-studio-"); err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(dir)
		}
	}()
	replace := map[string]string{}
	for i, name := range slices.Sorted(maps.Keys(texts)) {
		replace[name] = filepath.Join(dir, strconv.Itoa(i))
		if err := os.WriteFile(replace[name], []byte(texts[name]), 0o600); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	return dir, os.WriteFile(filepath.Join(dir, overlayName), text, 0o600)
}
