package anthropic

import "gatewright/internal/wire/scan"

// question makes the question for a count of a translated request: it takes out
// what only the making of an answer needs, for the service refuses that.
func question(request []byte) []byte {
	const depth = 1 << 20 // the body is the gateway's own
	var gone []scan.Member
	err := scan.Object(request, depth, func(m scan.Member) error {
		switch string(m.Key) {
		case "model", "messages", "system", "tools", "tool_choice", "thinking", "output_config":
		default:
			gone = append(gone, m)
		}
		return nil
	})
	if err != nil {
		return request // the service will say what is wrong
	}
	return scan.Splice(nil, request, scan.Remove(nil, request, gone...))
}
