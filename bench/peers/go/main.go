// Command peers runs the workloads of bench/workload on other Go libraries for workflows and agents, for the tables that
// `make peers` writes. It is a program of its own, so that none of them is in go.mod.
//
//	peers eino|genkit
//
// Each line of its input is a workload, how often, and the address of the server that the workload calls, as in
// "W5 100 http://127.0.0.1:1234". It does that many operations, checks their results, and prints "ok" or what went wrong.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
)

// An operation is one run of a workload.
type operation func(ctx context.Context) error

// A peer makes the operations of workloads. What is made once is kept, as programs do that serve.
type peer map[string]func(ctx context.Context, server string) (operation, error)

func main() {
	peers := map[string]peer{"eino": eino, "genkit": firebase}
	if len(os.Args) != 2 || peers[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: peers eino|genkit")
		os.Exit(2)
	}
	made := map[string]operation{}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		if err := answer(context.Background(), peers[os.Args[1]], made, in.Text()); err != nil {
			fmt.Printf("%q\n", err)
			continue
		}
		fmt.Println("ok")
	}
}

func answer(ctx context.Context, p peer, made map[string]operation, line string) error {
	var workload, server string
	var n int
	if _, err := fmt.Sscan(line, &workload, &n, &server); err != nil {
		return err
	}
	do := made[workload]
	if do == nil {
		prepare := p[workload]
		if prepare == nil {
			return errors.New("this peer has no " + workload)
		}
		var err error
		if do, err = prepare(ctx, server); err != nil {
			return err
		}
		made[workload] = do
	}
	for range n {
		if err := do(ctx); err != nil {
			return err
		}
	}
	return nil
}
