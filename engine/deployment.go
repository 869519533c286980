package engine

import (
	"math"
	"math/bits"
	"time"
)

// Unknown marks a number that nobody knows. It never removes a candidate.
const Unknown int64 = math.MinInt64

// UnknownDuration is Unknown for durations.
const UnknownDuration time.Duration = math.MinInt64

// Provider is one upstream account or endpoint, as far as routing cares.
type Provider struct {
	ID            string
	Enabled       bool
	HasCredential bool // also true where none is needed (auth: none)
	SupplyTier    string
	Region        string
	Tags          map[string]string
}

// Deployment is one model served by one provider: the unit that is routed to.
// It belongs to a snapshot and is immutable.
type Deployment struct {
	ID            string
	Model         string // public name
	Provider      *Provider
	UpstreamModel string
	Enabled       bool
	Priority      int
	Weight        int // effective: allocation, else per-model override, else the provider's
	Listed        int // place in the model's list, from 0

	Price     Price
	Sale      Sale
	Context   int64 // context limit in tokens; 0 = not known
	TokenSize int64 // most bytes of text that a token stands for on average, in thousandths; 0 = not known
	MaxOutput int64 // output limit in tokens; 0 = not known

	Caps       Capabilities // what it can do
	CapsKnown  Capabilities // abilities of which that is known; the rest never removes
	Endpoints  Endpoints    // served in the protocol of the upstream
	Translated Endpoints    // served by translation into it
	Timeouts   Timeouts
	hash       uint64 // of ID, for the draw
	Target     any    // what the executor needs to call it: opaque to the engine
}

// Price is what a deployment costs, in nano-USD per million tokens.
type Price struct {
	Known       bool
	Input       int64
	Output      int64
	CachedInput int64 // Unknown = as Input
	CacheWrite  int64 // Unknown = as Input
}

// Sale is a promotion: from From to Until (zero = open) the caller pays
// Multiplier ppm of the price. A zero Multiplier is no sale.
type Sale struct {
	Multiplier  int64
	From, Until time.Time
}

// Timeouts are the waits of one call. Zero means the default of the retry
// policy or of the gateway.
type Timeouts struct {
	Connect    time.Duration
	FirstToken time.Duration // stream: first content event; overrides timeout_seconds
	Idle       time.Duration // stream: silence between events
	Answer     time.Duration // not streamed: headers and body
}

const (
	million    = 1_000_000
	ppm        = 1_000_000
	inputShare = 3 // input weighs three times in the blended price
)

// multiplier is the share of the price that a caller pays at now, in ppm.
func (d *Deployment) multiplier(now time.Time) int64 {
	s := &d.Sale
	if s.Multiplier == 0 || (!s.From.IsZero() && now.Before(s.From)) || (!s.Until.IsZero() && !now.Before(s.Until)) {
		return ppm
	}
	return s.Multiplier
}

// scale returns v × share / 1e6, rounded half up, without overflow for prices.
func scale(v, share int64) int64 {
	if share == ppm {
		return v
	}
	return v/ppm*share + (v%ppm*share+ppm/2)/ppm
}

// BlendedPrice is input × 3 + output of what the caller pays at now, in
// nano-USD per million tokens; Unknown when the price is not known.
func (d *Deployment) BlendedPrice(now time.Time) int64 {
	if !d.Price.Known {
		return Unknown
	}
	return scale(d.Price.Input*inputShare+d.Price.Output, d.multiplier(now))
}

// InputPrice is what the caller pays for input at now, in nano-USD per million
// tokens; Unknown when the price is not known.
func (d *Deployment) InputPrice(now time.Time) int64 {
	if !d.Price.Known {
		return Unknown
	}
	return scale(d.Price.Input, d.multiplier(now))
}

// OutputPrice is InputPrice for output.
func (d *Deployment) OutputPrice(now time.Time) int64 {
	if !d.Price.Known {
		return Unknown
	}
	return scale(d.Price.Output, d.multiplier(now))
}

// Usage is what one answer consumed, in tokens. Cached and cache-written tokens
// are inside Input, reasoning tokens inside Output.
type Usage struct {
	Known      bool  `json:"-"`
	Input      int64 `json:"input_tokens"`
	Output     int64 `json:"output_tokens"`
	Cached     int64 `json:"cached_tokens,omitempty"`
	CacheWrite int64 `json:"cache_write_tokens,omitempty"`
	Reasoning  int64 `json:"reasoning_tokens,omitempty"`
}

// Cost is what the caller pays for the usage at now, in nano-USD, rounded half
// up; Unknown when the price or the usage is not known.
func (d *Deployment) Cost(u Usage, now time.Time) int64 {
	if !d.Price.Known || !u.Known {
		return Unknown
	}
	cached, write := d.Price.CachedInput, d.Price.CacheWrite
	if cached == Unknown {
		cached = d.Price.Input
	}
	if write == Unknown {
		write = d.Price.Input
	}
	plain := max(u.Input-u.Cached-u.CacheWrite, 0)
	sum := sumCost(
		tokenCost(plain, d.Price.Input), tokenCost(u.Cached, cached),
		tokenCost(u.CacheWrite, write), tokenCost(u.Output, d.Price.Output))
	return scale(sum, d.multiplier(now))
}

// EstimatedCost is what the request would cost if it used the estimated input
// and the output that it asks for; Unknown when the price is not known.
func (d *Deployment) EstimatedCost(r *Request) int64 {
	if !d.Price.Known {
		return Unknown
	}
	sum := min(tokenCost(r.InputTokens, d.Price.Input)+tokenCost(r.MaxOutput, d.Price.Output), maxCost)
	return scale(sum, d.multiplier(r.Now))
}

// maxCost is what absurd token counts cost: more than any cap, and safe to
// scale.
const maxCost = math.MaxInt64 / 8

func sumCost(parts ...int64) int64 {
	sum := int64(0)
	for _, p := range parts {
		sum = min(sum+p, maxCost) // each part is at most maxCost
	}
	return sum
}

// tokenCost is n tokens at a price per million, rounded half up, at most
// maxCost.
func tokenCost(n, price int64) int64 {
	if price <= 0 || n <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(n), uint64(price))
	if hi >= million {
		return maxCost
	}
	quotient, rest := lo/million, lo%million // which the compiler multiplies out
	if hi > 0 {
		quotient, rest = bits.Div64(hi, lo, million)
	}
	if quotient >= maxCost {
		return maxCost
	}
	return int64(quotient) + int64(rest/(million/2))
}
