package config

import (
	"errors"
	"math"
	"math/bits"
	"strings"
)

// Faults of a decimal number.
var (
	errNotNumber  = errors.New("not a decimal number")
	errTooPrecise = errors.New("more decimals than can be kept")
	errTooLarge   = errors.New("too large")
)

// maxDigits bounds what a number may be written with.
const maxDigits = 40

// decimal returns text × 10^scale exactly. Text is a decimal number as YAML
// and JSON write it: 12, -3, 2.50, 1e-3. It never rounds.
func decimal(text string, scale int) (int64, error) {
	if len(text) > maxDigits {
		return 0, errTooLarge
	}
	text, negative := strings.CutPrefix(text, "-")
	mantissa, exponent, err := splitExponent(text)
	if err != nil {
		return 0, err
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole+fraction == "" {
		return 0, errNotNumber
	}
	digits := whole + fraction
	shift := scale + exponent - len(fraction)
	var n uint64
	for i := range len(digits) {
		c := digits[i]
		if c < '0' || c > '9' {
			return 0, errNotNumber
		}
		high, low := bits.Mul64(n, 10)
		if high != 0 || low > math.MaxInt64-uint64(c-'0') {
			return 0, errTooLarge
		}
		n = low + uint64(c-'0')
	}
	for ; shift < 0 && n != 0; shift++ {
		if n%10 != 0 {
			return 0, errTooPrecise
		}
		n /= 10
	}
	for ; shift > 0 && n != 0; shift-- {
		high, low := bits.Mul64(n, 10)
		if high != 0 || low > math.MaxInt64 {
			return 0, errTooLarge
		}
		n = low
	}
	if negative {
		return -int64(n), nil
	}
	return int64(n), nil
}

// splitExponent takes the power of ten off a number.
func splitExponent(text string) (mantissa string, exponent int, err error) {
	i := strings.IndexAny(text, "eE")
	if i < 0 {
		return text, 0, nil
	}
	power := text[i+1:]
	power, negative := strings.CutPrefix(power, "-")
	if !negative {
		power = strings.TrimPrefix(power, "+")
	}
	if power == "" || len(power) > 3 {
		return "", 0, errNotNumber
	}
	for i := range len(power) {
		if power[i] < '0' || power[i] > '9' {
			return "", 0, errNotNumber
		}
		exponent = exponent*10 + int(power[i]-'0')
	}
	if negative {
		exponent = -exponent
	}
	return text[:i], exponent, nil
}

// mulDecimal returns number × unit exactly, for numbers with a unit of measure
// such as 1.5h. Neither is negative.
func mulDecimal(number string, unit uint64) (int64, error) {
	power := uint64(1) // 10^scale
	for scale := range 10 {
		n, err := decimal(number, scale)
		switch {
		case errors.Is(err, errTooPrecise):
			power *= 10
			continue
		case err != nil:
			return 0, err
		case n < 0:
			return 0, errNegative
		}
		high, low := bits.Mul64(uint64(n), unit)
		if high >= power {
			return 0, errTooLarge
		}
		quotient, rest := bits.Div64(high, low, power)
		switch {
		case rest != 0:
			return 0, errTooPrecise
		case quotient > math.MaxInt64:
			return 0, errTooLarge
		}
		return int64(quotient), nil
	}
	return 0, errTooPrecise
}
