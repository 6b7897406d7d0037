// Package shop is a small shop with an HTTP API that does not always work, as such APIs do.
package shop

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Order is an order as the API gives it.
type Order struct {
	ID       int64  `json:"id"`
	Customer string `json:"customer"`
	Cents    int64  `json:"cents"`
}

// page is a page of orders. Next is absent on the last one.
type page struct {
	Orders []Order `json:"orders"`
	Next   *int    `json:"next,omitempty"`
}

var orders = []Order{
	{1001, "ada", 1999}, {1002, "brahe", 450}, {1003, "curie", 12000},
	{1004, "ada", 99}, {1005, "darwin", 7050}, {1006, "euler", 3141},
	{1007, "curie", 2500},
}

var customers = map[string]string{"ada": "Ada Lovelace", "brahe": "Tycho Brahe", "curie": "Marie Curie", "darwin": "Charles Darwin", "euler": "Leonhard Euler"}

const (
	perPage    = 3
	rateLimit  = "1" // seconds, in Retry-After
	problem    = "application/problem+json"
	unresolved = "busy, try again"
)

// Server is the running shop. Its faults are always the same: the second page is refused with 429 and Retry-After once,
// the third with 503 once; the customers curie and euler fail with 503 once; darwin does not want to be shown (403).
type Server struct {
	Port int

	server *http.Server
	done   chan error
	mu     sync.Mutex
	hits   map[string]int
}

// Start starts the shop on a port of loopback.
func Start() (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{Port: l.Addr().(*net.TCPAddr).Port, done: make(chan error, 1), hits: map[string]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/orders", s.orders)
	mux.HandleFunc("GET /v1/customers/{id}", s.customer)
	s.server = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() { s.done <- s.server.Serve(l) }()
	return s, nil
}

// Stop stops the shop at once. It does not wait for connections: a client keeps one that it has never used, which a server that
// waits takes for one that is about to ask.
func (s *Server) Stop() error {
	err := s.server.Close()
	if served := <-s.done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// Hits says how often the API was asked for what: "orders/2", "customers/ada".
func (s *Server) Hits(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hits[what]
}

// first counts a request and reports whether it is the first of its kind.
func (s *Server) first(what string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hits[what]++
	return s.hits[what] == 1
}

func (s *Server) orders(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.URL.Query().Get("page"))
	if err != nil || n < 1 || (n-1)*perPage >= len(orders) {
		fail(w, http.StatusBadRequest, "there is no such page")
		return
	}
	first := s.first("orders/" + strconv.Itoa(n))
	switch {
	case n == 2 && first:
		w.Header().Set("Retry-After", rateLimit)
		fail(w, http.StatusTooManyRequests, "not so fast")
		return
	case n == 3 && first:
		fail(w, http.StatusServiceUnavailable, unresolved)
		return
	}
	end := min(n*perPage, len(orders))
	p := page{Orders: orders[(n-1)*perPage : end]}
	if end < len(orders) {
		p.Next = new(n + 1)
	}
	reply(w, p)
}

func (s *Server) customer(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	first := s.first("customers/" + id)
	switch name := customers[id]; {
	case name == "":
		fail(w, http.StatusNotFound, "there is no such customer")
	case id == "darwin":
		fail(w, http.StatusForbidden, "the customer does not want to be shown")
	case (id == "curie" || id == "euler") && first:
		fail(w, http.StatusServiceUnavailable, unresolved)
	default:
		reply(w, map[string]string{"name": name, "since": "1843-07-10"})
	}
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client is gone: nobody is left to be told
}

func fail(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", problem)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"detail": detail}) // as above
}

// Euros writes the sum of amounts as people do: 1,234.50 €.
func Euros(cents []int64) string {
	sum := int64(0)
	for _, c := range cents {
		sum += c
	}
	sign := ""
	if sum < 0 {
		sign, sum = "-", -sum
	}
	whole := strconv.FormatInt(sum/100, 10)
	var parts []string
	for len(whole) > 3 {
		parts = append([]string{whole[len(whole)-3:]}, parts...)
		whole = whole[:len(whole)-3]
	}
	return fmt.Sprintf("%s%s.%02d €", sign, strings.Join(append([]string{whole}, parts...), ","), sum%100)
}
