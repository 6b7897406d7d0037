// Package vacant finds ports for servers that tests start as processes of their own.
package vacant

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// Port returns a free port of 127.0.0.1. It is below the ephemeral range, so that no other listener is assigned it before the
// process listens.
func Port(t testing.TB) string {
	t.Helper()
	for range 100 {
		port := strconv.Itoa(20000 + rand.IntN(10000))
		if l, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("of a hundred ports none is free")
	return ""
}
