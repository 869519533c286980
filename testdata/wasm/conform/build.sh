#!/bin/sh
# Assembles the modules of this folder. Needs the WebAssembly Binary Toolkit.
set -e
cd "$(dirname "$0")"
for text in *.wat; do
  wat2wasm -o "${text%.wat}.wasm" "$text"
done
