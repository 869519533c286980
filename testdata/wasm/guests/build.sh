#!/bin/sh
# Builds the guests of this folder. Needs clang and lld of version 19 and the
# WebAssembly Binary Toolkit.
set -e
cd "$(dirname "$0")"
flags="--target=wasm32-unknown-unknown -O2 -nostdlib -ffreestanding -mbulk-memory
  -Wl,--no-entry -Wl,--strip-all -Wl,-z,stack-size=8192 -Wl,--max-memory=4194304 -fuse-ld=lld"
for guest in rank admit; do
  clang-19 $flags -o $guest.wasm $guest.c
done
