module github.com/flowgen-dev/flowgen/runtime/jstool/embedded

go 1.26.0

require (
	github.com/flowgen-dev/flowgen/runtime v0.0.0
	github.com/google/go-cmp v0.7.0
	github.com/grafana/sobek v0.0.0-20260429085637-a66d4790012b
	go.uber.org/goleak v1.3.0
)

require (
	github.com/dlclark/regexp2 v1.12.0 // indirect
	github.com/go-sourcemap/sourcemap v2.1.4+incompatible // indirect
	github.com/google/pprof v0.0.0-20250403155104-27863c87afa6 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace github.com/flowgen-dev/flowgen/runtime => ../..
