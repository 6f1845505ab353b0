# The checks themselves live in .ci/run, which runs where make is not installed.

FUZZTIME ?= 30s

# Every module of the repository, the root's first.
MODULE_DIRS := $(sort $(patsubst ./%,%,$(patsubst %/,%,$(dir $(shell find . -name go.mod -not -path '*/.*/*' -not -path '*/testdata/*')))))

.DEFAULT_GOAL := help

.PHONY: help
help: ## Show the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "%-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build every package of every module
	@for dir in $(MODULE_DIRS); do echo "-- $$dir"; (cd $$dir && go build ./...) || exit 1; done

.PHONY: test
test: ## Run the tests of the root module
	go test ./...

.PHONY: race
race: ## Run what starts goroutines under the race detector
	.ci/run race

.PHONY: modules
modules: ## Build and test the nested modules
	.ci/run modules

.PHONY: soak
soak: ## Run the property tests on 100 times as many cases, others each hour
	PLIMSOLL_SOAK=100 PLIMSOLL_WINDOW=$$(( $$(date +%s) / 3600 )) go test -timeout 12h ./...

.PHONY: shares
shares: ## Check shares on spot nodes and room after each step of 360 random clusters
	PLIMSOLL_SOAK=3 go test -timeout 2h -v -run TestStepsKeepSpotPoliciesAndRoom ./scheduling/disruption

.PHONY: lint
lint: ## Run the pinned golangci-lint, with all analyzers of go vet, over every module
	.ci/run lint

.PHONY: fmt-check
fmt-check: ## Check the formatting
	.ci/run format

.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME (30s)
	FUZZTIME=$(FUZZTIME) .ci/run fuzz

.PHONY: bench
bench: ## Run the benchmarks
	go test -timeout 2h -run '^$$' -bench . -benchmem ./...

.PHONY: golden
golden: ## Write the expected outputs of tests anew; read the diff before you commit it
	@for flag in rewrite update; do \
		for dir in $$(grep -rlE --include='*_test.go' "flag\.Bool\(\"$$flag\"" . | xargs -r -n1 dirname | sort -u); do \
			echo "-- $$dir -$$flag"; go test $$dir -$$flag || exit 1; \
		done; \
	done

.PHONY: release
release: ## Build the files of a release into dist
	.ci/release $(shell git describe --tags --exact-match 2>/dev/null || echo v0.0.0-g$$(git rev-parse --short HEAD)) dist

.PHONY: generate
generate: ## Make the embedded catalogs anew (downloads their sources)
	@for dir in $(MODULE_DIRS); do echo "-- $$dir"; (cd $$dir && go generate ./...) || exit 1; done

.PHONY: tidy
tidy: ## Tidy go.mod and go.sum of every module
	@for dir in $(MODULE_DIRS); do echo "-- $$dir"; (cd $$dir && go mod tidy) || exit 1; done

.PHONY: tidy-check
tidy-check: ## Check that every module is tidy
	.ci/run tidy

.PHONY: ci
ci: ## Everything that has to pass before a change is merged
	.ci/run
