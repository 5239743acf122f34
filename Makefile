# The commands of daily work. `make ci` is what the continuous integration runs.

GO            ?= go
GOLANGCI_LINT ?= $(GO) run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
GOVULNCHECK   ?= $(GO) run golang.org/x/vuln/cmd/govulncheck@v1.8.0
FUZZTIME      ?= 10s
MUTANTS       ?= 10000000
SCHEDULES     ?= 200
KAFKA         ?= embedded
PARALLEL      ?= $(if $(filter real,$(KAFKA)),1,3)
DURATION      ?= 30m
PYTHON        ?= python3
BENCH         ?= .
BENCHPKG      ?= ./scoring/... ./training/... ./stages
BENCHSKIP     ?= ^BenchmarkGrowth
PEERBENCH     ?= ^Benchmark(Score|Transform)$$/././././procs=1$$
BENCHTIME     ?= 0.3s
ROUNDS        ?= 6
PKG           ?= ./...

.DEFAULT_GOAL := test
.PHONY: build test race integration apiserver noasm avx2 generate vet lint vulnerabilities fmt fuzz-short demo ci help
.PHONY: mutants soak soak-matrix soak-speed
.PHONY: bench bench-peers bench-growth bench-doc benchstat

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 17

build: ## build the programs into bin/
	$(GO) build -o bin/ ./cmd/...

test: ## all tests
	$(GO) test $(PKG)

race: ## all tests under the race detector (needs a C compiler)
	$(GO) test -race $(PKG)

integration: ## the tests on Apache Kafka: one node, three, a secured one (needs Java 17, Maven, openssl)
	scripts/integration.sh

apiserver: ## the manifests and the documented commands against a real API server of Kubernetes (builds it once, in minutes)
	scripts/apiserver.sh run bash -c 'cd internal/checks && $(GO) test -count=1 -v -run APIServer ./k8s'

noasm: ## all tests without assembly, in the modules used as well
	$(GO) test -tags noasm $(PKG)

avx2: ## all tests as on a processor without AVX-512
	GODEBUG=cpu.avx512f=off $(GO) test -count=1 $(PKG)

generate: ## the assembly, from the generators in internal/tools/asm
	$(GO) generate $(PKG)

vet: ## go vet, also of the files for another processor
	$(GO) vet $(PKG)
	GOARCH=arm64 CGO_ENABLED=0 $(GO) vet $(PKG)

lint: ## golangci-lint at the version that .ci/run uses
	$(GOLANGCI_LINT) run $(PKG)

vulnerabilities: ## known ones that the programs can reach (asks vuln.go.dev)
	$(GOVULNCHECK) $(PKG)

fmt: ## format all Go files
	gofmt -s -w $$(git ls-files --cached --others --exclude-standard '*.go')

fuzz-short: ## every fuzz target for FUZZTIME
	@set -e; \
	for package in $$($(GO) list $(PKG)); do \
		targets=$$($(GO) test -list '^Fuzz' $$package | grep '^Fuzz' || true); \
		for target in $$targets; do \
			echo "$$package $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$package; \
		done; \
	done

mutants: ## MUTANTS damaged Arrow streams, a quarter as many events, Kafka batches, own messages; SEED=N repeats a run
	@set -e; seed=$${SEED:-$$(date +%s)}; \
	mutants() { \
		echo "$$1: $$2 mutants of seed $$seed"; \
		$(GO) test -run '^TestMutants$$' -count=1 -timeout 0 -v $$1 -mutant.seed $$seed -mutant.count $$2; \
	}; \
	mutants ./arrowio $(MUTANTS); \
	for package in ./stages ./pipeline/kafka ./arrowio/wire; do mutants $$package $$(($(MUTANTS) / 4)); done

# On a real broker, each schedule has it for itself.
soak_on = $(if $(filter real,$(KAFKA)),scripts/kafka.sh run) $(GO) run ./internal/crash/soak schedules --kafka $(KAFKA) --parallel $(PARALLEL)

soak: ## SCHEDULES random schedules of crashes, PARALLEL at a time, KAFKA=embedded or real; SEED=N begins with that one
	$(soak_on) --count $(SCHEDULES) $(if $(SEED),--seed $(SEED))

soak-matrix: ## every point of a crash with every action, KAFKA=embedded or real
	$(soak_on) --matrix

soak-speed: ## full speed for DURATION, with samples of memory, goroutines and lag
	$(GO) run ./internal/crash/soak speed --duration $(DURATION)

# Each of these writes what go test prints to a file in bin/, which benchstat compares with another run's.
rounds = ROUNDS=$(ROUNDS) TABLE='$(1)' scripts/bench.sh bin/$@.txt -benchtime $(BENCHTIME) -benchmem

bench: ## benchmarks in rounds, as benchstat prints them
	$(call rounds,tool benchstat) -bench '$(BENCH)' -skip '$(BENCHSKIP)' $(BENCHPKG)

beside = tool benchstat -row .name,/rows,/dim,/features -col /by

bench-peers: ## numpy and scikit-learn of PYTHON beside the same benchmarks, on one core
	PEERS='$(PYTHON) scripts/bench_peers.py' $(call rounds,$(beside)) -bench '$(PEERBENCH)' ./scoring

bench-growth: ## how times grow with each number, with pictures in docs/pictures
	$(call rounds,run ./benchtable -only costs -growth $(CURDIR)/docs/pictures) -bench '^BenchmarkGrowth' ./scoring ./training

bench-doc: ## the tables of docs/performance.md, from what the three above wrote to bin/
	@set -e; for part in benchmarks:bench peers:bench-peers costs:bench-growth; do \
		file=$(CURDIR)/bin/$${part#*:}.txt; \
		if [ -e "$$file" ]; then \
			$(GO) run -C internal/tools ./benchtable -only $${part%:*} -into $(CURDIR)/docs/performance.md "$$file"; \
		fi; \
	done

benchstat: ## compares the files OLD and NEW of two runs
	cd internal/tools && $(GO) tool benchstat $(abspath $(OLD)) $(abspath $(NEW))

demo: ## everything in one process, on the embedded broker
	$(GO) run ./cmd/featurizer demo

ci: ## what the continuous integration runs
	.ci/run
