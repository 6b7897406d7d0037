package studio

import (
	"encoding/xml"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// tested is what the last run of the cases has said.
type tested struct {
	Running bool         `json:"running"`
	Results []caseResult `json:"results"`
	Said    string       `json:"said,omitempty"` // where cases could not be run
	Command string       `json:"command"`
}

// caseResult is how a case has ended.
type caseResult struct {
	File    string `json:"file"`
	Name    string `json:"name"`
	Failure string `json:"failure,omitempty"`
}

// tests lists the cases of the folder, with what they said when they were run here.
func (s *Server) tests(http.ResponseWriter, *http.Request) (any, error) {
	files, err := s.opts.Project.Cases()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	last := s.tested
	s.mu.Unlock()
	return map[string]any{"files": files, "last": last}, nil
}

// test runs the cases of a file, or all of them, and answers when they have ended. One page at a time can.
func (s *Server) test(_ http.ResponseWriter, r *http.Request) (any, error) {
	var body struct {
		File string `json:"file"` // empty: all
	}
	if err := decode(r, &body); err != nil {
		return nil, err
	}
	files, err := s.opts.Project.Cases()
	if err != nil {
		return nil, err
	}
	which := "./..."
	if body.File != "" {
		if which = body.File; !slices.ContainsFunc(files, func(f CaseFile) bool { return f.File == which }) {
			return nil, problemf(http.StatusNotFound, "no such test file", "")
		}
	}
	s.mu.Lock()
	if s.tested != nil && s.tested.Running {
		s.mu.Unlock()
		return nil, problemf(http.StatusConflict, "test cases are running", "wait until they have finished")
	}
	s.tested = &tested{Running: true, Results: []caseResult{}, Command: "flowgen test " + which}
	s.mu.Unlock()
	done, err := s.runCases(which)
	if err != nil {
		done = &tested{Said: err.Error()}
	}
	done.Command = "flowgen test " + which
	s.mu.Lock()
	s.tested = done
	s.mu.Unlock()
	return done, nil
}

func (s *Server) runCases(which string) (*tested, error) {
	dir, err := os.MkdirTemp("", "flowgen-studio-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	report := filepath.Join(dir, "cases.xml")
	st := s.launch(nil, "test", "--junit", report, "--", which)
	if err := st.start(); err != nil {
		return nil, err
	}
	select {
	case <-st.done:
	case <-s.stopped.Done():
		_ = st.cmd.Process.Signal(os.Interrupt) // nobody reads the results
		<-st.done
	}
	out := &tested{Results: []caseResult{}}
	text, err := os.ReadFile(report)
	if err != nil { // no case was run
		out.Said = strings.TrimSpace(st.said.String())
		return out, nil
	}
	var all struct {
		Suites []struct {
			Cases []struct {
				Name    string `xml:"name,attr"`
				File    string `xml:"file,attr"`
				Failure *struct {
					Text string `xml:",chardata"`
				} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	for _, suite := range all.Suites {
		for _, c := range suite.Cases {
			one := caseResult{File: c.File, Name: c.Name}
			if c.Failure != nil {
				one.Failure = strings.TrimSpace(c.Failure.Text)
			}
			out.Results = append(out.Results, one)
		}
	}
	return out, nil
}
