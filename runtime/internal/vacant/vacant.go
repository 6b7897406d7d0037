// Package vacant finds ports for servers that tests start as processes of their own.
package vacant

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// Port is a port of 127.0.0.1 that nobody listens at. It is below those that systems choose for who asks for any: one of these can
// be another server's before the process listens.
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
