package fault

import (
	"slices"
	"strings"
)

const masked = "***"

var (
	// keyPrefixes begin the keys of well-known services.
	keyPrefixes = []string{
		"sk-", "sk_", "pk-", "pk_", "rk_", "gsk_", "xai-", "hf_", "r8_", "fw_", "tgp_", "csk-", "pplx-", "nvapi-",
		"AIza", "AKIA", "ASIA", "ya29.", "ghp_", "github_pat_", "eyJ",
	}
	// keyNames are the words after which a credential stands: "api_key=…".
	keyNames = []string{
		"key", "apikey", "token", "secret", "password", "passwd", "pwd", "authorization", "signature", "sig",
		"credential", "credentials", "provided",
	}
	// idPrefixes begin the ids that services give to what clients see: an error that
	// names one helps nobody without it.
	idPrefixes = []string{
		"resp_", "msg_", "rs_", "fc_", "ctc_", "ws_", "fs_", "ci_", "ig_", "mcp_", "mcpl_", "mcpr_", "cmp_", "item_", "conv_",
		"pmpt_", "call_", "toolu_", "srvtoolu_", "chatcmpl-", "file-", "file_", "vs_", "cntr_", "container_", "req_", "gen-",
	}
	// schemeWords may follow "Bearer" or "Basic" without being a credential.
	schemeWords = []string{
		"tokens", "access", "authentication", "authorization", "header", "headers", "scheme", "format", "required",
		"missing", "expected", "credential", "credentials", "invalid",
	}
)

// mask replaces what looks like a credential: keys with a known prefix, values
// after "key=", "token:" and the like, what follows "Bearer" and "Basic", the
// user part of an address, and long runs that look random unless they are ids of a
// kind that is known. It would rather hide an id than show a key.
func mask(s string) string {
	s = maskUsers(s)
	var b strings.Builder
	b.Grow(len(s))
	prev := ""
	for s != "" {
		n := span(s, false)
		gap := s[:n]
		s = s[n:]
		b.WriteString(gap)
		n = span(s, true)
		word := s[:n]
		s = s[n:]
		if bare := strings.TrimRight(word, "."); isSecret(prev, gap, bare) {
			word = masked + word[len(bare):]
		}
		b.WriteString(word)
		prev = word
	}
	return b.String()
}

// span measures the run of word bytes, or of other bytes, that s begins with.
func span(s string, word bool) int {
	for i := range len(s) {
		if isWordByte(s[i]) != word {
			return i
		}
	}
	return len(s)
}

func isWordByte(b byte) bool {
	return isAlnum(b) || strings.IndexByte("_-+/.*~%", b) >= 0
}

func isAlnum(b byte) bool { return b-'0' <= 9 || b|0x20 >= 'a' && b|0x20 <= 'z' }

// isSecret judges a word by the word before it, by what stands between the two,
// and by itself.
func isSecret(prev, gap, word string) bool {
	if word == "" {
		return false
	}
	for _, prefix := range keyPrefixes {
		if i := strings.Index(word, prefix); i == 0 || i > 0 && !isAlnum(word[i-1]) {
			rest := word[i+len(prefix):]
			if prefix == "sk-" && len(rest) > 3 || len(rest) > 7 && (unlikeProse(rest) || len(rest) > 16) {
				return true
			}
		}
	}
	if strings.EqualFold(prev, "bearer") || strings.EqualFold(prev, "basic") {
		return len(word) > 5 && !slices.Contains(schemeWords, strings.ToLower(word))
	}
	if name := lastPart(prev); slices.Contains(keyNames, name) {
		switch strings.Trim(gap, " \"'`\\") {
		case "=":
			return true
		case ":":
			return unlikeProse(word) || len(word) > 16
		case "":
			if strings.ContainsAny(gap, "\"'`") && len(word) > 7 && unlikeProse(word) {
				return true
			}
		}
	}
	return holdsRandom(word)
}

// holdsRandom reports whether a part of a word looks random and is no id.
func holdsRandom(word string) bool {
	parts := strings.FieldsFunc(word, func(r rune) bool { return r == '/' || r == '.' })
	return slices.ContainsFunc(parts, func(s string) bool { return looksRandom(s) && !isID(s) })
}

// isID reports whether s is an id that a service gives to what clients see.
func isID(s string) bool {
	for i := range len(s) {
		if !isAlnum(s[i]) && s[i] != '_' && s[i] != '-' {
			return false
		}
	}
	return slices.ContainsFunc(idPrefixes, func(prefix string) bool { return strings.HasPrefix(s, prefix) })
}

// lastPart returns the last part of a name like "x-api_key", lower case.
func lastPart(name string) string {
	name = strings.ToLower(name)
	return name[strings.LastIndexAny(name, "_-./")+1:]
}

// unlikeProse reports whether s holds a digit or a star, as keys do and words
// do not, and is not simply a number.
func unlikeProse(s string) bool {
	return strings.ContainsAny(s, "0123456789*") && strings.Trim(s, "0123456789") != ""
}

// looksRandom reports whether s is long and changes between digits, lower and
// upper case as often as only random text does.
func looksRandom(s string) bool {
	const (
		short, hex, endless = 20, 32, 64 // bytes
	)
	digits, changes, hexes, separators := 0, 0, 0, 0
	last := 0
	for i := range len(s) {
		class := classOf(s[i])
		switch class {
		case classDigit:
			digits++
		case classNone:
			separators++
		}
		if class != last && class != classNone && last != classNone {
			changes++
		}
		if b := s[i] | 0x20; class == classDigit || b >= 'a' && b <= 'f' {
			hexes++
		}
		last = class
	}
	switch n := len(s); {
	case n < short:
		return false
	case n >= endless && separators == 0, n >= hex && hexes+separators == n && digits > 5:
		return true
	default:
		return digits > 2 && changes*10 >= n*3
	}
}

const (
	classNone = iota
	classDigit
	classLower
	classUpper
)

func classOf(b byte) int {
	switch {
	case b-'0' <= 9:
		return classDigit
	case b >= 'a' && b <= 'z':
		return classLower
	case b >= 'A' && b <= 'Z':
		return classUpper
	}
	return classNone
}

// maskUsers hides the user part of addresses: "https://user:password@host".
func maskUsers(s string) string {
	const scheme = "://"
	if !strings.Contains(s, scheme) || !strings.Contains(s, "@") {
		return s
	}
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, scheme)
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		b.WriteString(scheme)
		host := rest
		if i := strings.IndexAny(rest, "/ ?#"); i >= 0 {
			host = rest[:i]
		}
		if i := strings.LastIndexByte(host, '@'); i >= 0 {
			b.WriteString(masked)
			rest = rest[i:]
		}
		s = rest
	}
}
