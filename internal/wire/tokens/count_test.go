package tokens

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// kinds are texts of several kinds, by their names.
func kinds(tb testing.TB) map[string][]byte {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	if err != nil || len(files) == 0 {
		tb.Fatalf("no texts: %v", err)
	}
	texts := make(map[string][]byte, len(files))
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			tb.Fatal(err)
		}
		texts[strings.TrimSuffix(filepath.Base(f), ".txt")] = text
	}
	return texts
}

// TestSizesErrLow holds the sizes of the public encodings to texts of all kinds:
// none is estimated to have more tokens than it has, and no size is larger than
// that takes.
func TestSizesErrLow(t *testing.T) {
	for _, model := range []string{"gpt-4o", "gpt-4"} {
		size, largest := Size(model), int64(0)
		for name, text := range kinds(t) {
			tokens, bytes := Count(model, text), int64(len(text))
			if estimate := bytes * 1000 / size; estimate > tokens {
				t.Errorf("%s, %s: %d tokens, estimated as %d", model, name, tokens, estimate)
			}
			largest = max(largest, bytes*1000/tokens)
		}
		if size > largest+largest/50 {
			t.Errorf("%s: the size of %d is far above the largest seen, %d", model, size, largest)
		}
	}
}

// TestFamilies checks which models belong together.
func TestFamilies(t *testing.T) {
	for model, want := range map[string]string{
		"gpt-5": "o200k", "openai/gpt-5-mini": "o200k", "gpt-4o-2024-08-06": "o200k", "gpt-4.1": "o200k", "o3-mini": "o200k",
		"openai/o1": "o200k", "openai/gpt-oss-120b": "o200k", "chatgpt-4o-latest": "o200k", "GPT-5": "o200k",
		"gpt-4": "cl100k", "gpt-4-turbo": "cl100k", "gpt-3.5-turbo": "cl100k", "gpt-35-turbo": "cl100k", "text-embedding-3-small": "cl100k",
		"claude-sonnet-4-5": "claude", "us.anthropic.claude-opus-4-1-20250805-v1:0": "claude", "anthropic/claude-haiku-4.5": "claude",
		"models/gemini-2.5-pro": "gemini", "gemma-3-27b-it": "gemini",
		"meta-llama/Llama-3.3-70B-Instruct": "llama", "deepseek-r1-distill-llama-70b": "llama", "deepseek-r1-distill-qwen-32b": "qwen",
		"deepseek-chat": "deepseek", "qwen3-coder": "qwen", "mistral-large-latest": "mistral", "codestral-2501": "mistral",
		"grok-4": "default", "my-deployment": "default", "": "default", "o": "default", "ollama-thing": "llama", "openai/": "default",
	} {
		if got := familyOf(model).name; got != want {
			t.Errorf("%q is of %s, want %s", model, got, want)
		}
	}
	for i := range families {
		if f := families[i].family; f.size > familyDefault.size || f.least < familyDefault.least {
			t.Errorf("%s has size %d and least %d: what is unknown must err lower than all that is known", f.name, f.size, f.least)
		}
	}
}

// TestCountIsExact compares with the tokenizer over the whole text, which texts
// of words allow.
func TestCountIsExact(t *testing.T) {
	for name, text := range kinds(t) {
		long := []byte(strings.Repeat(string(text)+"\n\n", 20))
		want, err := o200k.get().Count(string(long))
		if err != nil {
			t.Fatal(err)
		}
		got := Count("gpt-5", long)
		switch name {
		case "chinese", "japanese": // no spaces, so pieces end within words
			if diff := got - int64(want); diff < 0 || diff > int64(len(long)/pieceBytes*2) {
				t.Errorf("%s: %d tokens, want little more than %d", name, got, want)
			}
		default:
			if got != int64(want) {
				t.Errorf("%s: %d tokens, want %d", name, got, want)
			}
		}
	}
	for text, want := range map[string]int64{"": 0, "hello world": 2, "\xff\xfe": 1} {
		if got := Count("gpt-4o", []byte(text)); got != want {
			t.Errorf("%q: %d tokens, want %d", text, got, want)
		}
	}
}

// TestHostileTexts have no places to cut at, or take tokenizers long. Whole, the
// worst of them would take seconds.
func TestHostileTexts(t *testing.T) {
	for name, unit := range map[string]string{
		"one letter": "a", "spaces": " ", "line ends": "\n", "lines of a space": "\n ", "tabs and ends": "\t\n", "marks": "\u0301",
		"one character": "中", "digits": "1", "no UTF-8": "\xff", "changing case": "aB", "emoji": "👍",
	} {
		text := []byte(strings.Repeat(unit, 128<<10/len(unit)))
		if got := Count("gpt-4o", text); got <= 0 || got > int64(len(text)) {
			t.Errorf("%s: %d tokens of %d bytes", name, got, len(text))
		}
	}
}

// TestLongTexts are looked at in part, and come near.
func TestLongTexts(t *testing.T) {
	text := kinds(t)["english"]
	one := Count("gpt-4o", text)
	long := []byte(strings.Repeat(string(text), 8<<20/len(text)))
	c := counter{codec: o200k.get()}
	c.add(long)
	if c.bytes > exactBytes+len(long)/sampleOf+pieceBytes {
		t.Errorf("%d bytes of %d were counted", c.bytes, len(long))
	}
	want := one * int64(len(long)/len(text))
	if diff := c.tokens - want; diff > want/20 || diff < -want/20 {
		t.Errorf("%d tokens, want about %d", c.tokens, want)
	}
}

// TestPieces cuts between characters, within bounds, and loses nothing.
func TestPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.StringN(1, 40, -1).Draw(t, "unit")
		text := []byte(strings.Repeat(unit, 4*pieceBytes/len(unit)))
		for len(text) > 0 {
			n := piece(text)
			if n <= 0 || n > pieceBytes {
				t.Fatalf("piece of %d bytes", n)
			}
			if utf8.Valid(text) && !utf8.Valid(text[:n]) {
				t.Fatalf("a piece ends within a character: %q", text[max(n-4, 0):n])
			}
			text = text[n:]
		}
	})
}

// TestCountInParallel lets many load and use the tokenizers at once.
func TestCountInParallel(t *testing.T) {
	text := kinds(t)["go"]
	want := Count("gpt-4o", text)
	var wait sync.WaitGroup
	for range 16 {
		wait.Go(func() {
			for range 8 {
				if got := Count("gpt-4o", text); got != want {
					t.Errorf("%d tokens, want %d", got, want)
				}
				Count("gpt-4", text)
			}
		})
	}
	wait.Wait()
}
