package httptool

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/flowgen-dev/flowgen/runtime/flow"
	"github.com/flowgen-dev/flowgen/runtime/value"
)

// zone is what a name server answers: for each name the answers of each lookup in turn, the last for all later ones. An
// answer is a list of addresses and, with a leading "=", of aliases, which the rest of the list belongs to.
type zone map[string][]string

// nameServer answers from the zone, with a lifetime of zero, over UDP. Names it does not know do not exist.
func nameServer(t *testing.T, z zone) *net.Resolver {
	t.Helper()
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	t.Cleanup(func() { _ = pc.Close(); wg.Wait() })
	wg.Go(func() {
		asked := map[string]int{}
		buf := make([]byte, 1500)
		for {
			n, from, err := pc.ReadFrom(buf)
			if err != nil {
				return
			}
			_, _ = pc.WriteTo(z.answer(buf[:n], asked), from)
		}
	})
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", pc.LocalAddr().String())
	}}
}

func (z zone) answer(query []byte, asked map[string]int) []byte {
	var labels []string
	end := 12
	for query[end] != 0 {
		labels = append(labels, string(query[end+1:end+1+int(query[end])]))
		end += int(query[end]) + 1
	}
	end += 5
	name, kind := strings.ToLower(strings.Join(labels, ".")), binary.BigEndian.Uint16(query[end-4:])
	resp := append([]byte(nil), query[:end]...)
	resp[2], resp[3] = 0x81, 0x80
	copy(resp[6:], []byte{0, 0, 0, 0, 0, 0})
	turns, known := z[name]
	if !known {
		resp[3] = 0x83
		return resp
	}
	key := name + string(rune('0'+kind))
	turn := turns[min(asked[key], len(turns)-1)]
	asked[key]++
	owner := encodeName(name)
	for _, a := range strings.Fields(turn) {
		record, data := uint16(5), encodeName(a[1:])
		if a[0] != '=' {
			if record, data = 1, netip.MustParseAddr(a).AsSlice(); len(data) == 16 {
				record = 28
			}
			if record != kind {
				continue
			}
		}
		resp[7]++
		resp = append(resp, owner...)
		resp = binary.BigEndian.AppendUint16(resp, record)
		resp = append(resp, 0, 1, 0, 0, 0, 0)
		resp = binary.BigEndian.AppendUint16(resp, uint16(len(data)))
		resp = append(resp, data...)
		if record == 5 {
			owner = data
		}
	}
	return resp
}

func encodeName(name string) []byte {
	var b []byte
	for label := range strings.SplitSeq(name, ".") {
		b = append(append(b, byte(len(label))), label...)
	}
	return append(b, 0)
}

// Whatever a name server answers, and however its answers change, the address that is connected to counts. The canary
// listens on 127.0.0.1; 127.0.0.2 is allowed, and stands for public addresses.
func TestNameServersOfAttackers(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Skipf("this system has no second loopback address: %v", err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	hidden, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		_ = l.Close()
		t.Skipf("the port of the allowed address is taken on the other: %v", err)
	}
	_, hits := canaryAt(t, hidden)
	front := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close") // the next call resolves the name anew
		if target := r.URL.Query().Get("to"); target != "" {
			to(302, "http://"+target+":"+port+"/")(w, r)
			return
		}
		_, _ = w.Write([]byte("front"))
	})}
	go func() { _ = front.Serve(l) }()
	t.Cleanup(func() { _ = front.Close() })

	const open, closed = "127.0.0.2", "127.0.0.1"
	for name, tt := range map[string]struct {
		zone  zone
		host  string // with "?name", the front redirects there
		calls string // what each call returns: front, or the address that is refused
	}{
		"control":                  {zone{"a.test": {open}}, "a.test", "front front"},
		"changes after a call":     {zone{"a.test": {open, closed}}, "a.test", "front 127.0.0.1 127.0.0.1"},
		"alternates":               {zone{"a.test": {open, closed, open, closed}}, "a.test", "front 127.0.0.1 front 127.0.0.1"},
		"alias":                    {zone{"a.test": {"=inner.test " + closed}}, "a.test", "127.0.0.1"},
		"alias of an allowed name": {zone{"a.test": {"=intranet.test " + closed}}, "a.test", "127.0.0.1"},
		"long chain":               {zone{"a.test": {"=b.test =c.test =d.test =intranet.test " + closed}}, "a.test", "127.0.0.1"},
		"refused, then allowed":    {zone{"a.test": {closed + " " + open}}, "a.test", "front"},
		"IPv6 loopback":            {zone{"a.test": {"::1"}}, "a.test", "::1"},
		"mapped":                   {zone{"a.test": {"::ffff:127.0.0.1"}}, "a.test", "127.0.0.1"},
		"compatible":               {zone{"a.test": {"::127.0.0.1"}}, "a.test", "::7f00:1"},
		"NAT64":                    {zone{"a.test": {"64:ff9b::127.0.0.1"}}, "a.test", "64:ff9b::7f00:1"},
		"6to4":                     {zone{"a.test": {"2002:7f00:1::"}}, "a.test", "2002:7f00:1::"},
		"unspecified":              {zone{"a.test": {"0.0.0.0"}}, "a.test", "0.0.0.0"},
		"unspecified IPv6":         {zone{"a.test": {"::"}}, "a.test", "::"},
		"metadata":                 {zone{"a.test": {"169.254.169.254"}}, "a.test", "169.254.169.254"},
		"metadata, mapped":         {zone{"a.test": {"::ffff:169.254.169.254"}}, "a.test", "169.254.169.254"},
		"metadata, allowed name":   {zone{"intranet.test": {"169.254.169.254"}}, "intranet.test", "169.254.169.254"},
		"redirect":                 {zone{"a.test": {open}, "b.test": {closed}}, "a.test?b.test", "127.0.0.1"},
		"redirect to itself":       {zone{"a.test": {open, closed}}, "a.test?a.test", "127.0.0.1"},
		"redirect, other case":     {zone{"a.test": {open, closed}}, "a.test?A.TEST", "127.0.0.1"},
		"redirect, final dot":      {zone{"a.test": {open, closed}}, "a.test?a.test.", "127.0.0.1"},
		"redirect to an alias":     {zone{"a.test": {open}, "b.test": {"=intranet.test " + closed}}, "a.test?b.test", "127.0.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTransport(newPolicy([]string{open, "intranet.test"}), nameServer(t, tt.zone), nil)
			t.Cleanup(tr.CloseIdleConnections)
			tool := Text("t@1", flow.Reads, func(struct{}) Request {
				host, target, _ := strings.Cut(tt.host, "?")
				return Request{URL: URL("http://" + host + ":" + port + "/"), Query: []Field{{"to", target}}}
			}, through(tr))
			for i, want := range strings.Fields(tt.calls) {
				got, err := call(t, tool, struct{}{})
				var te *value.ToolError
				if errors.As(err, &te) && te.Code == value.PolicyDenied {
					_, got, _ = strings.Cut(te.Message, "its address ")
					got, _, _ = strings.Cut(got, " ")
				} else if err != nil {
					got = err.Error()
				}
				if got != want {
					t.Errorf("call %d: got %s, want %s", i+1, got, want)
				}
			}
		})
	}
	// An allowed address that refuses connections hides the reason, not the canary.
	_ = front.Close()
	tr := newTransport(newPolicy([]string{open}), nameServer(t, zone{"a.test": {open + " " + closed}}), nil)
	tool := Text("t@1", flow.Reads, func(struct{}) Request { return Request{URL: URL("http://a.test:" + port + "/")} }, through(tr))
	_, err = call(t, tool, struct{}{})
	wantTool(t, err, value.NetworkError, "no response from a.test:"+port+": connection refused")
	if n := hits.Load(); n > 0 {
		t.Errorf("the canary was hit %d times", n)
	}
}
