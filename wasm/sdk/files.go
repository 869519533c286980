package sdk

import "embed"

// Files are the SDKs and their examples, by their paths below this folder:
// c/gatewright.h, go/gatewright/gatewright.go and so on. They are what a new policy
// begins with.
//
//go:embed c/*.h c/*.c rust/*.rs assemblyscript/*.ts assemblyscript/*.mjs assemblyscript/package*.json
//go:embed go/gatewright/*.go go/manifest/main.go go/admission/main.go go/ranking/main.go
var Files embed.FS
