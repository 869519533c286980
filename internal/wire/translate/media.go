package translate

import (
	"strings"

	"gatewright/internal/wire/scan"
)

// isWeb reports whether an address is one that a service can fetch from.
func isWeb(url string) bool {
	scheme, _, ok := strings.Cut(url, "://")
	return ok && (strings.EqualFold(scheme, "https") || strings.EqualFold(scheme, "http"))
}

// imageType returns the type of an image by how its base64 begins, PNG if it
// begins like none that is known.
func imageType(data string) string {
	for _, known := range [...]struct{ begin, mime string }{
		{"/9j/", "image/jpeg"}, {"R0lGOD", "image/gif"}, {"UklGR", "image/webp"},
	} {
		if strings.HasPrefix(data, known.begin) {
			return known.mime
		}
	}
	return "image/png"
}

// cutDataURL returns the type and the base64 of a data URL, false if it is none
// or is not base64.
func cutDataURL(url string) (mime, data string, ok bool) {
	const prefix = "data:"
	if len(url) < len(prefix) || !strings.EqualFold(url[:len(prefix)], prefix) {
		return "", "", false
	}
	head, data, ok := strings.Cut(url[len(prefix):], ",")
	mime, coded := strings.CutSuffix(head, ";base64")
	mime, _, _ = strings.Cut(mime, ";")
	return mime, data, ok && coded
}

// dataURL returns the data URL of a medium.
func dataURL(m *Media, mime string) string {
	if m.MIME != "" {
		mime = m.MIME
	}
	return "data:" + mime + ";base64," + m.Data
}

// objectArguments returns arguments that are no JSON object as one.
func objectArguments(arguments string) string {
	if isBlank(arguments) {
		return "{}"
	}
	return string(append(scan.AppendString([]byte(`{"invalid_json":`), arguments), '}'))
}
