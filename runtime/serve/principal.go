package serve

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

// Principal is who makes a request.
type Principal struct {
	Name string
	// Tenant is whom runs are for: whose secrets, cached results and blobs they use. Runs of other tenants do not exist.
	Tenant string
	// Workflows are those that may be used; nil: all.
	Workflows []string
	// Rights are what the principal may do; nil: everything.
	Rights []Right
}

// Right is something that a principal may do.
type Right string

// The rights.
const (
	MayStart  Right = "start"  // begin runs
	MayRead   Right = "read"   // see runs and their events
	MayAnswer Right = "answer" // answer questions
	MayCancel Right = "cancel" // cancel runs
	MayAdmin  Right = "admin"  // resume and remove runs
)

var rights = []Right{MayStart, MayRead, MayAnswer, MayCancel, MayAdmin}

func (p *Principal) may(r Right) error {
	if p.Rights == nil || slices.Contains(p.Rights, r) {
		return nil
	}
	return fault(http.StatusForbidden, "POLICY_DENIED", "this needs the right "+string(r))
}

func (p *Principal) sees(workflow string) bool {
	return p.Workflows == nil || slices.Contains(p.Workflows, workflow)
}

// principal says whose request it is.
func (s *Server) principal(r *http.Request) (*Principal, error) {
	if p, ok := r.Context().Value(principalKey{}).(*Principal); ok {
		return p, nil
	}
	if s.o.Auth == nil {
		return &Principal{}, nil
	}
	p, err := s.o.Auth(r)
	if err != nil {
		f := fault(http.StatusUnauthorized, "AUTH_REQUIRED", "the request is not authenticated")
		f.challenge = "Bearer"
		return nil, f
	}
	return &p, nil
}

// Tokens reads who may make requests, one bearer token a line:
//
//	sha256=<64 hex digits of the token's SHA-256> name=ci tenant=acme workflows=triage,expense rights=start,read
//
// Only sha256 and name are required. Empty lines and lines that begin with # are passed over. The result is an Options.Auth.
func Tokens(r io.Reader) (func(*http.Request) (Principal, error), error) {
	known := map[[sha256.Size]byte]Principal{}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		sum, p, err := token(line)
		if err == nil && known[sum].Name != "" {
			err = fmt.Errorf("the token is that of %s", known[sum].Name)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d of the tokens: %w", n, err)
		}
		known[sum] = p
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(known) == 0 {
		return nil, errors.New("there are no tokens")
	}
	return func(r *http.Request) (Principal, error) {
		scheme, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		p, ok := known[sha256.Sum256([]byte(text))] // by its hash, so that its time says nothing about the token
		if !ok || !strings.EqualFold(scheme, "Bearer") {
			return Principal{}, errors.New("no known token")
		}
		return p, nil
	}, nil
}

func token(line string) (sum [sha256.Size]byte, p Principal, err error) {
	hashed := false
	for _, part := range strings.Fields(line) {
		name, v, ok := strings.Cut(part, "=")
		if !ok || v == "" {
			return sum, p, fmt.Errorf("%q is not NAME=VALUE", name)
		}
		switch name {
		case "sha256":
			b, err := hex.DecodeString(v)
			if err != nil || len(b) != len(sum) {
				return sum, p, errors.New("sha256 is 64 hex digits")
			}
			hashed = true
			copy(sum[:], b)
		case "name":
			p.Name = v
		case "tenant":
			p.Tenant = v
		case "workflows":
			p.Workflows = strings.Split(v, ",")
		case "rights":
			p.Rights = []Right{}
			for r := range strings.SplitSeq(v, ",") {
				if !slices.Contains(rights, Right(r)) {
					return sum, p, fmt.Errorf("there is no right %q; there are start, read, answer, cancel and admin", r)
				}
				p.Rights = append(p.Rights, Right(r))
			}
		default:
			return sum, p, fmt.Errorf("there is no %q; there are sha256, name, tenant, workflows and rights", name)
		}
	}
	if !hashed || p.Name == "" {
		return sum, p, errors.New("sha256 and name are required")
	}
	return sum, p, nil
}
