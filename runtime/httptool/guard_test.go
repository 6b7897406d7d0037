package httptool

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

func TestClassify(t *testing.T) {
	for _, tt := range []struct {
		kind  kind
		addrs string
	}{
		{public, `1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255
			169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.0.3.0 192.31.196.1 192.52.193.1 192.88.98.255 192.88.100.0 192.167.255.255
			192.169.0.0 192.175.48.1 198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0 223.255.255.255
			::ffff:1.1.1.1 64:ff9b::1.1.1.1 2000:: 2001:3::1 2001:4:112::1 2001:200:: 2001:4860:4860::8888 2606:4700:4700::1111
			2620:4f:8000::1 2a00:1450::1 3ffe:ffff::1 2003::`},
		{loopback, "127.0.0.1 127.255.255.255 ::1 ::ffff:127.0.0.1 ::ffff:7f00:1"},
		{private, "10.0.0.0 10.255.255.255 172.16.0.1 172.31.255.255 192.168.0.1 192.168.255.255 fc00:: fd12:3456::1 fdff:ffff::1 ::ffff:192.168.0.1"},
		{metadata, `169.254.169.254 169.254.170.2 169.254.170.23 100.100.100.200 168.63.129.16 192.0.0.192 fd00:ec2::254 fd20:ce::254
			::ffff:169.254.169.254 ::ffff:a9fe:a9fe`},
		{other, `0.0.0.0 0.1.2.3 100.64.0.0 100.127.255.255 169.254.0.1 169.254.255.255 192.0.0.1 192.0.0.9 192.0.2.1 192.88.99.1
			198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255
			:: ::7f00:1 ::1.1.1.1 ::ffff:0:127.0.0.1 64:ff9b::127.0.0.1 64:ff9b::10.0.0.1 64:ff9b::169.254.169.254 64:ff9b:1::1 64:ff9b:1::7f00:1
			100::1 100:0:0:1::1 2001::1 2001:0:7f00:1:: 2001:1::1 2001:10::1 2001:20::1 2001:db8::1 2002:7f00:1:: 2002:a9fe:a9fe:: 2002:101:101::
			3fff::1 4000::1 5f00::1 8000:: fe80::1 fe80::1%eth0 fec0::1 ff02::1 ffff::1 1::1`},
	} {
		for _, s := range strings.Fields(tt.addrs) {
			k, what := classify(netip.MustParseAddr(s))
			if k != tt.kind || (k != public) && what == "" {
				t.Errorf("%s: got kind %d (%s), want %d", s, k, what, tt.kind)
			}
		}
	}
	if k, _ := classify(netip.Addr{}); k != other {
		t.Errorf("no address: got kind %d", k)
	}
}

func TestPolicy(t *testing.T) {
	for _, tt := range []struct {
		allow   string // entries
		allowed string // host=address; the host may be left out
		refused string
	}{
		{"", "1.1.1.1", "127.0.0.1 10.0.0.1 ::1 169.254.169.254 0.0.0.0"},
		{"loopback", "127.0.0.1 127.9.9.9 ::1 ::ffff:127.0.0.1", "0.0.0.0 10.0.0.1 :: 64:ff9b::127.0.0.1 2002:7f00:1::"},
		{"private", "10.0.0.1 192.168.1.1 fd00::1", "127.0.0.1 169.254.1.1 100.64.0.1 fd00:ec2::254"},
		{"10.1.0.0/16", "10.1.2.3 ::ffff:10.1.2.3", "10.2.0.1 127.0.0.1"},
		{"::ffff:10.1.0.0/112", "10.1.2.3", "10.2.0.1"},
		{"::ffff:0:0/96", "10.1.2.3 127.0.0.1", "169.254.169.254 fd00::1"},
		{"::fffe:0:0/95", "", "10.1.2.3 127.0.0.1"}, // an IPv6 range
		{"10.1.2.3", "10.1.2.3", "10.1.2.4"},
		{"[fd00::5]", "fd00::5", "fd00::6"},
		{"169.254.0.0/16", "169.254.1.1", "169.254.169.254 169.254.170.2"},
		{"169.254.169.254", "169.254.169.254 ::ffff:169.254.169.254", "169.254.1.1"},
		{"169.254.169.254/32", "169.254.169.254", "169.254.170.2"},
		{"fd00::/8", "fd00::1", "fd00:ec2::254"},
		{"Intranet.Example.", "intranet.example=10.0.0.1 INTRANET.example.=127.0.0.1 intranet.example=fd00::1",
			"intranet.example=169.254.169.254 other.example=10.0.0.1 sub.intranet.example=10.0.0.1 10.0.0.1"},
		{"localhost", "localhost=127.0.0.1", "evil.example=127.0.0.1 127.0.0.1"},
		{"*.example not/a/range 10.0.0.0/99", "1.1.1.1", "a.example=10.0.0.1 10.0.0.1"},
		{"loopback private", "127.0.0.1 10.0.0.1", "169.254.169.254"},
	} {
		p := newPolicy(strings.Fields(tt.allow))
		try := func(list string, want bool) {
			for _, s := range strings.Fields(list) {
				host, addr, ok := strings.Cut(s, "=")
				if !ok {
					host, addr = s, s
				}
				if err := p.check(host, netip.MustParseAddr(addr)); (err == nil) != want {
					t.Errorf("allow %q: %s gives %v", tt.allow, s, err)
				}
			}
		}
		try(tt.allowed, true)
		try(tt.refused, false)
	}
	if a, b := newPolicy([]string{"private", "loopback"}), newPolicy([]string{"loopback", "Private", "private"}); a.key != b.key {
		t.Errorf("equal policies have keys %q and %q", a.key, b.key)
	}
}

// canary counts what reaches a server that nothing should reach.
func canary(t *testing.T) (*httptest.Server, *atomic.Int32) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return canaryAt(t, l)
}

func canaryAt(t *testing.T, l net.Listener) (*httptest.Server, *atomic.Int32) {
	t.Helper()
	var hits atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	_ = s.Listener.Close()
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
	t.Cleanup(func() {
		if n := hits.Load(); n > 0 {
			t.Errorf("the canary was hit %d times", n)
		}
	})
	return s, &hits
}

// spellings are ways to write loopback. What a resolver makes of the short and the numeric ones differs from system to
// system; nowhere may they lead to the canary.
var spellings = strings.Fields(`127.0.0.1 localhost LOCALHOST localhost. 127.1.2.3 127.255.255.254 0.0.0.0 0 127.1 127.0.1 2130706433 0x7f000001
	0x7f.0.0.1 017700000001 0177.0.0.1 127.0.0.1. [::1] [::] [::ffff:127.0.0.1] [::ffff:7f00:1] [0:0:0:0:0:ffff:127.0.0.1] [0:0:0:0:0:0:0:1]
	[64:ff9b::7f00:1] [64:ff9b:1::7f00:1] [2002:7f00:1::] [::127.0.0.1] [::ffff:0:127.0.0.1] [fe80::1%25lo] %31%32%37.0.0.1 ①②⑦.⓪.⓪.① 127。0。0。1`)

// P29: every spelling, written in the workflow, in a redirect of a public server, and behind a name that is resolved to
// loopback when the connection is made.
func TestPrivateAddressesAreNotReached(t *testing.T) {
	s, _ := canary(t)
	port := s.URL[strings.LastIndexByte(s.URL, ':')+1:]
	refused := func(t *testing.T, host string, err error) {
		t.Helper()
		var te *value.ToolError
		if !errors.As(err, &te) {
			t.Errorf("%s: got %v, want a tool error", host, err)
		} else if _, literal := netip.ParseAddr(strings.Trim(host, "[]")); te.Code != value.PolicyDenied && literal == nil {
			t.Errorf("%s: got %v, want POLICY_DENIED", host, err)
		}
	}
	// The server that redirects is public as far as the policy can tell: its very address is allowed, and no other.
	front := serve(t, func(w http.ResponseWriter, r *http.Request) { to(302, r.URL.Query().Get("to"))(w, r) })
	public := newTransport(newPolicy([]string{"front.example"}), rebinder(t, netip.Addr{}), nil)
	t.Cleanup(public.CloseIdleConnections)
	frontPort := front.URL[strings.LastIndexByte(front.URL, ':')+1:]
	n := 0
	for _, host := range spellings {
		direct := Text("t@1", flow.Reads, func(struct{}) Request { return Request{URL: URL("http://" + host + ":" + port + "/")} })
		_, err := call(t, direct, struct{}{})
		refused(t, host, err)

		redirected := Text("t@1", flow.Reads, func(struct{}) Request {
			return Request{URL: URL("http://front.example:" + frontPort + "/"), Query: []Field{{"to", "http://" + host + ":" + port + "/"}}}
		}, through(public))
		_, err = call(t, redirected, struct{}{})
		refused(t, host, err)
		if err != nil && strings.Contains(err.Error(), "front.example was not contacted") {
			t.Fatalf("the redirecting server was not reached: %v", err)
		}
		n += 2
	}
	t.Logf("%d ways to the canary", n)
	tool := Text("t@1", flow.Reads, func(struct{}) Request { return Request{URL: URL(s.URL)} })
	_, err := call(t, tool, struct{}{})
	te := wantTool(t, err, value.PolicyDenied, "127.0.0.1 was not contacted: it is loopback; policy.net.allow must name it")
	if got := te.Details.String(); got != `{"host":"127.0.0.1","address":"127.0.0.1","reason":"loopback"}` {
		t.Errorf("details: %s", got)
	}
}

// A connection kept by a tool that may reach loopback does not serve one that may not.
func TestConnectionsAreNotShared(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) })
	f := func(struct{}) Request { return Request{URL: URL(s.URL)} }
	if got, err := call(t, Text("t@1", flow.Reads, f, Allow("loopback")), struct{}{}); err != nil || got != "ok" {
		t.Fatalf("allowed: %q, %v", got, err)
	}
	_, err := call(t, Text("t@1", flow.Reads, f), struct{}{})
	wantTool(t, err, value.PolicyDenied, "127.0.0.1 was not contacted: it is loopback; policy.net.allow must name it")
	if transportFor(newPolicy([]string{"loopback"})) != transportFor(newPolicy([]string{"LOOPBACK", "loopback"})) {
		t.Error("equal policies do not share connections")
	}
}

// rebinder answers lookups: the first with a public address, all others with loopback.
func rebinder(t *testing.T, first netip.Addr) *net.Resolver {
	t.Helper()
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { _ = pc.Close(); <-done })
	go func() {
		defer close(done)
		var answered int
		buf := make([]byte, 1500)
		for {
			n, from, err := pc.ReadFrom(buf)
			if err != nil {
				return
			}
			q := buf[:n]
			end := 12
			for q[end] != 0 {
				end += int(q[end]) + 1
			}
			end += 5
			isA := binary.BigEndian.Uint16(q[end-4:]) == 1
			resp := append([]byte(nil), q[:end]...)
			resp[2], resp[3] = 0x81, 0x80
			copy(resp[6:], []byte{0, 0, 0, 0, 0, 0})
			if isA {
				ip := netip.AddrFrom4([4]byte{127, 0, 0, 1})
				if answered == 0 && first.IsValid() {
					ip = first
				}
				answered++
				resp[7] = 1
				resp = append(resp, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
				resp = append(resp, ip.AsSlice()...)
			}
			_, _ = pc.WriteTo(resp, from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", pc.LocalAddr().String())
	}}
}

// The name passes a lookup with a public address, and is resolved to loopback when it counts.
func TestRebinding(t *testing.T) {
	s, _ := canary(t)
	port := s.URL[strings.LastIndexByte(s.URL, ':')+1:]
	resolver := rebinder(t, netip.MustParseAddr("93.184.215.14"))
	first, err := resolver.LookupHost(t.Context(), "rebind.example.com")
	if err != nil || len(first) != 1 || first[0] != "93.184.215.14" {
		t.Fatalf("first lookup: %v, %v", first, err)
	}
	tr := newTransport(newPolicy(nil), resolver, nil)
	tool := Text("t@1", flow.Reads, func(struct{}) Request { return Request{URL: URL("http://rebind.example.com:" + port)} }, through(tr))
	_, err = call(t, tool, struct{}{})
	wantTool(t, err, value.PolicyDenied,
		"rebind.example.com was not contacted: its address 127.0.0.1 is loopback; policy.net.allow must name it")
}

// An allowed name reaches what it resolves to; another name that resolves to the same does not.
func TestAllowedName(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) })
	port := s.URL[strings.LastIndexByte(s.URL, ':')+1:]
	tr := newTransport(newPolicy([]string{"intranet.example"}), rebinder(t, netip.Addr{}), nil)
	t.Cleanup(tr.CloseIdleConnections)
	f := func(host string) Request { return Request{URL: URL("http://" + host + ":" + port)} }
	tool := Text("t@1", flow.Reads, f, through(tr))
	if got, err := call(t, tool, "intranet.example"); err != nil || got != "ok" {
		t.Errorf("allowed name: %q, %v", got, err)
	}
	_, err := call(t, tool, "other.example")
	wantTool(t, err, value.PolicyDenied, "other.example was not contacted: its address 127.0.0.1 is loopback; policy.net.allow must name it")
}

func BenchmarkGuard(b *testing.B) {
	p := newPolicy([]string{"10.1.0.0/16", "intranet.example"})
	a := netip.MustParseAddr("2606:4700:4700::1111")
	b.ReportAllocs()
	for b.Loop() {
		if p.check("example.com", a) != nil {
			b.Fatal("refused")
		}
	}
}
