package httptool

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"
)

// policy says which addresses may be reached besides the public ones.
type policy struct {
	key      string // the same for equal policies
	loopback bool
	private  bool
	prefixes []netip.Prefix
	hosts    []string
}

func newPolicy(entries []string) *policy {
	p := &policy{}
	keys := make([]string, 0, len(entries))
	for _, e := range entries {
		e = hostName(e)
		keys = append(keys, e)
		if prefix, err := netip.ParsePrefix(e); err == nil {
			p.prefixes = append(p.prefixes, unmapPrefix(prefix))
		} else if a, err := netip.ParseAddr(strings.Trim(e, "[]")); err == nil {
			a = a.Unmap().WithZone("")
			p.prefixes = append(p.prefixes, netip.PrefixFrom(a, a.BitLen()))
		} else if e == "loopback" {
			p.loopback = true
		} else if e == "private" {
			p.private = true
		} else if e != "" {
			p.hosts = append(p.hosts, e)
		}
	}
	slices.Sort(keys)
	p.key = strings.Join(slices.Compact(keys), "\n")
	return p
}

// unmapPrefix turns ranges of IPv4-mapped addresses into those of IPv4, the form in which addresses are compared.
func unmapPrefix(p netip.Prefix) netip.Prefix {
	if a := p.Addr(); a.Is4In6() && p.Bits() >= 96 {
		return netip.PrefixFrom(a.Unmap(), p.Bits()-96)
	}
	return p
}

// hostName is the form in which names are compared.
func hostName(s string) string { return strings.TrimSuffix(strings.ToLower(s), ".") }

// blocked is the error of an address that may not be reached.
type blocked struct {
	host, address, what string
}

func (b *blocked) Error() string { return b.address + " is " + b.what }

// check returns the error of a connection to address a for host.
func (p *policy) check(host string, a netip.Addr) error {
	a = a.Unmap().WithZone("")
	k, what := classify(a)
	if k == public {
		return nil
	}
	for _, prefix := range p.prefixes {
		if prefix.Contains(a) && (k != metadata || prefix.IsSingleIP()) {
			return nil
		}
	}
	switch {
	case k == loopback && p.loopback, k == private && p.private:
		return nil
	case k != metadata && slices.Contains(p.hosts, hostName(host)):
		return nil
	}
	return &blocked{host: host, address: a.String(), what: what}
}

const (
	dialTimeout = 15 * time.Second
	keepAlive   = 30 * time.Second
	idle        = 90 * time.Second // until a connection that is not used is closed
)

// dialer opens connections where the policy allows it. resolver is for tests; nil is the system's.
func (p *policy) dialer(resolver *net.Resolver) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		d := net.Dialer{
			Timeout:   dialTimeout,
			KeepAlive: keepAlive,
			Resolver:  resolver,
			// Called with the address that is about to be connected to: what a name resolves to the second time does not count.
			Control: func(_, resolved string, _ syscall.RawConn) error {
				ap, err := netip.ParseAddrPort(resolved)
				if err != nil {
					return &blocked{host: host, address: resolved, what: "no IP address"}
				}
				return p.check(host, ap.Addr())
			},
		}
		return d.DialContext(ctx, network, address)
	}
}
