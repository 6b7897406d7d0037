package httptool

import (
	"net/netip"
	"slices"
)

// kind is what a special address is for.
type kind uint8

const (
	public kind = iota
	loopback
	private
	other // link-local, shared, reserved, documentation, multicast, translated
	metadata
)

// special is a range of addresses with a meaning of its own.
type special struct {
	prefix netip.Prefix
	kind   kind
	what   string // completes "... is"
}

// Of the ranges that hold an address the longest counts; outside all of them an IPv4 address is public, and an IPv6
// address is when it is in 2000::/3, all that has been given out. The tables are IANA's special-purpose address
// registries (RFC 6890 and successors, as of 2025), with multicast and the retired ranges that the registries leave to
// other documents. Ranges that the registries call globally reachable and that lead to infrastructure nearby (anycast
// for port control, TURN and 6to4 relays) are refused as well.
var specials = func() []special {
	at := func(prefix string, k kind, what string) special {
		return special{netip.MustParsePrefix(prefix), k, what}
	}
	list := []special{
		at("0.0.0.0/8", other, "\"this network\""),
		at("10.0.0.0/8", private, "private"),
		at("100.64.0.0/10", other, "shared address space of a provider"),
		at("127.0.0.0/8", loopback, "loopback"),
		at("169.254.0.0/16", other, "link-local"),
		at("172.16.0.0/12", private, "private"),
		at("192.0.0.0/24", other, "reserved for protocols"),
		at("192.0.2.0/24", other, "for documentation"),
		at("192.31.196.0/24", public, "AS112"),
		at("192.52.193.0/24", public, "AMT"),
		at("192.88.99.0/24", other, "a 6to4 relay"),
		at("192.168.0.0/16", private, "private"),
		at("192.175.48.0/24", public, "AS112"),
		at("198.18.0.0/15", other, "for benchmarks"),
		at("198.51.100.0/24", other, "for documentation"),
		at("203.0.113.0/24", other, "for documentation"),
		at("224.0.0.0/4", other, "multicast"),
		at("240.0.0.0/4", other, "reserved"),
		at("255.255.255.255/32", other, "broadcast"),

		at("::/128", other, "unspecified"),
		at("::1/128", loopback, "loopback"),
		at("::/96", other, "an embedded IPv4 address"),
		at("::ffff:0:0/96", other, "an embedded IPv4 address"),
		at("::ffff:0:0:0/96", other, "a translated IPv4 address"),
		at("64:ff9b:1::/48", other, "a translated IPv4 address"),
		at("100::/64", other, "discard-only"),
		at("100:0:0:1::/64", other, "a dummy prefix"),
		at("2001::/23", other, "reserved for protocols"), // Teredo, ORCHID, benchmarks
		at("2001:3::/32", public, "AMT"),
		at("2001:4:112::/48", public, "AS112"),
		at("2001:db8::/32", other, "for documentation"),
		at("2002::/16", other, "a 6to4 address"),
		at("2620:4f:8000::/48", public, "AS112"),
		at("3fff::/20", other, "for documentation"),
		at("5f00::/16", other, "for segment routing"),
		at("fc00::/7", private, "private (unique local)"),
		at("fe80::/10", other, "link-local"),
		at("fec0::/10", other, "site-local"),
		at("ff00::/8", other, "multicast"),

		// Metadata services of clouds, which hand out credentials to whoever asks.
		at("169.254.169.254/32", metadata, "a cloud metadata service"),
		at("169.254.169.253/32", metadata, "a cloud metadata service"),
		at("169.254.170.2/32", metadata, "a cloud metadata service"),
		at("169.254.170.23/32", metadata, "a cloud metadata service"),
		at("169.254.0.23/32", metadata, "a cloud metadata service"),
		at("100.100.100.200/32", metadata, "a cloud metadata service"),
		at("168.63.129.16/32", metadata, "a cloud metadata service"),
		at("192.0.0.192/32", metadata, "a cloud metadata service"),
		at("fd00:ec2::254/128", metadata, "a cloud metadata service"),
		at("fd00:ec2::253/128", metadata, "a cloud metadata service"),
		at("fd00:ec2::23/128", metadata, "a cloud metadata service"),
		at("fd20:ce::254/128", metadata, "a cloud metadata service"),
		at("fd00:42::42/128", metadata, "a cloud metadata service"),
		at("fd00:c1::a9fe:a9fe/128", metadata, "a cloud metadata service"),
	}
	slices.SortStableFunc(list, func(a, b special) int { return b.prefix.Bits() - a.prefix.Bits() }) // the longest first
	return list
}()

var (
	unicast6 = netip.MustParsePrefix("2000::/3")
	nat64    = netip.MustParsePrefix("64:ff9b::/96")
)

// classify says what an address is.
func classify(a netip.Addr) (kind, string) {
	a = a.Unmap().WithZone("")
	if nat64.Contains(a) { // the well-known prefix of networks without IPv4: what is behind it counts
		b := a.As16()
		k, what := classify(netip.AddrFrom4([4]byte(b[12:])))
		if k != public {
			return other, "a translated IPv4 address that is " + what
		}
		return public, ""
	}
	for _, s := range specials {
		if s.prefix.Contains(a) {
			return s.kind, s.what
		}
	}
	switch {
	case a.Is6() && !unicast6.Contains(a):
		return other, "not assigned"
	case !a.IsValid():
		return other, "not valid"
	}
	return public, ""
}
