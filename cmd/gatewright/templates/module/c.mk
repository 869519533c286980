# The policy {{.Name}}, in C. It needs clang, 14 or later, with the target wasm32, and
# its lld. As root, on Debian:
#
#	apt-get install --no-install-recommends clang lld make
#
#	make           builds {{.Name}}.wasm
#	make test      holds it to the gateway's contract
#	make push      uploads it; it stays a draft
#	make try       asks the draft about input.json
#	make activate  uses it
CLANG ?= $(shell command -v clang || command -v clang-19 || echo clang)
GATEWRIGHT ?= gatewright
PARAMS = {{.Params}}

{{.Name}}.wasm: policy.c gatewright.h
	$(CLANG) --target=wasm32-unknown-unknown -std=c11 -Wall -Wextra -O2 -mbulk-memory -ffreestanding -nostdlib \
		-fuse-ld=lld -Wl,--no-entry -Wl,--strip-all -Wl,--stack-first -Wl,-z,stack-size=8192 \
		-Wl,--max-memory=4194304 -o $@ policy.c

{{.Targets}}
