package openai

import (
	"gatewright/internal/wire/scan"
)

// AppendError appends an error body of the protocol to dst and returns the
// longer slice. Empty texts become null, except the message.
func AppendError(dst []byte, message, typ, param, code string) []byte {
	dst = append(dst, `{"error":{"message":`...)
	dst = scan.AppendString(dst, message)
	for _, f := range [...]struct{ key, value string }{{"type", typ}, {"param", param}, {"code", code}} {
		dst = append(dst, ',', '"')
		dst = append(dst, f.key...)
		dst = append(dst, '"', ':')
		if f.value == "" {
			dst = append(dst, "null"...)
			continue
		}
		dst = scan.AppendString(dst, f.value)
	}
	return append(dst, '}', '}')
}
