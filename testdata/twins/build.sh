#!/bin/sh
# Builds the twins that are written in C. Needs clang-19 and lld-19, or CLANG.
set -eu
cd "$(dirname "$0")/../.."
for source in testdata/twins/*.c; do
	"${CLANG:-clang-19}" --target=wasm32-unknown-unknown -std=c11 -Wall -Wextra -O2 -mbulk-memory -ffreestanding -nostdlib \
		-fuse-ld=lld -Wl,--no-entry -Wl,--strip-all -Wl,--stack-first -Wl,-z,stack-size=8192 \
		-Wl,--max-memory=4194304 -I wasm/sdk/c -o "${source%.c}.wasm" "$source"
	chmod 644 "${source%.c}.wasm"
done
# What they were made of: a test looks whether it has changed since.
sha256sum testdata/twins/*.c wasm/sdk/c/gatewright.h >testdata/twins/sources.sums
