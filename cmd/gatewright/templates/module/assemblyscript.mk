# The policy {{.Name}}, in AssemblyScript. It needs Node.js, 18 or later, and npm; make
# installs the compiler that package.json names into node_modules. As root, on Debian:
#
#	apt-get install --no-install-recommends nodejs npm make
#
#	make           builds {{.Name}}.wasm
#	make test      holds it to the gateway's contract
#	make push      uploads it; it stays a draft
#	make try       asks the draft about input.json
#	make activate  uses it
ASC ?= node_modules/.bin/asc
GATEWRIGHT ?= gatewright
PARAMS = {{.Params}}

{{.Name}}.wasm: policy.ts gatewright.ts manifest.mjs | $(ASC)
	$(ASC) policy.ts -O3 --runtime stub --use abort= --initialMemory 1 --maximumMemory 64 \
		--transform ./manifest.mjs -o $@

# Only errors are shown: npm would warn that the compiler was not tried with Debian's
# version of it, which is fine.
node_modules/.bin/asc:
	npm ci --loglevel=error --no-audit --no-fund

{{.Targets}}
