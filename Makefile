# What a developer does with eddy. `make test` is everything that CI runs.

CARGO ?= cargo
PROFILE ?= release
QUICKSTART := examples/quickstart/eddy.yaml
TARGET := $(or $(CARGO_TARGET_DIR),target)
FUZZ_SECONDS ?= 60

.DEFAULT_GOAL := help
.PHONY: help run build test test-go test-c test-bare fmt lint docs bench bench-crowd bench-transports bench-filters bench-routes bench-protobuf bench-peers bench-calls bench-bridge bench-waf waf mutants nightly soak fuzz

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## build eddy without optimization and start the quick start
	$(CARGO) build --profile quickstart -p eddy
	@echo
	@echo 'eddy starts with $(QUICKSTART). In another terminal, try:'
	@echo
	@echo '  curl -i http://127.0.0.1:8080/echo              # through the gateway to the demo endpoint'
	@echo '  curl -i http://127.0.0.1:9901/clusters          # what the gateway knows of it'
	@echo '  $(TARGET)/quickstart/eddy explain $(QUICKSTART) http://127.0.0.1:8080/echo'
	@echo
	@echo 'Change the file and save: it is in force within a second. Ctrl-C ends it.'
	@echo
	@exec $(TARGET)/quickstart/eddy run $(QUICKSTART)

build: ## build everything
	$(CARGO) build --profile $(PROFILE) --workspace

DRIVER := $(CARGO) build --profile quick --package test-driver && CARGO=$(CARGO) $(TARGET)/quick/test-driver

test: ## everything that CI runs; a summary of failures and skips comes last
	@$(DRIVER)

test-go: ## tests of Go code: the SDKs for filters, the example filters, filters written for Envoy
	@$(DRIVER) go

test-c: ## the example filters in C
	@$(DRIVER) c

test-bare: ## the tests on a bare Debian with Rust, Go, a C compiler and make; needs root and debootstrap
	tests/bare/run

fmt: ## format the code
	$(CARGO) fmt --all

lint: ## formatting and lints
	@$(DRIVER) lint

docs: ## the reference of the code, in target/doc
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --workspace --no-deps --document-private-items

bench: ## whole-system benchmarks against the peers; bench/README.md says how to narrow them
	$(CARGO) build --release -p eddy -p eddy-bench
	EDDY=$${EDDY:-$(TARGET)/release/eddy} $(TARGET)/release/eddy-bench run

TRANSPORTS := h2-1 h2-10 h2-100 h2s-10 get-tls grpc-unary handshake handshake-resumed handshake-pq relay-1g relay-100b websocket transcode idle-h2

bench-transports: ## HTTP/2, gRPC, TLS handshakes, relays and transcoding, against the peers
	$(CARGO) build --release -p eddy -p eddy-bench
	EDDY=$${EDDY:-$(TARGET)/release/eddy} NAME=transports SECONDS=$(or $(SECONDS),0.8) ROUNDS=$(or $(ROUNDS),8) \
		SCENARIOS=$(subst $(EMPTY) $(EMPTY),$(COMMA),$(strip $(TRANSPORTS))) $(TARGET)/release/eddy-bench run
	$(TARGET)/release/eddy-bench report bench/results/transports.json --into README.md

CROWDS := $(foreach count,200 1000 5000 10000,crowd-$(count)) $(foreach count,200 1000 5000 10000,crowd-$(count)-busy)

bench-crowd: ## many busy connections, on a quiet machine and beside busy loops, against nginx and Envoy
	$(CARGO) build --release -p eddy -p eddy-bench
	EDDY=$${EDDY:-$(TARGET)/release/eddy} NAME=crowd TARGETS=$(or $(TARGETS),eddy$(COMMA)nginx$(COMMA)envoy) SECONDS=$(or $(SECONDS),2) ROUNDS=$(or $(ROUNDS),8) \
		SCENARIOS=$(subst $(EMPTY) $(EMPTY),$(COMMA),$(strip $(CROWDS))) $(TARGET)/release/eddy-bench run

bench-filters: ## what filters cost in eddy and in the peers, in each of their languages
	$(CARGO) build --release -p eddy -p eddy-bench
	bench/peers/build-filters
	EDDY=$${EDDY:-$(TARGET)/release/eddy} EDDY_NATIVE_LIBRARIES=$${EDDY_NATIVE_LIBRARIES:-$(TARGET)/release} \
		$(TARGET)/release/eddy-bench filters

TABLES := $(foreach count,10 1000 10000,table-$(count)-first table-$(count)-last table-$(count)-miss)
COMMA := ,
EMPTY :=

bench-routes: ## what a lookup of a route costs, by kind and number of rules, and tables served by eddy, nginx and Envoy
	$(CARGO) bench -p eddy-route --bench lookup -- --json $(CURDIR)/bench/results/routes.json
	$(CARGO) run --profile quick -p eddy-bench -- report bench/results/routes.json --into docs/guide/routing.md
	$(CARGO) build --release -p eddy -p eddy-bench
	EDDY=$${EDDY:-$(TARGET)/release/eddy} TARGETS=eddy,nginx,envoy NAME=tables \
		SCENARIOS=$(subst $(EMPTY) $(EMPTY),$(COMMA),$(strip $(TABLES))) $(TARGET)/release/eddy-bench run

bench-protobuf: ## what fields, redaction and JSON of protobuf messages cost, beside going through objects, and codecs of Rust and Go
	$(CARGO) bench -p eddy-protobuf --bench protobuf -- --json $(CURDIR)/bench/results/protobuf.json
	$(CARGO) run --profile quick -p eddy-bench -- report bench/results/protobuf.json --into docs/guide/protobuf.md
	cd bench/protobuf/rust && $(CARGO) run --release -- --json $(CURDIR)/bench/results/protobuf-rust.json
	$(CARGO) run --profile quick -p eddy-bench -- report bench/results/protobuf-rust.json --into docs/guide/protobuf.md
	cd bench/protobuf && go run ./generate && go run . -json $(CURDIR)/bench/results/protobuf-go.json
	$(CARGO) run --profile quick -p eddy-bench -- report bench/results/protobuf-go.json --into docs/guide/protobuf.md

bench-calls: ## what calls between Go and native code cost, with four versions of Go
	cd bench/calls && go run ./run

bench-bridge: ## what calls between Go and native code cost, and between processes, with four versions of Go
	cd bench/bridge && go run ./run

bench-peers: ## install the peers that tests and benchmarks compare with
	bench/peers/install; peers=$$?; tests/differential/install && exit $$peers

waf: ## the test cases of the OWASP Core Rule Set: Coraza's own HTTP handler and the example filter in eddy, some minutes; CASES=^942 runs fewer
	$(CARGO) build --profile $(PROFILE) -p eddy
	cd tests/waf && go run . -eddy $(or $(EDDY),$(abspath $(TARGET))/$(PROFILE)/eddy) -cases '$(CASES)' $(if $(CASES),,-results .)

bench-waf: ## what clean requests cost with Coraza: net/http, the example filter in eddy, eddy without it; some four minutes
	$(CARGO) build --release -p eddy
	cd tests/waf && go run . -cost -eddy $(or $(EDDY),$(abspath $(TARGET))/release/eddy) -results .

mutants: ## plant faults and expect the tests to notice each; NAMES="one another" plants fewer
	$(CARGO) xtask mutants $(NAMES)

nightly: test ## the long runs that need no supervision: the whole corpus, random orders of filters, the bridge under a sanitizer, fuzzing, planted faults
	$(CARGO) xtask nightly --fuzz-seconds $(FUZZ_SECONDS) $(if $(EDDY_CORPUS),--corpus $(EDDY_CORPUS))

soak: ## the tests that take long: a million requests, hundreds of reloads, hand-overs and kills
	$(CARGO) xtask soak

fuzz: ## each fuzz target for FUZZ_SECONDS; needs a nightly toolchain and cargo-fuzz
	set -e; cd fuzz; for target in $(basename $(notdir $(wildcard fuzz/targets/*.rs))); do \
		$(CARGO) +nightly fuzz run $$target -- -max_total_time=$(FUZZ_SECONDS); \
	done
