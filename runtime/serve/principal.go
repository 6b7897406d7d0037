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

// Tokens reads who may make requests, one bearer token or client certificate a line:
//
//	sha256=<64 hex digits of the token's SHA-256> name=ci tenant=acme workflows=triage,expense rights=start,read
//	cert=ci.example.com name=ci tenant=acme
//
// One of sha256 and cert and name are required. A certificate is known by one of its DNS names, else by its common name; the server
// must have verified it. Empty lines and lines that begin with # are passed over. The result is an Options.Auth.
func Tokens(r io.Reader) (func(*http.Request) (Principal, error), error) {
	known := map[[sha256.Size]byte]Principal{}
	certificates := map[string]Principal{}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		sum, certificate, p, err := token(line)
		switch {
		case err != nil:
		case certificate != "" && certificates[certificate].Name != "":
			err = fmt.Errorf("the certificate is that of %s", certificates[certificate].Name)
		case certificate != "":
			certificates[certificate] = p
		case known[sum].Name != "":
			err = fmt.Errorf("the token is that of %s", known[sum].Name)
		default:
			known[sum] = p
		}
		if err != nil {
			return nil, fmt.Errorf("line %d of the tokens: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(known)+len(certificates) == 0 {
		return nil, errors.New("the file has no tokens")
	}
	return func(r *http.Request) (Principal, error) {
		if p, ok := certified(r, certificates); ok {
			return p, nil
		}
		scheme, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		p, ok := known[sha256.Sum256([]byte(text))] // by its hash, so that its time says nothing about the token
		if !ok || !strings.EqualFold(scheme, "Bearer") {
			return Principal{}, errors.New("no known token")
		}
		return p, nil
	}, nil
}

// certified is the principal of the certificate with which a client has connected.
func certified(r *http.Request, known map[string]Principal) (Principal, bool) {
	if r.TLS == nil || len(r.TLS.VerifiedChains) == 0 {
		return Principal{}, false
	}
	leaf := r.TLS.VerifiedChains[0][0]
	names := leaf.DNSNames
	if len(names) == 0 {
		names = []string{leaf.Subject.CommonName}
	}
	for _, name := range names {
		if p, ok := known[name]; ok && name != "" {
			return p, true
		}
	}
	return Principal{}, false
}

func token(line string) (sum [sha256.Size]byte, certificate string, p Principal, err error) {
	hashed := false
	for _, part := range strings.Fields(line) {
		name, v, ok := strings.Cut(part, "=")
		if !ok || v == "" {
			return sum, certificate, p, fmt.Errorf("%q is not NAME=VALUE", name)
		}
		switch name {
		case "sha256":
			b, err := hex.DecodeString(v)
			if err != nil || len(b) != len(sum) {
				return sum, certificate, p, errors.New("sha256 is 64 hex digits")
			}
			hashed = true
			copy(sum[:], b)
		case "cert":
			certificate = v
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
					return sum, certificate, p, fmt.Errorf("unknown right %q; expected start, read, answer, cancel or admin", r)
				}
				p.Rights = append(p.Rights, Right(r))
			}
		default:
			return sum, certificate, p, fmt.Errorf("unknown key %q; expected sha256, cert, name, tenant, workflows or rights", name)
		}
	}
	if hashed == (certificate != "") || p.Name == "" {
		return sum, certificate, p, errors.New("name and one of sha256 and cert are required")
	}
	return sum, certificate, p, nil
}
