# Targets are commands of their own; "make help" lists them.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:

# The version is recorded in the program; without one a build says so.
VERSION ?= v0.0.0-devel
CACHE := $(CURDIR)/.cache
# No binary holds the folder's name, so that another clone of the same commit, as
# CI's, finds compiled what this one has compiled.
export GOFLAGS := -trimpath $(GOFLAGS)
BIN := $(CACHE)/bin
GOFLAGS_BUILD := -trimpath -tags urfave_cli_no_docs -ldflags '-s -w -X main.version=$(VERSION)'
# The linter knows by their paths the files that a rule leaves out: whole ones, and
# not what it remembers of another clone.
LINT := GOFLAGS= GOLANGCI_LINT_CACHE=$(CACHE)/lint go tool -modfile=$(CURDIR)/tools/go.mod golangci-lint
# The packages of integration/ that need a control plane, which mostly wait.
CLUSTERS := addons|managed|fargate|controlplane
# Each part of the tests prints how long it took.
TIMED = @start=$$(date +%s); trap 'echo "== $@: $$(( $$(date +%s) - start )) s"' EXIT;

.PHONY: help build agent demo demo-cluster setup kube test test-short unit clients integration clusters verify generate lint tidy bench release clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

build: ## build the program into bin/
	CGO_ENABLED=0 go build $(GOFLAGS_BUILD) -o bin/eksproxy ./cmd/eksproxy

agent: ## build the agent alone, as it runs on nodes
	CGO_ENABLED=0 go build -trimpath -tags 'nodeonly urfave_cli_no_docs' -ldflags '-s -w -X main.version=$(VERSION)' -o $(BIN)/eksproxy-agent ./cmd/eksproxy

demo: agent ## plan, apply and revert on a scratch tree: no AWS, no cluster, no root
	@cd integration && go build -o $(BIN)/metadata-server ./cmd/metadata-server
	@integration/demo.sh $(BIN)

demo-cluster: kube ## put the add-ons of a cluster behind the proxy and back, on a real control plane
	@CGO_ENABLED=0 go build $(GOFLAGS_BUILD) -o $(BIN)/eksproxy ./cmd/eksproxy
	@cd integration && go build -o $(BIN)/controlplane ./cmd/controlplane
	@integration/demo-cluster.sh $(BIN)

kube: ## build the control plane that the tests of a cluster talk to
	$(TIMED) integration/controlplane/build.sh

setup: ## install what the tests need: Debian packages (as root)
	$(TIMED) integration/setup.sh

test: setup kube unit clients integration clusters ## run every test
	@echo "== all tests passed"

test-short: unit ## run the tests that need nothing installed

unit: ## unit and command tests, with the race detector, in random order
	$(TIMED) go vet ./... && go test -race -shuffle=on ./...

clients: ## the models of NO_PROXY against the real clients
	$(TIMED) go test -tags integration -timeout 30m -run TestConformance -v ./noproxy | grep -vE '^=== |^ *--- PASS'

integration: agent ## tests against real parts: readers, metadata, namespaces, nodes that boot
	$(TIMED) go test -tags integration -timeout 30m -shuffle=on -run Reader ./node/ ./userdata/ && cd integration && go vet ./... \
	  && go test -timeout 40m -shuffle=on $$(go list ./... | grep -vE '/($(CLUSTERS))$$')

clusters: kube ## tests against a real control plane, which mostly wait: all at once
	$(TIMED) go test -tags integration -timeout 30m -shuffle=on -parallel 8 -run TestCluster ./internal/rollout & rollout=$$!; \
	  cd integration && go test -timeout 40m -shuffle=on -p 4 -parallel 4 $$(go list ./... | grep -E '/($(CLUSTERS))$$') && wait $$rollout

verify: generate lint tidy ## generate, format, lint and tidy, then demand a clean tree
	@git diff --exit-code && test -z "$$(git status --porcelain)" || { git status --short; echo "the tree is not clean: commit what make verify changed"; exit 1; }

generate: ## rewrite generated documentation and golden files
	go test ./cmd/eksproxy -run 'TestReference|TestDocs' -update

lint: ## format and lint
	$(LINT) run --fix ./...
	cd integration && $(LINT) run --config ../.golangci.yml --fix ./...

tidy:
	go mod tidy
	for m in integration tools tools/kubernetes tools/etcd tools/kwok; do (cd $$m && go mod tidy) || exit 1; done

bench: agent kube ## measure the program beside the published shell recipe, bare programs and kubectl
	cd integration && go test -count=1 -v -run 'TestNodeApply|TestFull' ./bench -args -runs 40
	cd integration && go test -count=1 -v -tags bench -run TestBootTime .
	cd integration && go test -count=1 -v -timeout 20m -run TestAddonsPatch ./bench -args -namespaces 500
	go test -tags integration -count=1 -v -run TestSpeed ./noproxy

release: ## build what is shipped into dist/: programs, SBOMs, packages, checksums
	rm -rf dist && release/release.sh dist $(VERSION)

clean: ## remove what was built
	rm -rf bin $(CACHE)
