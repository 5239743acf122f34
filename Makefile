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
SERVETIME     ?= 5m
SERVEPYTHON   ?=
PYTHON        ?= python3
BENCH         ?= .
BENCHPKG      ?= ./scoring/... ./training/... ./stages
BENCHSKIP     ?= ^BenchmarkGrowth
PEERBENCH     ?= ^Benchmark(Score|Transform)$$/././././procs=1$$
BENCHTIME     ?= 0.3s
ROUNDS        ?= 6
PKG           ?= ./...
RESULTS       ?= bin/results
GORELEASER    ?= github.com/goreleaser/goreleaser/v2@v2.16.0
RELEASE       ?=
METHODS       ?= plain,plain-tuned,linear,orf,sorf,qmc,ses,lkrf,residual,adaptive,adaptive-refined

.DEFAULT_GOAL := test
.PHONY: build test race integration python wheel release late-labels apiserver noasm avx2 generate lint vulnerabilities fmt fuzz-short demo ci nightly help
.PHONY: messy mutants partitions soak soak-matrix soak-speed serve-load serve-speed
.PHONY: bench bench-peers bench-learn bench-growth bench-doc benchstat
.PHONY: results-regression results-classes results-small results-speed results-trees results-doc results-overview

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

release: ## archives of the programs for every platform, SBOMs, source, wheels (PYTHON with hatchling) and SHA256SUMS, to dist/
	VERSION=$$(scripts/build.sh stamp | sed -n 's/^VERSION=//p') $(GO) run $(GORELEASER) release --snapshot --clean $(RELEASE)
	PYTHON='$(PYTHON)' scripts/wheel.sh dist

late-labels: ## events and labels joined by Flink, learned from and predicted, on a real Kafka (needs Java 17, Maven, openssl)
	examples/late-labels/run.sh

apiserver: ## the manifests and the documented commands against a real API server of Kubernetes (builds it once, in minutes)
	scripts/apiserver.sh run bash -c 'cd cmd/internal/checks && $(GO) test -count=1 -v -run APIServer ./k8s'

noasm: ## all tests without assembly, in the modules used as well
	$(GO) test -tags noasm $(PKG)

avx2: ## all tests as on a processor without AVX-512
	GODEBUG=cpu.avx512f=off $(GO) test -count=1 $(PKG)

generate: ## the assembly and the messages of ONNX, from the generators in internal/tools
	$(GO) generate $(PKG)

lint: ## golangci-lint, go vet among it, at the version that .ci/run uses; go vet for another processor
	$(GOLANGCI_LINT) run $(PKG)
	GOARCH=arm64 CGO_ENABLED=0 $(GO) vet $(PKG)

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

mutants: ## MUTANTS damaged Arrow streams, half as many of each other format, a quarter as many tensors, events, Kafka batches, own messages; SEED=N repeats a run
	@set -e; seed=$${SEED:-$$(date +%s)}; \
	mutants() { \
		echo "$$1: $$2 mutants of seed $$seed"; \
		$(GO) test -run '^TestMutants$$' -count=1 -timeout 0 -v $$1 -mutant.seed $$seed -mutant.count $$2; \
	}; \
	mutants ./arrowio $(MUTANTS); \
	mutants ./arrowio/formats $$(($(MUTANTS) / 2)); \
	mutants ./arrowio/tensors $$(($(MUTANTS) / 4)); \
	for package in ./stages ./arrowio/wire; do mutants $$package $$(($(MUTANTS) / 4)); done

# On a real broker, each schedule has it for itself.
soak_on = $(if $(filter real,$(KAFKA)),scripts/kafka.sh run --nodes $(NODES)) $(GO) run ./internal/crash/soak schedules --kafka $(KAFKA) --parallel $(PARALLEL)

soak: ## SCHEDULES random schedules of crashes, PARALLEL at a time, KIND=crashes, another one or all, KAFKA=embedded, or real with NODES=1; SEED=N begins with that one
	$(soak_on) --count $(SCHEDULES) --kind $(KIND) $(if $(SEED),--seed $(SEED))

soak-matrix: ## every point of a crash with every action, KAFKA=embedded or real
	$(soak_on) --matrix

soak-speed: ## full speed for DURATION, with samples of memory, goroutines and lag
	$(GO) run ./internal/crash/soak speed --duration $(DURATION)

serve-load: ## featurizer serve asked for SERVETIME while its feature set and model change every ten seconds: no request may fail
	$(GO) run ./cmd/internal/serveload load --duration $(SERVETIME)

serve-speed: ## the time of a prediction of featurizer serve beside an empty answer, and beside scikit-learn behind FastAPI (SERVEPYTHON)
	$(GO) run ./cmd/internal/serveload speed $(if $(SERVEPYTHON),--python $(SERVEPYTHON))

# Each of these writes what go test prints to a file in bin/, which benchstat compares with another run's.
rounds = ROUNDS=$(ROUNDS) TABLE='$(1)' scripts/bench.sh bin/$@.txt -benchtime $(BENCHTIME) -benchmem

partitions: ## memory beside its bound for PARTITIONS under hostile input, and what partitions cost: the table of docs/internals/performance.md
	EERF_TEST_PARTITIONS=$(PARTITIONS) EERF_TEST_PARTITIONS_TABLE=10,100,1000 $(GO) test -run Partitions -count=1 -timeout 0 -v ./cmd/internal/pressure

bench: ## benchmarks in rounds, as benchstat prints them
	$(call rounds,tool benchstat) -bench '$(BENCH)' -skip '$(BENCHSKIP)' $(BENCHPKG)

beside = tool benchstat -row .name,/rows,/dim,/features -col /by

bench-peers: ## numpy and scikit-learn of PYTHON beside the same benchmarks, on one core
	PEERS='$(PYTHON) scripts/bench_peers.py' $(call rounds,$(beside)) -bench '$(PEERBENCH)' ./scoring

bench-learn: ## learning frequencies in numpy of PYTHON beside the same benchmark, on one core
	PEERS='$(PYTHON) scripts/learn_peer.py' $(call rounds,tool benchstat -row /part -col /by) -bench '^BenchmarkLearn$$' ./scoring/adaptive

bench-growth: ## how times grow with each number, with pictures in docs/pictures
	$(call rounds,run ./benchtable -only costs -growth $(CURDIR)/docs/pictures) -bench '^BenchmarkGrowth' ./scoring ./training

bench-doc: ## the tables of docs/internals/performance.md, from what the four above wrote to bin/
	@set -e; for part in benchmarks:bench peers:bench-peers peers:bench-learn costs:bench-growth; do \
		file=$(CURDIR)/bin/$${part#*:}.txt; \
		if [ -e "$$file" ]; then \
			$(GO) run -C internal/tools ./benchtable -only $${part%:*} -into $(CURDIR)/docs/internals/performance.md "$$file"; \
		fi; \
	done

benchstat: ## compares the files OLD and NEW of two runs
	cd internal/tools && $(GO) tool benchstat $(abspath $(OLD)) $(abspath $(NEW))

# The tables of learned frequencies in lab/results.md. They need the data sets (EERF_DATA) and go to RESULTS, a folder for each set.
splits   = airfoil concrete parkinsons sml skillcraft pumadyn32nm keggdirected
measured = $(GO) run -C lab . compare --repeats 5 --methods $(METHODS) --sample 1

results-regression: ## learned frequencies beside other methods: regression (half an hour on one core)
	@set -e; for set in $(splits); do $(measured) --dataset $$set --features 200 --out $(RESULTS)/$$set; done
	$(measured) --dataset news-log --sample-rows 10000 --features 200 --candidates 4000 --standardize numeric --clip 5 --out $(RESULTS)/news-log

results-classes: ## the same for classes (an hour on one core)
	@set -e; for set in a9a adult letter; do \
		$(measured) --dataset $$set --sample-rows 10000 --features 100 --candidates 2000 --out $(RESULTS)/$$set; done
	$(measured) --dataset har --sample-rows 10000 --features 200 --candidates 4000 --out $(RESULTS)/har
	$(measured) --dataset mnist --sample-rows 10000 --features 450 --candidates 9000 --standardize none --out $(RESULTS)/mnist

results-small: ## the same with samples of 300 and 1000 rows
	@set -e; for rows in 300 1000; do for set in $(splits); do \
		$(measured) --dataset $$set --sample-rows $$rows --features 200 --out $(RESULTS)/small-$$rows/$$set; done; done

results-speed: ## errors against the time of a row, on one core
	@set -e; for set in parkinsons airfoil; do GOMAXPROCS=1 $(GO) run -C lab . compare --repeats 5 --dataset $$set \
		--methods plain,residual,adaptive-refined --features 50,100,200,400 --candidates 8000 --out $(RESULTS)/speed/$$set; done

results-trees: ## boosted trees on the same splits (PYTHON with numpy, scikit-learn, lightgbm)
	@mkdir -p $(RESULTS)
	$(PYTHON) scripts/trees.py --out $(RESULTS)/trees.json $(splits) news-log a9a adult letter har
	$(PYTHON) scripts/trees.py --trees 20,50,100,200,500 --out $(RESULTS)/trees-speed.json parkinsons airfoil

messy: ## what is learned from a file as people have them, beside boosted trees (PYTHON with numpy, pandas, scikit-learn)
	@mkdir -p bin
	$(GO) build -o bin/ ./cmd/trainer
	$(GO) run ./cmd/internal/messy/file -rows 50000 > bin/messy.csv
	$(PYTHON) scripts/messy.py --trainer bin/trainer --rows bin/messy.csv

tables = $(GO) run -C lab ./results $(if $(wildcard $(RESULTS)/trees.json),-trees $(RESULTS)/trees.json) -into $(CURDIR)/lab/results.md
files  = $(foreach set,$(1),$(wildcard $(RESULTS)/$(set)/results*.json))
figure = $(GO) run -C lab ./results -trees $(RESULTS)/trees-speed.json -figure $(CURDIR)/docs/pictures/speed-$(1).svg $(RESULTS)/speed/$(1)/results.json

results-doc: ## the tables and figures of lab/results.md, from what the five above wrote
	$(tables) -only regression $(call files,$(splits) news-log)
	$(tables) -only classes $(call files,a9a adult letter har mnist)
	$(call figure,parkinsons)
	$(call figure,airfoil)
	$(MAKE) results-overview

results-overview: ## the figure of the README, from the tables of lab/results.md
	$(GO) run -C lab ./results -overview $(CURDIR)/docs/pictures/learned.svg $(CURDIR)/lab/results.md

demo: ## everything in one process, on the embedded broker
	$(GO) run ./cmd/featurizer demo

ci: ## what the continuous integration runs: half an hour
	.ci/run

nightly: ## what only measures or searches: hours; STEPS="mutants crashes" runs only these
	.ci/nightly $(STEPS)
