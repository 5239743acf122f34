# The commands of daily work. `make ci` is what the continuous integration runs.

GO            ?= go
GOLANGCI_LINT ?= $(GO) run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
GOVULNCHECK   ?= $(GO) run golang.org/x/vuln/cmd/govulncheck@v1.8.0
FUZZTIME      ?= 10s
MUTANTS       ?= 10000000
SCHEDULES     ?= 200
PARTITIONS    ?= 24,200,1000
KAFKA         ?= embedded
NODES         ?= 1
PARALLEL      ?= $(if $(filter real,$(KAFKA)),1,3)
KIND          ?= crashes
DURATION      ?= 30m
ROUNDS        ?= 5
WORST         ?= 12s
PYTHON        ?= python3
BENCH         ?= .
BENCHPKG      ?= ./scoring/... ./training/... ./stages/featurize
PEERBENCH     ?= ^Benchmark(Score|Transform)$$/././././procs=1$$
BENCHTIME     ?= 0.3s
ROUNDS        ?= 6
PKG           ?= ./...
HELM          ?= $(GO) run helm.sh/helm/v4/cmd/helm@v4.3.2

.DEFAULT_GOAL := test
.PHONY: build test race integration python wheel release image chart late-labels apiserver noasm avx2 generate lint vulnerabilities fmt fuzz-short demo ci nightly help
.PHONY: mutants partitions soak soak-back soak-matrix soak-speed
.PHONY: bench bench-peers bench-learn bench-doc benchstat

help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 21

build: ## build the programs into bin/
	$(GO) build -o bin/ ./cmd/featurizer ./cmd/trainer

test: ## all tests
	$(GO) test $(PKG)

race: ## all tests under the race detector (needs a C compiler)
	$(GO) test -race $(PKG)

integration: ## the tests on Apache Kafka: one node, three, a secured one (needs Java 17, Maven, openssl)
	scripts/integration.sh

python: ## the package in python/: wheels, linter, tests, example (needs Python 3.11; Linux on x86-64)
	scripts/python.sh fetch
	scripts/python.sh test

wheel: ## the wheels of the package in python/, to bin/ (PYTHON with hatchling)
	PYTHON='$(PYTHON)' scripts/wheel.sh bin

release: ## archives of the programs for every platform, SBOMs, source, image, chart, wheels (PYTHON with hatchling) and SHA256SUMS, in dist/
	PYTHON='$(PYTHON)' scripts/release.sh
	PYTHON='$(PYTHON)' scripts/release.sh try

image: ## the image for two processors, to bin/eerf-image.tar, without a container engine
	mkdir -p bin && scripts/image.sh bin/eerf-image.tar

chart: ## helm's own checks of the chart in k8s/chart
	$(HELM) lint --strict k8s/chart --set image.repository=registry.example.com/eerf
	$(HELM) template any k8s/chart --set image.repository=registry.example.com/eerf --set autoscaling.enabled=true --set monitoring.enabled=true >/dev/null

late-labels: ## the example that joins events and labels with Flink, on a real Kafka (needs Java 17, Maven, openssl)
	examples/late-labels/run.sh

apiserver: ## the manifests and the documented commands against a real API server of Kubernetes (builds it once, in minutes)
	scripts/apiserver.sh run bash -c 'cd cmd/internal/checks && $(GO) test -count=1 -v -run APIServer ./k8s'

noasm: ## all tests without assembly, in dependencies as well
	$(GO) test -tags noasm $(PKG)

avx2: ## all tests with the kernel for processors without AVX-512
	GODEBUG=cpu.avx512f=off $(GO) test -count=1 $(PKG)

generate: ## the assembly and the messages of ONNX, from the generators in internal/tools
	$(GO) generate $(PKG)

lint: ## golangci-lint with go vet, at the version of .ci/run; go vet for another processor
	$(GOLANGCI_LINT) run $(PKG)
	GOARCH=arm64 CGO_ENABLED=0 $(GO) vet $(PKG)

vulnerabilities: ## known vulnerabilities that the programs can reach (asks vuln.go.dev)
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

mutants: ## MUTANTS damaged Arrow streams; of other formats a half, of tensors, events and own messages a quarter, of each kind of schema a twentieth; SEED=N repeats a run
	@set -e; seed=$${SEED:-$$(date +%s)}; \
	mutants() { \
		echo "$$1: $$2 mutants of seed $$seed"; \
		$(GO) test -run "^Test$$3Mutants$$" -count=1 -timeout 0 -v $$1 -mutant.seed $$seed -mutant.count $$2; \
	}; \
	mutants ./arrowio $(MUTANTS); \
	mutants ./arrowio/formats $$(($(MUTANTS) / 2)); \
	mutants ./arrowio/formats $$(($(MUTANTS) / 20)) Schema; \
	mutants ./arrowio/tensors $$(($(MUTANTS) / 4)); \
	for package in ./stages ./arrowio/wire; do mutants $$package $$(($(MUTANTS) / 4)); done

# Each schedule has a real broker to itself.
soak_on = $(if $(filter real,$(KAFKA)),scripts/kafka.sh run --nodes $(NODES)) $(GO) test -run '^TestSchedules$$' -count=1 -timeout 0 -v \
	./internal/crash -kafka $(KAFKA) -at-a-time $(PARALLEL)

soak: ## SCHEDULES random crash schedules, PARALLEL at a time; KIND=crashes, another kind or all; KAFKA=embedded, or real with NODES=1; SEED=N sets the first one
	$(soak_on) -cells 0 -schedules $(SCHEDULES) -kind $(KIND) $(if $(SEED),-seed $(SEED))

soak-matrix: ## every crash point with every action, KAFKA=embedded or real
	$(soak_on) -cells -1 -schedules 0

soak-back: ## how long partitions pause after SIGKILL: ROUNDS of each kind of death, KAFKA=embedded or real; more than WORST fails
	$(if $(filter real,$(KAFKA)),scripts/kafka.sh run) $(GO) test -run '^TestBack$$' -count=1 -timeout 0 -v ./internal/crash -kafka $(KAFKA) -rounds $(ROUNDS) -worst $(WORST)

soak-speed: ## full speed for DURATION: memory, goroutines and lag must not grow
	EERF_TEST_SPEED=$(DURATION) $(GO) test -run '^TestFullSpeed$$' -count=1 -timeout 0 -v ./cmd/internal/pressure

# Each of these writes the output of go test to a file in bin/, which benchstat compares with another run's.
rounds = ROUNDS=$(ROUNDS) TABLE='$(1)' scripts/bench.sh bin/$@.txt -benchtime $(BENCHTIME) -benchmem

partitions: ## memory compared with its bound for PARTITIONS, many schemas and hostile input, and the cost of partitions: the table of docs/internals/performance.md
	EERF_TEST_PARTITIONS=$(PARTITIONS) EERF_TEST_PARTITIONS_TABLE=10,100,1000 $(GO) test -run 'Partitions|Bound' -count=1 -timeout 0 -v ./cmd/internal/pressure

bench: ## benchmarks in rounds, as benchstat prints them
	$(call rounds,tool benchstat) -bench '$(BENCH)' $(BENCHPKG)

beside = tool benchstat -row .name,/rows,/dim,/features -col /by

bench-peers: ## numpy and scikit-learn of PYTHON in the same benchmarks, on one core
	PEERS='$(PYTHON) lab/scripts/bench_peers.py' $(call rounds,$(beside)) -bench '$(PEERBENCH)' ./scoring

bench-learn: ## learning frequencies with numpy of PYTHON in the same benchmark, on one core
	PEERS='$(PYTHON) lab/scripts/learn_peer.py' $(call rounds,tool benchstat -row /part -col /by) -bench '^BenchmarkLearn$$' ./scoring/adaptive

bench-doc: ## the tables of docs/internals/performance.md, from the output of bench in bin/
	$(GO) run -C internal/tools ./benchtable -only benchmarks -into $(CURDIR)/docs/internals/performance.md $(CURDIR)/bin/bench.txt

benchstat: ## compares the files OLD and NEW of two runs
	cd internal/tools && $(GO) tool benchstat $(abspath $(OLD)) $(abspath $(NEW))

demo: ## everything in one process, on the embedded broker
	$(GO) run ./cmd/featurizer demo

ci: ## all checks of the continuous integration: half an hour
	.ci/run

nightly: ## measurements and searches: hours; STEPS="mutants crashes" runs only these
	.ci/nightly $(STEPS)
