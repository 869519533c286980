package engine

const (
	// defaultTokenSize is how many bytes of text a token stands for where no
	// deployment says so, in thousandths. Tokenizers make about 4 bytes of English
	// a token and rarely more than 6 of anything.
	defaultTokenSize = 6000
	// nearLimit is how far from a context limit, in percent of it, an estimate may
	// be and not be trusted.
	nearLimit = 40
)

// estimate says how many tokens the request's input has for a pool. It errs low:
// of deployments with different tokenizers the one that makes the fewest tokens
// counts. Near the pool's smallest context limit the input is counted, once in a
// request.
func (w *walk) estimate(pool []Candidate) {
	r := w.request
	if r.TextBytes <= 0 || w.decision.CountedTokens > 0 {
		return
	}
	size := int64(0)
	var smallest *Deployment
	for i := range pool {
		d := pool[i].Deployment
		size = max(size, d.tokenSize())
		if d.Context > 0 && (smallest == nil || d.Context < smallest.Context) {
			smallest = d
		}
	}
	if size == 0 {
		return // nobody to estimate for
	}
	r.InputTokens = r.TextBytes * thousand / size
	if smallest == nil || r.CountTokens == nil || w.counted || !near(r, smallest.Context) {
		return
	}
	w.counted = true
	tokens, took := r.CountTokens(smallest.UpstreamModel)
	w.decision.Counting = took
	if tokens > 0 {
		r.InputTokens, w.decision.CountedTokens = tokens, tokens
	}
}

const thousand = 1000

func (d *Deployment) tokenSize() int64 {
	if d.TokenSize <= 0 {
		return defaultTokenSize
	}
	return d.TokenSize
}

// near reports whether the estimated input is within nearLimit percent of what a
// context limit leaves beside the output that is asked for.
func near(r *Request, limit int64) bool {
	room := limit - max(r.MaxOutput, 0)
	if room <= 0 {
		return false // too long whatever the input is
	}
	const all = 100
	spread := room/all*nearLimit + room%all*nearLimit/all
	return r.InputTokens >= room-spread && r.InputTokens <= room+spread
}
