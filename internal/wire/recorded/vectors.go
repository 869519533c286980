package recorded

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
)

// Vectors reads the vectors of an answer to embeddings, and whether they are in
// base64.
func Vectors(body []byte) (list [][]float64, packed bool, err error) {
	var a struct {
		Data []struct{ Embedding json.RawMessage }
	}
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, false, err
	}
	for i, one := range a.Data {
		var vector []float64
		var text string
		if json.Unmarshal(one.Embedding, &text) != nil {
			if err := json.Unmarshal(one.Embedding, &vector); err != nil {
				return nil, false, fmt.Errorf("vector %d: %w", i, err)
			}
			list = append(list, vector)
			continue
		}
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil, false, fmt.Errorf("vector %d: %w", i, err)
		}
		packed = true
		for ; len(raw) >= 4; raw = raw[4:] {
			vector = append(vector, float64(math.Float32frombits(binary.LittleEndian.Uint32(raw))))
		}
		list = append(list, vector)
	}
	return list, packed, nil
}

// Near reports whether two lists of vectors are the same to the precision of 32
// bits.
func Near(a, b [][]float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if len(a[i]) != len(b[i]) {
			return false
		}
		for j := range a[i] {
			if math.Abs(a[i][j]-b[i][j]) > 1e-6 {
				return false
			}
		}
	}
	return true
}
