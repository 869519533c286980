package abi

import (
	"encoding/binary"
	"errors"
	"unicode/utf8"
)

// ErrShort is returned by Encode when dst cannot hold the input; Size says how
// much would do.
var ErrShort = errors.New("the buffer is too short for the input")

// Prefixes of the attributes' keys.
const (
	prefixHeader = "header."
	prefixMeta   = "meta."
	prefixTag    = "tag."
	attrID       = "id"
	attrText     = "text"
)

// Size is how many bytes Encode needs at most for in.
func Size(in *Input) int {
	n := textsOf(len(in.Records))
	for _, s := range [...]string{in.Org, in.Team, in.Key, in.Model, in.Session, in.Endpoint} {
		n += min(len(s), MaxText)
	}
	groups := in.attributes()
	n += 4 + 3 // the count, and what aligns it
	for i := range groups {
		n += groups[i].size()
	}
	for i := range in.Records {
		c := &in.Records[i]
		n += len(c.ID) + len(c.Provider) + len(c.Model) + len(c.UpstreamModel) + len(c.Region) + len(c.SupplyTier)
		if len(c.Tags) > 0 {
			n += 4 + 3 + (&group{tags: c.Tags}).size()
		}
	}
	return n
}

// Encode writes in into dst, which is a guest's memory, and returns how much of
// dst it is. Everything that the guest may write is reset. It allocates nothing
// but, the first time, room for medians. The error is ErrShort, ErrTooMany or
// that of tags in no order; dst is of no use then.
func Encode(dst []byte, in *Input, stage Stage) (int, error) {
	if len(in.Records) > MaxRecords {
		return 0, ErrTooMany
	}
	texts := textsOf(len(in.Records))
	if len(dst) < texts {
		return 0, ErrShort
	}
	e := encoder{dst: dst, at: texts}
	if r := in.rosterInUse(); r != nil {
		e.copy(r)
	} else {
		e.fixed(in.Records)
	}
	e.changing(in, stage)
	e.header(in, uint32(texts)) //nolint:gosec // small
	switch {
	case e.unsorted:
		return 0, errUnsorted
	case e.short:
		return 0, ErrShort
	}
	return e.at, nil
}

// encoder writes one buffer. Texts are appended at at.
type encoder struct {
	dst      []byte
	at       int
	short    bool // something did not fit
	unsorted bool
}

func put32(b []byte, v uint32) { binary.LittleEndian.PutUint32(b, v) }

func put64(b []byte, v int64) { binary.LittleEndian.PutUint64(b, uint64(v)) } //nolint:gosec // the same bits

func (e *encoder) header(in *Input, texts uint32) {
	b := (*[HeaderSize]byte)(e.dst)
	n := uint32(len(in.Records)) //nolint:gosec // at most MaxRecords
	order := HeaderSize + n*RecordSize
	put32(b[HeaderMagic:], Magic)
	put32(b[HeaderAbi:], Version)
	put32(b[HeaderCount:], n)
	put32(b[HeaderRecordSize:], RecordSize)
	put32(b[HeaderRecordsOff:], HeaderSize)
	put32(b[HeaderStringsOff:], texts)
	binary.LittleEndian.PutUint64(b[HeaderSeed:], in.Seed)
	put64(b[HeaderNowUnixMs:], in.NowUnixMS)
	put32(b[HeaderInputTokens:], in.InputTokens)
	put32(b[HeaderMaxOutputTokens:], in.MaxOutputTokens)
	put32(b[HeaderRequestFlags:], uint32(in.Flags))
	c := in.calendar()
	b[HeaderHour], b[HeaderWeekday], b[HeaderMonth], b[HeaderDay] = c.hour, c.weekday, c.month, c.day
	put64(b[HeaderBudgetLeftNusd:], in.BudgetLeft)
	put32(b[HeaderOrderOff:], order)
	put32(b[HeaderOrderCount:], 0)
	put32(b[HeaderErrorOff:], order+n*OrderSize)
	put32(b[HeaderErrorCap:], ErrorSize)
	put32(b[HeaderErrorLen:], 0)
	put32(b[HeaderRefusalStatus:], 0)
	put32(b[HeaderRefusalRetryAfterS:], 0)
	put32(b[HeaderRefusalReason:], 0)
	put32(b[HeaderAttemptBudget:], in.AttemptBudget)
	put32(b[HeaderRpmLeft:], in.RPMLeft)
	put32(b[HeaderTpmLeft:], in.TPMLeft)

	e.foreign(b[HeaderOrg:], "", in.Org, MaxText)
	e.foreign(b[HeaderTeam:], "", in.Team, MaxText)
	e.foreign(b[HeaderKey:], "", in.Key, MaxText)
	e.foreign(b[HeaderModel:], "", in.Model, MaxText)
	e.foreign(b[HeaderSession:], "", in.Session, MaxText)
	e.foreign(b[HeaderEndpoint:], "", in.Endpoint, MaxText)
	attrs := uint32(0)
	if in.ID != "" || in.Granted || len(in.Tags)+len(in.Headers)+len(in.Metadata) > 0 {
		groups := in.attributes()
		attrs = e.list(groups[:])
	}
	put32(b[HeaderAttrsOff:], attrs)
}

// text writes a text of the configuration.
func (e *encoder) text(field []byte, s string) {
	if s == "" {
		binary.LittleEndian.PutUint64(field, 0)
		return
	}
	if len(s) > len(e.dst)-e.at {
		e.short = true
		return
	}
	put32(field, uint32(e.at))       //nolint:gosec // within the buffer
	put32(field[4:], uint32(len(s))) //nolint:gosec // within the buffer
	e.at += copy(e.dst[e.at:], s)
}

// foreign writes a text of the client behind a prefix: cut to limit, and with a
// question mark for each byte that is not UTF-8.
func (e *encoder) foreign(field []byte, prefix, s string, limit int) {
	s = cut(s, limit)
	n := len(prefix) + len(s)
	if n == 0 {
		binary.LittleEndian.PutUint64(field, 0)
		return
	}
	if n > len(e.dst)-e.at {
		e.short = true
		return
	}
	put32(field, uint32(e.at))  //nolint:gosec // within the buffer
	put32(field[4:], uint32(n)) //nolint:gosec // within the buffer
	e.at += copy(e.dst[e.at:], prefix)
	written := e.dst[e.at : e.at+len(s)]
	e.at += copy(written, s)
	if !utf8.ValidString(s) {
		repair(written)
	}
}

// list writes lists of pairs as one and returns where it is, 0 if it is empty.
func (e *encoder) list(groups []group) uint32 {
	n := 0
	for i := range groups {
		e.unsorted = e.unsorted || !sorted(groups[i].tags)
		n += groups[i].count()
	}
	if n == 0 {
		return 0
	}
	start := (e.at + 3) &^ 3
	end := start + 4 + n*PairSize
	if end > len(e.dst) {
		e.short = true
		return 0
	}
	clear(e.dst[e.at:start])
	e.at = end
	put32(e.dst[start:], uint32(n))
	pair := e.dst[start+4 : end]
	for i := range groups {
		g := &groups[i]
		left := g.count()
		for k := 0; left > 0; k++ {
			t := &g.tags[k]
			if !usable(t.Key) {
				continue
			}
			e.foreign(pair, g.prefix, t.Key, MaxText)
			e.foreign(pair[TextSize:], "", t.Value, g.limit())
			pair = pair[PairSize:]
			left--
		}
	}
	return uint32(start) //nolint:gosec // within the buffer
}

// group are pairs whose keys share a prefix.
type group struct {
	prefix string
	tags   []Tag
}

// count is how many of them are passed on.
func (g *group) count() int {
	n := 0
	for i := range g.tags {
		if n < MaxPairs && usable(g.tags[i].Key) {
			n++
		}
	}
	return n
}

// usable reports whether a key can be passed on as it is: a key that is cut or
// repaired could be that of another pair.
func usable(key string) bool { return len(key) <= MaxText && utf8.ValidString(key) }

// limit is what their values are cut to.
func (g *group) limit() int {
	if g.prefix == "" && len(g.tags) == 1 && g.tags[0].Key == attrText {
		return MaxGranted
	}
	return MaxText
}

func (g *group) size() int {
	n, passed := 0, 0
	for _, t := range g.tags {
		if passed < MaxPairs && usable(t.Key) {
			n += PairSize + len(g.prefix) + len(t.Key) + min(len(t.Value), g.limit())
			passed++
		}
	}
	return n
}

// attributes are the request's attributes. The prefixes and names ascend, so
// the whole list is sorted if each group is.
func (in *Input) attributes() [5]group {
	g := [5]group{{prefix: prefixHeader, tags: in.Headers}, {}, {prefix: prefixMeta, tags: in.Metadata}, {prefix: prefixTag, tags: in.Tags}, {}}
	if in.ID != "" {
		in.single[0] = Tag{attrID, in.ID}
		g[1].tags = in.single[:1]
	}
	if in.Granted {
		in.single[1] = Tag{attrText, granted(in.Text)}
		g[4].tags = in.single[1:2]
	}
	return g
}

// cut shortens a text to limit bytes, before the character that does not fit.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for i := limit; i > limit-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			return s[:i]
		}
	}
	return s[:limit] // not UTF-8 anyway
}

// granted is how much of the prompt's text is passed on. In JSON a byte may become
// six, and reading them is what an evaluation costs: so it has no more than
// MaxGranted bytes there either.
func granted(s string) string {
	s = cut(s, MaxGranted)
	room := MaxGranted
	for i := range len(s) {
		if room -= 1 + extra(s[i]); room < 0 {
			return cut(s, i)
		}
	}
	return s
}

// repair puts a question mark for each byte that is not UTF-8.
func repair(b []byte) {
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size == 1 {
			b[0] = '?'
		}
		b = b[size:]
	}
}
