package request_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gatewright/internal/wire/request"
)

// message is one of a conversation: its role and its texts.
type message struct {
	role  request.Part
	texts []string
}

// digest returns what the digest of a conversation writes.
func digest(conversation []message, tools ...string) []byte {
	var body []byte
	var o request.Opening
	for _, m := range conversation {
		mark := o.Len()
		for _, text := range m.texts {
			body = append(body, text...)
			o.Add(request.PartNone, len(body)-len(text), len(body))
		}
		o.Settle(mark, m.role)
	}
	for _, name := range tools {
		o.Tools.Add([]byte(name))
	}
	var out bytes.Buffer
	request.NewDigest(&out, body).Opening(&o)
	return out.Bytes()
}

// TestDigestIsForever holds the bytes: sessions are known by their hash, also by
// other processes and after an update.
func TestDigestIsForever(t *testing.T) {
	got := digest([]message{{request.PartSystem, []string{"sys"}}, {request.PartUser, []string{"hi", "you"}}}, "f")
	want := "\x01\x03\x00\x00\x00\x00\x00\x00\x00sys" +
		"\x02\x02\x00\x00\x00\x00\x00\x00\x00hi" +
		"\x02\x03\x00\x00\x00\x00\x00\x00\x00you" +
		"\x00\xd9\xea\x01\x86\x4c\xdb\x63\xaf" + "\x01\x00\x00\x00\x00\x00\x00\x00"
	if diff := cmp.Diff([]byte(want), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOpening(t *testing.T) {
	system, user, other := request.PartSystem, request.PartUser, request.PartOther
	base := []message{{system, []string{"s"}}, {user, []string{"u"}}}
	many := func(n int) []message {
		var list []message
		for range n {
			list = append(list, message{system, []string{"s"}})
		}
		return append(list, message{user, []string{"u"}})
	}
	texts := func(n int) []message { return []message{{user, strings.Split(strings.Repeat("t", n), "")}} }
	for _, c := range []struct {
		name string
		a, b []message
		same bool
	}{
		{"later turns", base, append(append([]message{}, base...), message{other, []string{"a"}}, message{user, []string{"b"}}), true},
		{"an answer before the first question", base, []message{{system, []string{"s"}}, {other, []string{"x", "y"}}, {user, []string{"u"}}}, true},
		{"empty texts", base, []message{{system, []string{"", "s"}}, {user, []string{"u", ""}}}, true},
		{"another question", base, []message{{system, []string{"s"}}, {user, []string{"v"}}}, false},
		{"another role", base, []message{{user, []string{"s"}}, {user, []string{"u"}}}, false},
		{"texts joined", []message{{user, []string{"ab"}}}, []message{{user, []string{"a", "b"}}}, false},
		{"more system texts than are kept", many(8), many(9), true},
		{"fewer system texts than are kept", many(7), many(8), false},
		{"more texts than are kept", texts(12), texts(13), true},
		{"fewer texts than are kept", texts(11), texts(12), false},
		{"beyond 8 KiB", []message{{user, []string{strings.Repeat("a", 8<<10) + "b"}}}, []message{{user, []string{strings.Repeat("a", 8<<10) + "c"}}}, true},
		{"another length beyond 8 KiB", []message{{user, []string{strings.Repeat("a", 8<<10) + "b"}}}, []message{{user, []string{strings.Repeat("a", 8<<10)}}}, false},
	} {
		if same := bytes.Equal(digest(c.a), digest(c.b)); same != c.same {
			t.Errorf("%s: the same is %t, want %t", c.name, same, c.same)
		}
	}
}

func TestToolsInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(rapid.StringN(0, 8, -1), 1, 6).Draw(t, "names")
		other := rapid.Permutation(names).Draw(t, "other")
		var a, b, more request.Tools
		for i := range names {
			a.Add([]byte(names[i]))
			b.Add([]byte(other[i]))
			more.Add([]byte(names[i]))
		}
		if a != b {
			t.Errorf("%q and %q are not the same tools", names, other)
		}
		if more.Add([]byte(names[0])); more == a {
			t.Errorf("%q and one more are the same tools", names)
		}
	})
}
