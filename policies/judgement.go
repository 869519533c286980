package policies

import "encoding/json"

// Judgement is what was found about an upload.
type Judgement struct {
	Kind    Kind
	Version Version
}

// Made returns what the compiler has made of an upload that was judged, for
// [Library.Adopt] in another process; nil if there is nothing to spare, as of a
// module.
func (l *Library) Made(u *Upload) ([]byte, error) {
	m := l.recent.of(u)
	if m == nil {
		return nil, nil
	}
	return json.Marshal(m)
}

// Adopt takes what [Library.Made] returned for the upload in another process, so that
// it need not be compiled once more when it is activated. Nothing is done with it
// before.
func (l *Library) Adopt(u *Upload, made []byte) {
	if made != nil {
		l.recent.keep(u, &recentRule{made: made})
	}
}
