package server

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"gatewright/engine"
)

// The names of headers, in the form that net/http keeps them.
const (
	headerRequestID     = "X-Request-Id"
	headerContentType   = "Content-Type"
	headerContentLength = "Content-Length"
	headerDeployment    = "X-Gatewright-Deployment"
	headerAttempts      = "X-Gatewright-Attempts"
	headerCost          = "X-Gatewright-Cost"
	headerEstimate      = "X-Gatewright-Estimate" // an adapter's: the answer is a guess of the gateway's own
	headerMaxTTFT       = "X-Gatewright-Max-Ttft-Ms"
	headerMaxCost       = "X-Gatewright-Max-Cost"
	headerSession       = "X-Gatewright-Session"
	headerPatience      = "X-Stainless-Timeout"
)

// The caps of headers as users write them, for messages.
const (
	nameMaxTTFT = "X-Gatewright-Max-TTFT-Ms"
	nameMaxCost = "X-Gatewright-Max-Cost"
)

// maxTTFTCap is the largest cap on the time to first token, in milliseconds.
const maxTTFTCap = int64(24 * time.Hour / time.Millisecond)

// passUpstream copies an upstream's headers that may reach a client. The
// executor has chosen already; this is the last gate, so that no cookie, banner
// or hop-by-hop header gets out whatever an adapter does.
func passUpstream(to http.Header, from map[string][]string) {
	for name, values := range from {
		if mayPass(name) {
			to[name] = values
		}
	}
}

// mayPass reports whether a header of an upstream, by its canonical name, may
// reach a client.
func mayPass(name string) bool {
	return strings.HasPrefix(name, "Openai-") || strings.HasPrefix(name, "X-Ratelimit-") || strings.HasPrefix(name, "Anthropic-") ||
		name == headerEstimate
}

// setAttempts says how many calls were made.
func setAttempts(h http.Header, n int) { h[headerAttempts] = []string{strconv.Itoa(n)} }

// readCaps fills the caps that a client sets for one request. The engine takes
// the smallest of all levels, so these can only lower.
func readCaps(h http.Header, r *engine.Request) error {
	if values := h[headerMaxTTFT]; len(values) > 0 {
		ms, err := strconv.ParseInt(values[0], 10, 64)
		if len(values) > 1 || err != nil || ms < 1 || ms > maxTTFTCap {
			return badHeader(nameMaxTTFT, "a whole number of milliseconds from 1 to "+strconv.FormatInt(maxTTFTCap, 10)+", such as 1500")
		}
		r.MaxTTFT = time.Duration(ms) * time.Millisecond
	}
	if values := h[headerMaxCost]; len(values) > 0 {
		nano, ok := parseUSD(values[0])
		if len(values) > 1 || !ok {
			return badHeader(nameMaxCost, "an amount of US dollars above 0 with at most 9 decimals, such as 0.05")
		}
		r.MaxCost = nano
	}
	return nil
}

func badHeader(name, want string) *Error {
	return &Error{Code: CodeInvalidHeader, Param: name, Message: "the header " + name + " must be " + want}
}

const (
	nanoDigits = 9
	nano       = 1_000_000_000 // nano-USD in a US dollar
)

// parseUSD reads a decimal amount of US dollars above 0 as nano-USD.
func parseUSD(s string) (int64, bool) {
	whole, decimals, point := strings.Cut(s, ".")
	if whole == "" || (point && decimals == "") || len(decimals) > nanoDigits || strings.ContainsAny(s, "+-_") {
		return 0, false
	}
	dollars, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || dollars > math.MaxInt64/nano-1 {
		return 0, false
	}
	amount := dollars * nano
	if point {
		part, err := strconv.ParseInt(decimals+strings.Repeat("0", nanoDigits-len(decimals)), 10, 64)
		if err != nil {
			return 0, false
		}
		amount += part
	}
	return amount, amount > 0
}

// formatUSD writes nano-USD as a decimal amount of US dollars.
func formatUSD(amount int64) string {
	sign := ""
	if amount < 0 {
		sign, amount = "-", -amount
	}
	whole, part := strconv.FormatInt(amount/nano, 10), amount%nano
	if part == 0 {
		return sign + whole
	}
	decimals := strconv.FormatInt(part, 10)
	return sign + whole + "." + strings.TrimRight(strings.Repeat("0", nanoDigits-len(decimals))+decimals, "0")
}

// patience returns how long the client will wait: what its SDK says, if that is
// valid and shorter than the limit.
func patience(h http.Header, limit time.Duration) time.Duration {
	values := h[headerPatience]
	if len(values) != 1 {
		return limit
	}
	seconds, err := strconv.ParseFloat(values[0], 64)
	if err != nil || !(seconds > 0) || seconds >= limit.Seconds() {
		return limit
	}
	return time.Duration(seconds * float64(time.Second))
}
