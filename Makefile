# The commands of daily work. `make ci` is what the continuous integration runs.

GO            ?= go
GOLANGCI_LINT ?= $(GO) run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
FUZZTIME      ?= 10s
BENCH         ?= .
BENCHCOUNT    ?= 6
PKG           ?= ./...

.DEFAULT_GOAL := test
.PHONY: build test race integration noasm vet lint fmt fuzz-short bench demo ci help

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

build: ## build the programs into bin/
	$(GO) build -o bin/ ./cmd/...

test: ## all tests
	$(GO) test $(PKG)

race: ## all tests under the race detector (needs a C compiler)
	$(GO) test -race $(PKG)

integration: ## the broker's tests against Apache Kafka (needs Java 17 and Maven)
	scripts/kafka.sh run $(GO) test -count=1 ./pipeline/kafka

noasm: ## all tests without assembly, in the modules used as well
	$(GO) test -tags noasm $(PKG)

vet: ## go vet, also of the files for another processor
	$(GO) vet $(PKG)
	GOARCH=arm64 CGO_ENABLED=0 $(GO) vet $(PKG)

lint: ## golangci-lint at the version that .ci/run uses
	$(GOLANGCI_LINT) run $(PKG)

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

bench: ## benchmarks, in a form that benchstat compares
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -count $(BENCHCOUNT) $(PKG)

demo: ## everything in one process, on the embedded broker
	$(GO) run ./cmd/featurizer demo

ci: ## what the continuous integration runs
	.ci/run
