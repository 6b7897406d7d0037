module github.com/flowgen-dev/flowgen/runtime

go 1.26.0

require (
	github.com/google/go-cmp v0.6.0
	go.uber.org/goleak v1.2.1
	golang.org/x/sys v0.49.0
	golang.org/x/term v0.47.0
	pgregory.net/rapid v1.1.0
)
