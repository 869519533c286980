package config

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf16"
)

// yamlEscapes rewrites the two escapes of JSON that the YAML reader does not
// know: the slash, and characters beyond the basic plane as two halves. Other
// text is returned as it is.
func yamlEscapes(data []byte) []byte {
	if !bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")) || !bytes.ContainsRune(data, '\\') || !json.Valid(data) {
		return data
	}
	out := make([]byte, 0, len(data)+len(data)/16)
	for i := 0; i < len(data); i++ {
		if data[i] != '\\' { // in valid JSON it stands in strings alone
			out = append(out, data[i])
			continue
		}
		switch next := data[i+1]; {
		case next == '/':
			out = append(out, '/')
			i++
		case next == 'u' && pair(data[i:]) != 0:
			out = append(out, string(pair(data[i:]))...)
			i += 11
		default:
			out = append(out, '\\', next)
			i++
		}
	}
	return out
}

// pair returns the character that \uXXXX\uXXXX at the beginning of text stands
// for, 0 if it is no pair of halves.
func pair(text []byte) rune {
	if len(text) < 12 || text[6] != '\\' || text[7] != 'u' {
		return 0
	}
	high, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	low, err2 := strconv.ParseUint(string(text[8:12]), 16, 16)
	if err != nil || err2 != nil || !utf16.IsSurrogate(rune(high)) {
		return 0
	}
	if r := utf16.DecodeRune(rune(high), rune(low)); r != '\ufffd' {
		return r
	}
	return 0
}
