package serve

import (
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/flowgen-dev/flowgen/runtime/engine"
)

// checkReplicas says what is wrong with Options.Replica and Options.Replicas.
func (o *Options) checkReplicas() error {
	if o.Replica == "" && len(o.Replicas) == 0 {
		return nil
	}
	if o.Replicas[o.Replica] == "" {
		return errors.New("serve: name all replicas with their addresses, including this one")
	}
	for name, address := range o.Replicas {
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || strings.Trim(u.Path, "/") != "" {
			return fmt.Errorf("serve: replica %s: %q is not a URL such as http://triage-0.triage:8080", name, address)
		}
		if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789") != "" || name == "" {
			return fmt.Errorf("serve: the name of replica %q has lower-case letters and digits", name)
		}
	}
	return nil
}

// makeID makes ids of runs.
var makeID = engine.NewRunID // a variable for tests

// newID is the id of a run that is begun without a key.
func (s *Server) newID(workflow string) string {
	return s.prefix() + makeID(workflow, time.Now())
}

// prefix is how the ids of runs of this replica begin.
func (s *Server) prefix() string {
	if s.o.Replica == "" {
		return ""
	}
	return s.o.Replica + "-"
}

// keeper is the replica at which a key begins a run: the one with the greatest hash, so that all agree and few keys move when there is
// one more.
func (s *Server) keeper(key string) (name string) {
	var most uint64
	for replica := range s.o.Replicas {
		h := fnv.New64a()
		_, _ = h.Write([]byte(replica + "\x00" + key)) // never fails
		if sum := h.Sum64(); name == "" || sum > most || sum == most && replica < name {
			name, most = replica, sum
		}
	}
	return name
}

// moved sends a request to another replica, nil when that is none or this one.
func (s *Server) moved(r *http.Request, replica string) error {
	address := s.o.Replicas[replica]
	if address == "" || replica == s.o.Replica {
		return nil
	}
	p := fault(http.StatusTemporaryRedirect, "MOVED", "another replica has the run")
	p.location = strings.TrimSuffix(address, "/") + r.URL.RequestURI()
	return p
}

// absent is the error of a run that is not here: another replica may have it.
func (s *Server) absent(r *http.Request, id string) error {
	replica, _, _ := strings.Cut(id, "-")
	if err := s.moved(r, replica); err != nil {
		return err
	}
	return noRun()
}
