package request_test

import (
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"gatewright/internal/wire/request"
	"gatewright/internal/wire/scan"
)

func TestInteger(t *testing.T) {
	for raw, want := range map[string]struct {
		n     int64
		whole bool
	}{
		"0": {0, true}, "-0": {0, true}, "512": {512, true}, "512.0": {512, true}, "5.12e2": {512, true}, "-7": {-7, true},
		"9223372036854775807": {1<<63 - 1, true}, "9223372036854775808": {}, "1.5": {}, "1e99": {}, "1e999": {}, "9007199254740994.0": {},
		"00000000000000000000000000000000000000001": {}, "": {},
	} {
		if n, whole := request.Integer([]byte(raw)); n != want.n || whole != want.whole {
			t.Errorf("%q: got %d, %t; want %d, %t", raw, n, whole, want.n, want.whole)
		}
	}
}

func TestIntegerOfAnyForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.Int64Range(-1<<53, 1<<53).Draw(t, "n")
		for _, raw := range []string{
			strconv.FormatInt(want, 10),
			strconv.FormatInt(want, 10) + ".0",
			strconv.FormatFloat(float64(want), 'e', -1, 64),
		} {
			if n, whole := request.Integer([]byte(raw)); !whole || n != want {
				t.Errorf("%s: got %d, %t", raw, n, whole)
			}
		}
	})
}

func TestLooseText(t *testing.T) {
	for body, want := range map[string]string{`"a\u00e9"`: "aé", `""`: "", `7`: "", `{"a":"b"}`: "", `"\ud800"`: "", "\"\xff\"": ""} {
		c := scan.NewCursor([]byte(body), maxDepth)
		if got := request.LooseText(&c); got != want || c.Close() != nil {
			t.Errorf("%s: got %q, want %q; %v", body, got, want, c.Err())
		}
	}
}

func TestFilled(t *testing.T) {
	for body, want := range map[string]bool{
		`"a"`: true, `" "`: true, `""`: false, `[0]`: true, `[ ]`: false, `{"a":null}`: true, "{\n}": false,
		`null`: false, `true`: false, `7`: false,
	} {
		c := scan.NewCursor([]byte(body), maxDepth)
		if got := request.Filled(&c); got != want || c.Close() != nil {
			t.Errorf("%s: got %t, want %t; %v", body, got, want, c.Err())
		}
	}
	for _, body := range []string{``, `x`, `"a`, `[1`} {
		c := scan.NewCursor([]byte(body), maxDepth)
		if request.Filled(&c) || c.Close() == nil {
			t.Errorf("%s: filled, or no error", body)
		}
	}
}

func TestCount(t *testing.T) {
	const before = 5
	for body, want := range map[string]int64{
		`0`: 0, `12`: 12, `1.2e1`: 12, `1099511627776`: 1 << 40, // the largest
		`1099511627777`: before, `-1`: before, `1.5`: before, `null`: before, `"12"`: before, `[12]`: before,
	} {
		c := scan.NewCursor([]byte(body), maxDepth)
		got := int64(before)
		if request.Count(&c, &got); got != want || c.Close() != nil {
			t.Errorf("%s: got %d, want %d; %v", body, got, want, c.Err())
		}
	}
}

func TestDetails(t *testing.T) {
	c := scan.NewCursor([]byte(`[{"cached_tokens":1,"audio_tokens":9,"reasoning_tokens":null},7,{"reasoning_tokens":2},{"cache_write_tokens":3,"cached_tokens":4}]`), maxDepth)
	var got request.Details
	for c.EnterArray(); c.Element(); {
		got.Add(&c)
	}
	if want := (request.Details{Cached: 4, CacheWrite: 3, Reasoning: 2}); got != want || c.Close() != nil {
		t.Errorf("got %+v, want %+v; %v", got, want, c.Err())
	}
}
