#!/bin/sh
# Builds the worked examples of the SDKs:
#
#	build.sh [-o FOLDER] [c] [rust] [assemblyscript] [go]
#
# Without languages it builds c, rust and assemblyscript, whose modules are in the
# repository (testdata/wasm/sdk, where they go without -o). The compilers are
#
#	c               $CLANG, or the first clang of 14 or later that has its wasm-ld;
#	                19 made those in the repository, so it is looked for first
#	rust            $RUSTC, or a rustc that has the target wasm32-unknown-unknown: the
#	                one of the path, or the system's own behind another of that name
#	assemblyscript  $ASC, or the asc that `npm ci` put beside the SDK, or asc
#	go              $GO, or go, 1.24 or later
#
# A language whose compiler is missing is an error, which says what brings it on
# Debian. `build.sh -n LANGUAGE…` builds nothing: it prints the compilers it finds.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$here/../../testdata/wasm/sdk
only_ask=

has() { command -v "$1" >/dev/null 2>&1; }

# brings says what brings a compiler.
brings() { # language
	case $1 in
	c) echo "apt-get install --no-install-recommends clang lld" ;;
	rust) echo "apt-get install --no-install-recommends rustc libstd-rust-dev-wasm32 lld" ;;
	assemblyscript) echo "npm ci --prefix wasm/sdk/assemblyscript" ;;
	go) echo "Go 1.24 or later" ;;
	esac
}

find_c() {
	for c in ${CLANG:-clang-19 clang clang-23 clang-22 clang-21 clang-20 clang-18 clang-17 clang-16 clang-15 clang-14}; do
		has "$c" && has "$("$c" -print-prog-name=wasm-ld)" && echo "$c" && return 0
	done
	return 1
}

find_rust() {
	for r in ${RUSTC:-rustc /usr/bin/rustc}; do
		has "$r" || continue
		d=$("$r" --print target-libdir --target wasm32-unknown-unknown 2>/dev/null) || continue
		[ -d "$d" ] && linker "$r" >/dev/null && echo "$r" && return 0
	done
	return 1
}

find_assemblyscript() {
	for a in ${ASC:-"$here/assemblyscript/node_modules/.bin/asc" asc}; do
		has "$a" && echo "$a" && return 0
	done
	return 1
}

find_go() { has "${GO:-go}" && echo "${GO:-go}"; }

# linker is what a rustc is told to link with: nothing if it brings its own linker,
# as rustup's does; Debian's needs the one of lld.
linker() { # rustc
	for l in "$("$1" --print sysroot)"/lib/rustlib/*/bin/rust-lld; do
		[ ! -x "$l" ] || return 0
	done
	for l in wasm-ld wasm-ld-19 wasm-ld-14; do
		has "$l" && echo "-C linker=$l" && return 0
	done
	return 1
}

compiler_of() { # language
	case $1 in
	c | rust | assemblyscript | go) ;;
	*) echo "build.sh: there is no language $1: write c, rust, assemblyscript or go" >&2 && exit 2 ;;
	esac
	"find_$1" && return 0
	echo "build.sh: no compiler of $1 is there; bring it with: $(brings "$1")" >&2
	exit 3
}

# source_of a policy: features and removals are for tests alone.
source_of() { # folder of the language, policy, ending
	case $2 in
	features | removals) echo "testdata/wasm/sdk/features/$2.$3" ;;
	*) echo "wasm/sdk/$1/$2.$3" ;;
	esac
}

build_c() { # policy
	"$compiler" --target=wasm32-unknown-unknown -std=c11 -Wall -Wextra -O2 -mbulk-memory -ffreestanding -nostdlib \
		-fuse-ld=lld -Wl,--no-entry -Wl,--strip-all -Wl,--stack-first -Wl,-z,stack-size=8192 \
		-Wl,--max-memory=4194304 -I wasm/sdk/c -o "$out/c-$1.wasm" "$(source_of c "$1" c)"
}

# A rustc that is older than the linker makes it warn of files that are not objects.
build_rust() { # policy
	# shellcheck disable=SC2046 # two words, or none
	"$compiler" --edition 2021 --crate-type cdylib --crate-name "$1" --target wasm32-unknown-unknown \
		-C opt-level=3 -C lto -C panic=abort -C strip=symbols $(linker "$compiler") \
		-C link-args="--no-fatal-warnings --stack-first -zstack-size=8192 --initial-memory=65536 --max-memory=4194304" \
		-o "$out/rust-$1.wasm" "$(source_of rust "$1" rs)"
}

build_assemblyscript() { # policy
	"$compiler" "$(source_of assemblyscript "$1" ts)" -O3 --runtime stub --use abort= --initialMemory 1 --maximumMemory 64 \
		--transform ./wasm/sdk/assemblyscript/manifest.mjs -o "$out/assemblyscript-$1.wasm"
}

build_go() { # policy
	folder=wasm/sdk/go/$1
	[ -d "$folder" ] || folder=testdata/wasm/sdk/features/go/$1
	GOOS=wasip1 GOARCH=wasm CGO_ENABLED=0 GOFLAGS="" "$compiler" build -trimpath -buildmode=c-shared -ldflags="-s -w" \
		-o "$out/go-$1.wasm" "./$folder"
	"$compiler" run ./wasm/sdk/go/manifest "$out/go-$1.wasm" "$folder/main.go"
}

# The sources that the modules in the repository were made of: a test looks whether
# they have changed since.
note() { # language
	case $1 in
	c) sha256sum wasm/sdk/c/*.[ch] testdata/wasm/sdk/features/*.c ;;
	rust) sha256sum wasm/sdk/rust/*.rs testdata/wasm/sdk/features/*.rs ;;
	assemblyscript) sha256sum wasm/sdk/assemblyscript/*.*s testdata/wasm/sdk/features/*.ts ;;
	esac >"$out/$1.sums"
}

while getopts no: flag; do
	case $flag in
	n) only_ask=1 ;;
	o) out=$(cd "$OPTARG" && pwd) ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- c rust assemblyscript
[ -z "$only_ask" ] || {
	for language; do compiler_of "$language"; done
	exit 0
}
cd "$here/../.."
for language; do
	compiler=$(compiler_of "$language")
	for policy in admission ranking features removals; do
		"build_$language" "$policy"
		chmod 644 "$out/$language-$policy.wasm"
	done
	[ "$language" = go ] || note "$language" # Go's are not kept
done
