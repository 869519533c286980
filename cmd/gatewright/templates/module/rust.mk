# The policy {{.Name}}, in Rust without its standard library. It needs rustc with the
# target wasm32-unknown-unknown, one of:
#
#	rustup target add wasm32-unknown-unknown
#	apt-get install --no-install-recommends rustc libstd-rust-dev-wasm32 lld-19 make
#
#	make           builds {{.Name}}.wasm
#	make test      holds it to the gateway's contract
#	make push      uploads it; it stays a draft
#	make try       asks the draft about input.json
#	make activate  uses it
RUSTC ?= rustc
LINKER ?= $(shell command -v wasm-ld-19)
GATEWRIGHT ?= gatewright
PARAMS = {{.Params}}

{{.Name}}.wasm: policy.rs gatewright.rs
	$(RUSTC) --edition 2021 --crate-type cdylib --crate-name policy --target wasm32-unknown-unknown \
		-C opt-level=3 -C lto -C panic=abort -C strip=symbols $(if $(LINKER),-C linker=$(LINKER)) \
		-C link-args="--no-fatal-warnings --stack-first -zstack-size=8192 --initial-memory=65536 --max-memory=4194304" \
		-o $@ policy.rs

{{.Targets}}
