# The policy {{.Name}}, in Rust without its standard library. It needs rustc with the
# target wasm32-unknown-unknown: `rustup target add wasm32-unknown-unknown`, or as
# root, on Debian:
#
#	apt-get install --no-install-recommends rustc libstd-rust-dev-wasm32 lld make
#
#	make           builds {{.Name}}.wasm
#	make test      holds it to the gateway's contract
#	make push      uploads it; it stays a draft
#	make try       asks the draft about input.json
#	make activate  uses it
# The first rustc that has the target; the system's own may stand behind another.
RUSTC ?= $(shell for r in rustc /usr/bin/rustc; do \
	[ ! -d "$$($$r --print target-libdir --target wasm32-unknown-unknown 2>/dev/null)" ] || { echo $$r; exit; }; done; echo rustc)
# Nothing, if it has a linker of its own; Debian's has none.
LINKER ?= $(shell ls $$($(RUSTC) --print sysroot)/lib/rustlib/*/bin/rust-lld >/dev/null 2>&1 || command -v wasm-ld || command -v wasm-ld-19)
GATEWRIGHT ?= gatewright
PARAMS = {{.Params}}

{{.Name}}.wasm: policy.rs gatewright.rs
	$(RUSTC) --edition 2021 --crate-type cdylib --crate-name policy --target wasm32-unknown-unknown \
		-C opt-level=3 -C lto -C panic=abort -C strip=symbols $(if $(LINKER),-C linker=$(LINKER)) \
		-C link-args="--no-fatal-warnings --stack-first -zstack-size=8192 --initial-memory=65536 --max-memory=4194304" \
		-o $@ policy.rs

{{.Targets}}
