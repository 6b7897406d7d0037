// Command directory is the service directory that the workflow incident asks. It prints the workflow's input that names it, and serves until
// it is stopped. It is for programs of `flowgen build`; that of this example starts one of its own.
package main

import (
	"fmt"
	"os"
	"os/signal"

	"github.com/flowgen-dev/flowgen/examples/incident/services"
)

func main() {
	s, err := services.Start()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("port=%d\n", s.Port)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt)
	<-stop
	_ = s.Stop() // the process ends
}
