package tokens

import "strings"

// family is what models with like tokenizers have in common.
type family struct {
	name     string
	encoding *encoding
	// size is how many bytes of text a token stands for, at most, on average over
	// a text of one kind, in thousandths.
	size int64
	// typical and least are how many of the family's tokens a hundred of the
	// encoding's are: usually, and where it has fewest.
	typical, least int64
	images         imageRule
}

const whole = 100 // of typical and least

// The sizes of OpenAI's encodings are the largest among the texts of testdata:
// prose in Hindi for o200k_base, whose 8.5 bytes are some three letters, and
// indented JSON for cl100k_base. A test holds them to it. English prose has
// about 5 bytes a token in each, code 3.5 to 4, JSON 3.2.
//
// Those of other makers rest on what is published:
//
//   - Claude: "Hidden costs in AI deployment" (May 2025) compares Claude 3.5 with
//     GPT-4o: 16 % more tokens than o200k_base for English, 21 % for mathematics,
//     30 % for Python. Anthropic's glossary gives 3.5 English characters a token.
//   - Gemini: Google's guide gives about 4 characters a token; its vocabulary is
//     larger than o200k_base, so nothing says that its tokens are shorter.
//   - Llama 3: "The Llama 3 Herd of Models" gives 3.94 English characters a token
//     for its vocabulary, which is cl100k_base and 28,000 more for other
//     languages. Llama 4 has 200,000, as o200k_base.
//   - DeepSeek: its guide gives 0.3 tokens an English and 0.6 a Chinese character,
//     which is 5 bytes a token of Chinese where o200k_base has 3.6.
//   - Qwen: its guide gives 3 to 4 English and 1.5 to 1.8 Chinese characters a
//     token, which is up to 5.4 bytes.
//   - Mistral: its notes on Tekken (131,000 tokens) claim gains over its older
//     vocabularies only, which were smaller.
//
// What no row names may be as good as any of them, so its size is the largest
// and its least the smallest.
var (
	familyO200k   = family{"o200k", &o200k, 8600, whole, whole, tiles}
	familyCl100k  = family{"cl100k", &cl100k, 6700, whole, whole, tiles}
	familyClaude  = family{"claude", &o200k, 7400, 120, whole, area}
	familyGemini  = family{"gemini", &o200k, 8600, whole, 85, flat}
	familyLlama   = family{"llama", &o200k, 8600, whole, 85, tiles}
	familyQwen    = family{"qwen", &o200k, 8600, whole, 65, tiles}
	familySeek    = family{"deepseek", &o200k, 6700, whole, 65, tiles}
	familyMistral = family{"mistral", &o200k, 8600, whole, 85, tiles}
	familyDefault = family{"default", &o200k, 8600, whole, 65, area}
)

// families are found by words in a model's name, the first that is there. What
// was distilled into Llama or Qwen has their tokenizer, so DeepSeek comes later.
var families = [...]struct {
	word   string
	family *family
}{
	{"claude", &familyClaude},
	{"gemini", &familyGemini},
	{"gemma", &familyGemini},
	{"llama", &familyLlama},
	{"qwen", &familyQwen},
	{"qwq", &familyQwen},
	{"deepseek", &familySeek},
	{"mistral", &familyMistral},
	{"mixtral", &familyMistral},
	{"ministral", &familyMistral},
	{"magistral", &familyMistral},
	{"codestral", &familyMistral},
	{"devstral", &familyMistral},
	{"pixtral", &familyMistral},
	{"gpt-4o", &familyO200k},
	{"gpt-4.", &familyO200k},
	{"gpt-oss", &familyO200k},
	{"gpt-4", &familyCl100k},
	{"gpt-3", &familyCl100k},
	{"gpt-35", &familyCl100k},
	{"text-embedding", &familyCl100k},
	{"davinci-002", &familyCl100k},
	{"babbage-002", &familyCl100k},
	{"gpt", &familyO200k},
}

// familyOf finds the family of a model by its name, with or without the name of
// a maker or a region in front.
func familyOf(model string) *family {
	model = strings.ToLower(model)
	for i := range families {
		if strings.Contains(model, families[i].word) {
			return families[i].family
		}
	}
	// OpenAI's reasoning models: "o" and a digit.
	bare := model[strings.LastIndexByte(model, '/')+1:]
	if len(bare) > 1 && bare[0] == 'o' && bare[1] >= '1' && bare[1] <= '9' {
		return &familyO200k
	}
	return &familyDefault
}

// Size returns how many bytes of text, as UTF-8, a token of the model stands for
// at most, on average, in thousandths. A length divided by it is no more than
// the tokens that a text of any usual kind has. A model that is not known gets
// the largest of all.
func Size(model string) int64 { return familyOf(model).size }

func (f *family) typically(tokens int64) int64 { return tokens * f.typical / whole }

func (f *family) atLeast(tokens int64) int64 { return tokens * f.least / whole }
