package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

const (
	nodes = 100
	items = 10_000
	token = "a secret" // what the servers of W5 and W7 expect
)

// message is what the nodes of W1 hand on.
type message struct {
	Count int64  `json:"count"`
	Text  string `json:"text"`
}

func step(m message) (message, error) { return message{m.Count + 1, m.Text}, nil }

type item struct {
	ID int64 `json:"id"`
}

type result struct {
	ID    int64 `json:"id"`
	Value int64 `json:"value"`
}

func double(_ context.Context, in item) (result, error) { return result{in.ID, in.ID * 2}, nil }

type numbers struct {
	A int64 `json:"a"`
	B int64 `json:"b"`
}

type sum struct {
	Sum int64 `json:"sum"`
}

func add(_ context.Context, in numbers) (sum, error) { return sum{in.A + in.B}, nil }

type wanted struct {
	N int `json:"n"`
}

type pulled struct {
	ID     int64    `json:"id"`
	Title  string   `json:"title"`
	Author string   `json:"author"`
	Labels []string `json:"labels"`
	Diff   string   `json:"diff"`
}

var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 128, MaxIdleConns: 128}}

// fetch is the tool of W5 as a careful person writes it: none of the peers has one for HTTP.
func fetch(ctx context.Context, server string, in wanted) (p pulled, err error) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprint(server, "/pulls/", in.N), nil)
	if err != nil {
		return p, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Accept", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return p, err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(resp.Body, 2<<20))
	if err != nil {
		return p, err
	}
	if resp.StatusCode/100 != 2 {
		return p, fmt.Errorf("HTTP %s: %.200s", resp.Status, data)
	}
	err = json.Unmarshal(data, &p)
	return p, err
}

func wrong(got any) error { return fmt.Errorf("the result is wrong: %v", got) }
