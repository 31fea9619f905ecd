# magi-code: build, test, measure. `make help` lists the verbs.
SHELL := /bin/bash
export CGO_ENABLED ?= 0
BIN := bin/magi-code
LDFLAGS := -s -w
KIT := ../shared/conformance

# The race detector needs a C compiler; without one the same tests run plainly.
CC_FOUND := $(shell command -v cc >/dev/null 2>&1 || command -v gcc >/dev/null 2>&1 || command -v clang >/dev/null 2>&1; echo $$?)
ifeq ($(CC_FOUND),0)
RACE := -race
RACE_ENV := CGO_ENABLED=1
RACE_SAYS := with the race detector
else
RACE :=
RACE_ENV :=
RACE_SAYS := without the race detector (no C compiler was found)
endif

.PHONY: help
help: ## list the verbs
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk 'BEGIN{FS=":.*## "}{printf "  make %-19s %s\n", $$1, $$2}'

.PHONY: build
build: ## build bin/magi-code, one static binary
	@mkdir -p bin
	go build -trimpath -ldflags="$(LDFLAGS)" -o $(BIN) ./cmd/magi-code

.PHONY: demo
demo: build ## one full turn through a real child process, offline
	$(BIN) demo

.PHONY: test
test: ## all tests, with the race detector where a C compiler is found
	@echo "testing $(RACE_SAYS)"
	$(RACE_ENV) go test $(RACE) -timeout 20m ./...

.PHONY: vet
vet: ## go vet for every system, gofmt
	@test -z "$$(gofmt -l . | tee /dev/stderr)"
	go vet ./...
	GOOS=darwin go vet ./...
	GOOS=windows go vet ./...

.PHONY: lint
lint: vet ## vet and staticcheck (pinned in tools/go.mod)
	go tool -modfile=tools/go.mod staticcheck ./...

.PHONY: cross
cross: ## build for every supported system
	GOOS=linux GOARCH=arm64 go build -o /dev/null ./cmd/magi-code
	GOOS=darwin GOARCH=arm64 go build -o /dev/null ./cmd/magi-code
	GOOS=windows GOARCH=amd64 go build -o /dev/null ./cmd/magi-code

FUZZTIME ?= 60s
.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME (60s)
	@for pkg in $$(grep -rl --include='*_test.go' '^func Fuzz' internal pkg telemetry | xargs -n1 dirname | sort -u); do \
	  for f in $$(grep -ho --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' $$pkg/*_test.go | sed 's/func //' | sort -u); do \
	    echo "== $$pkg $$f"; go test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) ./$$pkg || exit 1; \
	  done; \
	done

BENCH_COUNT ?= 6
BENCH_TIME ?= 100ms
.PHONY: bench
bench: build ## all benchmarks, BENCH_COUNT (6) rounds, then whole children, into bench/out [AGAINST=old.json]
	@mkdir -p bench/out
	@go build -o bench/out/ ./bench/cmd/report ./bench/cmd/versus
	@bench/out/report -rounds $(BENCH_COUNT) -benchtime $(BENCH_TIME) -text bench/out/bench.txt -out bench/out/bench.json \
	  -svg bench/out/bench.svg $(if $(AGAINST),-against $(AGAINST)) ./bench/... >bench/out/bench-compared.txt; broken=$$?; \
	case $$broken in 0|3) ;; *) exit $$broken;; esac; set -eo pipefail; \
	go tool -modfile=tools/go.mod benchstat bench/out/bench.txt | tee bench/out/bench-table.txt; \
	cat bench/out/bench-compared.txt; \
	bench/out/versus -ours $(BIN) -rounds $(BENCH_COUNT) -json bench/out/versus.json -svg bench/out/versus.svg; exit $$broken

.PHONY: bench-quick
bench-quick: ## every benchmark but for its largest cases, three short rounds; gates on allocations only
	@mkdir -p bench/out
	go run ./bench/cmd/report -short -rounds 3 -benchtime 3ms -at-once 2 -units allocs/op,B/op -text bench/out/quick.txt -out bench/out/quick.json ./bench/...

.PHONY: bench-once
bench-once: ## every case of every benchmark once, as a check that it runs
	go run ./bench/cmd/report -rounds 1 -benchtime 1x -gates "" ./bench/...

# BASE and HEAD are results of `make bench`, or commits that are measured in turns;
# without HEAD the latest result, or the working tree.
SUITE ?= ./bench/...
.PHONY: bench-compare
bench-compare: ## compare two results, or two commits measured in turns: BASE=… HEAD=… [SUITE=./bench/history]
	@test -n "$(BASE)" || { echo "make bench-compare BASE=<file or commit> [HEAD=<file or commit>] [SUITE=./bench/history]"; exit 2; }
	@bench/compare.sh "$(BASE)" "$(HEAD)" "$(SUITE)" $(BENCH_COUNT) $(BENCH_TIME)

ROUNDS ?= 7
.PHONY: bench-versus
bench-versus: build ## hold this program against another one: OTHER=/abs/path [ROUNDS=7]
	@mkdir -p bench/out
	go run ./bench/cmd/versus -ours $(BIN) $(if $(OTHER),-other $(OTHER)) -rounds $(ROUNDS) -json bench/out/versus.json -svg bench/out/versus.svg

.PHONY: bench-overhead
bench-overhead: build ## what telemetry costs a child: a build without it, off, and with a capture
	@mkdir -p bench/out
	go build -trimpath -ldflags="$(LDFLAGS)" -tags no_telemetry -o bench/out/no_telemetry ./cmd/magi-code
	go run ./bench/cmd/overhead -program $(BIN) -baseline bench/out/no_telemetry -json bench/out/overhead.json

.PHONY: bench-profile
bench-profile: ## CPU and heap profiles of one suite into bench/out: SUITE=history
	@test -d "bench/$(SUITE)" || { echo "make bench-profile SUITE=<a folder of bench, as history>"; exit 2; }
	@mkdir -p bench/out
	go test -run '^$$' -bench . -benchtime $(BENCH_TIME) -cpuprofile bench/out/$(SUITE)-cpu.prof -memprofile bench/out/$(SUITE)-heap.prof -o bench/out/$(SUITE).test ./bench/$(SUITE)
	@echo "go tool pprof bench/out/$(SUITE).test bench/out/$(SUITE)-cpu.prof"

.PHONY: pgo
pgo: ## take the profile that builds are made with anew, from the workload of bench-versus
	@mkdir -p bench/out/pgo && rm -f bench/out/pgo/*.prof
	go build -pgo=off -trimpath -o bench/out/profiled ./bench/cmd/profiled
	MAGI_CODE_PROFILE_DIR=$(CURDIR)/bench/out/pgo go run ./bench/cmd/versus -ours bench/out/profiled -rounds 12
	go tool pprof -proto -symbolize=none -output cmd/magi-code/default.pgo bench/out/pgo/*.prof

# What the black-box kit beside the project must show. One line per run of it.
.PHONY: kit
kit: build ## the conformance kit, where it stands beside the project
	@if [ ! -f $(KIT)/run.py ]; then echo "no conformance kit beside the project: skipped"; exit 0; fi; \
	bad=0; \
	run() { echo "== kit $$*"; python3 $(KIT)/run.py --retry 1 --bin $(BIN) "$$@" || bad=1; }; \
	run --match transport.; \
	run --match startup.; \
	run --match turns.; \
	run --match sessions.; \
	run --match interop.; \
	run --match beyond.; \
	run --match approvals.; \
	exit $$bad

KILLS ?= 200
.PHONY: torture
torture: ## long forms: the fault matrix, killed children, each hook of the frames taken out in turn
	MAGI_CODE_TORTURE_KILLS=$(KILLS) MAGI_TORTURE=1 go test -count=1 -timeout 60m -v -run 'Fault|Killed|Matrix|MissingHook' ./internal/session ./internal/lease ./internal/app/observed ./bench/torture

.PHONY: interop-mcp
interop-mcp: ## the MCP client against servers of others and the conformance suite (npm, PyPI)
	bench/mcp.sh

.PHONY: interop-providers
interop-providers: ## real children against the litellm proxy (PyPI), our wires against the official SDKs
	bench/litellm.sh
	cd tools/sdkcheck && go test -count=1 ./...

.PHONY: interop
interop: interop-mcp interop-providers ## everything that is held against programs of others

.PHONY: deploy-check
deploy-check: build ## load deploy/ by Prometheus, the node exporter and an OpenTelemetry Collector
	MAGI_CODE=$(BIN) deploy/check.sh

.PHONY: dashboard
dashboard: ## make the Grafana dashboard anew from the catalogue of metrics
	go run ./deploy/dashboard >deploy/grafana/magi-code.json
