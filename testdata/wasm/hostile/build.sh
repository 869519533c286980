#!/bin/sh
# Assembles the modules of this folder. Needs the WebAssembly Binary Toolkit.
set -e
cd "$(dirname "$0")"
features="--enable-threads --enable-tail-call --enable-multi-memory --enable-memory64 --enable-exceptions"
for text in *.wat; do
  wat2wasm $features -o "${text%.wat}.wasm" "$text"
done
