# The policy {{.Name}}, in AssemblyScript. It needs Node.js and npm; make installs the
# compiler that package.json names into node_modules.
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

node_modules/.bin/asc:
	npm install

{{.Targets}}
