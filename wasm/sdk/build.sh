#!/bin/sh
# Builds the worked examples of the SDKs:
#
#	build.sh [-o FOLDER] [c] [rust] [assemblyscript] [go]
#
# Without languages it builds c, rust and assemblyscript, whose modules are in the
# repository (testdata/wasm/sdk, where they go without -o). It needs
#
#	c               apt-get install --no-install-recommends clang-19 lld-19
#	rust            apt-get install --no-install-recommends rustc libstd-rust-dev-wasm32 lld-19
#	                (or any rustc with the target wasm32-unknown-unknown)
#	assemblyscript  npm install --prefix FOLDER assemblyscript@0.28.20, and
#	                ASC=FOLDER/node_modules/.bin/asc
#	go              Go 1.24 or later
#
# Other compilers: CLANG, RUSTC, ASC and GO. A language whose compiler is missing is
# an error, and `build.sh -n LANGUAGE` says only whether it is there.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$here/../../testdata/wasm/sdk
only_ask=
CLANG=${CLANG:-clang-19}
ASC=${ASC:-asc}
GO=${GO:-go}

has() { command -v "$1" >/dev/null 2>&1; }

missing() { # what, how to bring it
	echo "build.sh: $1; see the head of this script for what brings it" >&2
	exit 3
}

# A rustc that has the target: the one that is named, the one of the path, or the
# system's own behind another of the same name.
find_rustc() {
	for r in ${RUSTC:-rustc /usr/bin/rustc}; do
		has "$r" || continue
		d=$("$r" --print target-libdir --target wasm32-unknown-unknown 2>/dev/null) || continue
		[ -d "$d" ] && echo "$r" && return 0
	done
	return 1
}

need() {
	case $1 in
	c) has "$CLANG" && has wasm-ld-19 || missing "no $CLANG with wasm-ld-19" ;;
	rust) rustc=$(find_rustc) || missing "no rustc with the target wasm32-unknown-unknown" ;;
	assemblyscript) has "$ASC" || missing "no $ASC" ;;
	go) has "$GO" || missing "no $GO" ;;
	*) echo "build.sh: there is no language $1: write c, rust, assemblyscript or go" >&2 && exit 2 ;;
	esac
}

# source of a policy: features and removals are for tests alone.
source() { # folder of the language, policy, ending
	case $2 in
	features | removals) echo "testdata/wasm/sdk/features/$2.$3" ;;
	*) echo "wasm/sdk/$1/$2.$3" ;;
	esac
}

build_c() { # policy
	"$CLANG" --target=wasm32-unknown-unknown -std=c11 -Wall -Wextra -O2 -mbulk-memory -ffreestanding -nostdlib \
		-fuse-ld=lld -Wl,--no-entry -Wl,--strip-all -Wl,--stack-first -Wl,-z,stack-size=8192 \
		-Wl,--max-memory=4194304 -I wasm/sdk/c -o "$out/c-$1.wasm" "$(source c "$1" c)"
}

# A rustc that is older than the linker makes it warn of files that are not objects.
build_rust() { # policy
	linker=
	! has wasm-ld-19 || linker="-C linker=wasm-ld-19"
	# shellcheck disable=SC2086 # two words
	"$rustc" --edition 2021 --crate-type cdylib --crate-name "$1" --target wasm32-unknown-unknown \
		-C opt-level=3 -C lto -C panic=abort -C strip=symbols $linker \
		-C link-args="--no-fatal-warnings --stack-first -zstack-size=8192 --initial-memory=65536 --max-memory=4194304" \
		-o "$out/rust-$1.wasm" "$(source rust "$1" rs)"
}

build_assemblyscript() { # policy
	"$ASC" "$(source assemblyscript "$1" ts)" -O3 --runtime stub --use abort= --initialMemory 1 --maximumMemory 64 \
		--transform ./wasm/sdk/assemblyscript/manifest.mjs -o "$out/assemblyscript-$1.wasm"
}

build_go() { # policy
	folder=wasm/sdk/go/$1
	[ -d "$folder" ] || folder=testdata/wasm/sdk/features/go/$1
	GOOS=wasip1 GOARCH=wasm CGO_ENABLED=0 GOFLAGS= "$GO" build -trimpath -buildmode=c-shared -ldflags="-s -w" \
		-o "$out/go-$1.wasm" "./$folder"
	"$GO" run ./wasm/sdk/go/manifest "$out/go-$1.wasm" "$folder/main.go"
}

# The sources that the modules in the repository were made of: a test looks whether
# they have changed since.
note() { # language, ending
	sha256sum wasm/sdk/"$1"/* testdata/wasm/sdk/features/*."$2" >"$out/$1.sums"
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
for language; do need "$language"; done
[ -z "$only_ask" ] || exit 0
cd "$here/../.."
for language; do
	for policy in admission ranking features removals; do
		"build_$language" "$policy"
		chmod 644 "$out/$language-$policy.wasm"
	done
	case $language in
	c) note c c ;;
	rust) note rust rs ;;
	assemblyscript) note assemblyscript ts ;;
	esac
done
