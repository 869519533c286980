# The policy {{.Name}}, in Go. It needs Go 1.24 or later. Go brings its runtime along:
# the module has 2 MB and runs in the profile go. As root, on Debian 13 (Debian 12 has
# an older Go):
#
#	apt-get install --no-install-recommends golang-go make
#
#	make           builds {{.Name}}.wasm
#	make test      holds it to the gateway's contract
#	make push      uploads it; it stays a draft
#	make try       asks the draft about input.json
#	make activate  uses it
GO ?= go
GATEWRIGHT ?= gatewright
PARAMS = {{.Params}}

{{.Name}}.wasm: main.go $(wildcard gatewright/*.go manifest/*.go)
	GOOS=wasip1 GOARCH=wasm CGO_ENABLED=0 $(GO) build -trimpath -buildmode=c-shared -ldflags="-s -w" -o $@ .
	$(GO) run ./manifest $@ main.go

{{.Targets}}
