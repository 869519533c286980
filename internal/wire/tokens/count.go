package tokens

import (
	"sync"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer/codec"
)

// encoding is one of the tokenizers. Its vocabulary is loaded by the first who
// uses it, which takes some milliseconds; then it serves many in parallel.
type encoding struct {
	load  func() *codec.Codec
	once  sync.Once
	codec *codec.Codec
}

var (
	o200k  = encoding{load: codec.NewO200kBase}
	cl100k = encoding{load: codec.NewCl100kBase}
)

func (e *encoding) get() *codec.Codec {
	e.once.Do(func() { e.codec = e.load() })
	return e.codec
}

const (
	// pieceBytes is how much text a tokenizer gets at once. Some texts, such as
	// line ends and spaces in turn, take it time that grows with the square.
	pieceBytes = 1 << 10
	// exactBytes is how much text of one request is counted whole; of the rest
	// every sampleOf-th piece is, and stands for its neighbours.
	exactBytes = 2 << 20
	sampleOf   = 16
)

// counter counts the tokens of the texts of one request.
type counter struct {
	codec  *codec.Codec
	bytes  int // counted whole
	pieces int // since then
	tokens int64
}

// add counts a text.
func (c *counter) add(text []byte) {
	for len(text) > 0 {
		n := piece(text)
		weight := int64(1)
		if c.bytes >= exactBytes {
			weight = sampleOf
			c.pieces++
		}
		if weight == 1 || c.pieces%sampleOf == 0 {
			c.tokens += weight * c.count(text[:n])
			c.bytes += n
		}
		text = text[n:]
	}
}

// count returns the tokens of a piece. A tokenizer that gives up, which none has
// been seen to do, is taken to have seen each byte.
func (c *counter) count(text []byte) int64 {
	n, err := c.codec.Count(string(text))
	if err != nil {
		return int64(len(text))
	}
	return int64(n)
}

// piece returns how much of the text to count next: all, or up to a space that
// stands behind a word, where every tokenizer begins a new token, or up to any
// character.
func piece(text []byte) int {
	if len(text) <= pieceBytes {
		return len(text)
	}
	for i := pieceBytes; i > pieceBytes/2; i-- {
		if text[i] == ' ' && text[i-1] > ' ' {
			return i
		}
	}
	for i := pieceBytes; i > pieceBytes-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			return i
		}
	}
	return pieceBytes
}

// Count returns how many tokens a text has for a model: exactly for the models
// of OpenAI, nearly for others. Of a very long text only a part is looked at, so
// the time is bounded. It may be called from several goroutines.
func Count(model string, text []byte) int64 {
	f := familyOf(model)
	c := counter{codec: f.encoding.get()}
	c.add(text)
	return f.typically(c.tokens)
}
