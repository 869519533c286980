test: {{.Name}}.wasm
	$(GATEWRIGHT) policy test{{.Profile}} $(PARAMS) {{.Name}}.wasm

push: test
	$(GATEWRIGHT) policy push{{.Profile}} {{.Name}} {{.Name}}.wasm

try: push
	$(GATEWRIGHT) policy try {{.Name}} --input input.json $(PARAMS)

activate: push
	$(GATEWRIGHT) policy activate {{.Name}}

.PHONY: test push try activate
