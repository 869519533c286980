package form

import (
	"errors"
	"fmt"
	"mime"
	"strings"
)

// MediaType is the type of a form, without parameters.
const MediaType = "multipart/form-data"

// maxBoundary is the longest boundary that RFC 2046 allows, in bytes.
const maxBoundary = 70

// Boundary returns the boundary of a form from its content type. The error says
// what is wrong with the header and can be shown to its sender.
func Boundary(contentType string) (string, error) {
	kind, parameters, err := mime.ParseMediaType(contentType)
	switch {
	case err != nil:
		return "", errors.New("the content type cannot be read: write " + MediaType + "; boundary=…")
	case kind != MediaType:
		return "", errors.New("the content type is not " + MediaType)
	}
	boundary, given := parameters["boundary"]
	switch {
	case !given:
		return "", errors.New("the content type has no boundary: do not set it by hand, an HTTP library writes it together with the form")
	case boundary == "", len(boundary) > maxBoundary:
		return "", fmt.Errorf("the boundary has %d bytes: 1 to %d are allowed", len(boundary), maxBoundary)
	}
	for i := range len(boundary) {
		if !boundaryByte(boundary[i]) {
			return "", errors.New("the boundary holds a byte that is not allowed in one: use letters, digits and dashes")
		}
	}
	if strings.HasSuffix(boundary, " ") {
		return "", errors.New("the boundary ends in a space: leave that out")
	}
	return boundary, nil
}

// boundaryByte reports whether RFC 2046 allows a byte in a boundary.
func boundaryByte(b byte) bool {
	return b-'0' <= 9 || b|0x20 >= 'a' && b|0x20 <= 'z' || strings.IndexByte("'()+_,-./:=? ", b) >= 0
}

// ContentType returns the content type of a form with a boundary that
// [Boundary] returned.
func ContentType(boundary string) string {
	return mime.FormatMediaType(MediaType, map[string]string{"boundary": boundary})
}
