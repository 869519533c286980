# Targets for people; .ci/run calls `make test FULL=1`.
GO ?= go
BIN := bin
# -race needs a C compiler; without one the tests run plain and say so.
RACE := $(shell command -v gcc >/dev/null 2>&1 && echo -race)
TESTFLAGS ?=
BENCHFLAGS ?=
FUZZTIME ?= 20s
LINT := $(BIN)/golangci-lint

.DEFAULT_GOAL := help
.PHONY: help build run test check fmt lint bench microbench fuzz soak tutorial

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build bin/gatewright: one file, which needs nothing of the system that it runs on
	CGO_ENABLED=0 $(GO) build -trimpath -o $(BIN)/gatewright ./cmd/gatewright

run: build ## start the demo: a gateway in front of three simulated upstreams
	$(BIN)/gatewright demo

test: ## run every test that this machine can run (FULL=1: a left-out part is a failure)
	@scripts/test $(TESTFLAGS)

check: ## gofmt, vet, lint and the import rules: what a review would ask for first
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); exit 1; }
	$(GO) vet ./...
	$(GO) test -run . .
	@$(MAKE) --no-print-directory lint

fmt: $(LINT) ## format the code
	$(LINT) fmt ./...

lint: $(LINT) ## run the linters
	$(LINT) run ./...

$(LINT): internal/tools/go.mod
	cd internal/tools && $(GO) build -o ../../$(LINT) github.com/golangci/golangci-lint/v2/cmd/golangci-lint

bench: build ## measure the whole gateway against a bare proxy: the table of docs/performance.md
	$(GO) run -C internal/bench . -gateway $(abspath $(BIN)/gatewright) $(BENCHFLAGS)

microbench: ## benchmarks of the request path's parts (10 runs each, for benchstat)
	$(GO) test -run '^$$' -bench . -benchmem -count 10 ./engine/... ./builtin/... ./store/... ./internal/wire/... ./internal/provider/...

fuzz: ## run each fuzz target for FUZZTIME
	@scripts/fuzz $(FUZZTIME)

soak: ## the tests at the length that CI leaves out: more than an hour
	GATEWRIGHT_SOAK=1 $(GO) test $(RACE) -timeout 60m -run Soak ./...
	cd internal/e2e && GATEWRIGHT_SOAK=1 $(GO) test -count=1 -timeout 4h -v .

tutorial: ## follow docs/policies.md word for word on a bare Debian, in each language (root; SUITE=bookworm)
	@scripts/tutorial $(SUITE)
