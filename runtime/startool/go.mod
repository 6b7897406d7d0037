module github.com/flowgen-dev/flowgen/runtime/startool

go 1.26.0

require (
	github.com/flowgen-dev/flowgen/runtime v0.0.0
	github.com/google/go-cmp v0.7.0
	go.starlark.net v0.0.0-20260908191801-89a6a09411d5
)

require (
	go.uber.org/goleak v1.3.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)

replace github.com/flowgen-dev/flowgen/runtime => ..
