package studio

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/flowgen-dev/flowgen/runtime/cli"
	"github.com/flowgen-dev/flowgen/studio/picture"
)

// unfolded is the parameter of a graph in which all boxes are open.
const unfolded = "-"

// folded are the boxes that a page wants to be closed; nil leaves that to the picture.
func folded(q url.Values) []string {
	switch text := q.Get("fold"); text {
	case "":
		return nil
	case unfolded:
		return []string{}
	default:
		return strings.Split(text, ",")
	}
}

// graph answers with the graph of a workflow.
func (s *Server) graph(_ http.ResponseWriter, r *http.Request) (any, error) {
	file := r.URL.Query().Get("file")
	if err := s.projectFile(file); err != nil {
		return nil, err
	}
	w, err := s.opts.Project.Workflow(file)
	if err != nil {
		return nil, err
	}
	if w.Info == nil {
		return nil, problemf(http.StatusNotFound, "no graph", file+" has errors")
	}
	return picture.Folded(cli.ShapeOf(w.Info), folded(r.URL.Query())), nil
}
