package config

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// unit is one unit of measure and its size in the smallest one.
type unit struct {
	name string
	size uint64
}

var timeUnits = []unit{
	{"ns", 1},
	{"us", uint64(time.Microsecond)},
	{"ms", uint64(time.Millisecond)},
	{"s", uint64(time.Second)},
	{"m", uint64(time.Minute)},
	{"h", uint64(time.Hour)},
	{"d", 24 * uint64(time.Hour)},
}

var sizeUnits = []unit{
	{"KiB", 1 << 10},
	{"MiB", 1 << 20},
	{"GiB", 1 << 30},
	{"KB", 1000},
	{"MB", 1000 * 1000},
	{"GB", 1000 * 1000 * 1000},
	{"B", 1},
}

const (
	wantsDuration = "a duration such as 500ms, 60s, 10m or 7d"
	wantsSize     = "a size such as 64KiB or 32MiB"
)

var (
	errNoUnit   = errors.New("the unit is missing")
	errNotUnit  = errors.New("not a unit")
	errNegative = errors.New("negative")
)

// duration reads 60s, 1.5h, 1h30m, 7d, in nanoseconds. 0 needs no unit.
func duration(text string) (int64, error) {
	switch {
	case text == "0":
		return 0, nil
	case text == "":
		return 0, errNotNumber
	case text[0] == '-':
		return 0, errNegative
	}
	var sum int64
	for rest := text; rest != ""; {
		end := numberEnd(rest)
		if end == 0 {
			return 0, errNotNumber
		}
		number, name := rest[:end], rest[end:]
		if name == "" {
			return 0, errNoUnit
		}
		rest = ""
		if next := strings.IndexAny(name, "0123456789"); next > 0 {
			name, rest = name[:next], name[next:]
		}
		n, err := measure(number, name, timeUnits)
		if err != nil {
			return 0, err
		}
		if sum > math.MaxInt64-n {
			return 0, errTooLarge
		}
		sum += n
	}
	return sum, nil
}

// numberEnd returns how many bytes of text are digits and dots.
func numberEnd(text string) int {
	end := strings.IndexFunc(text, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if end < 0 {
		return len(text)
	}
	return end
}

// size reads 32MiB, 1.5GB or a plain number of bytes, in bytes.
func size(text string) (int64, error) {
	if strings.HasPrefix(text, "-") {
		return 0, errNegative
	}
	end := numberEnd(text)
	switch end {
	case 0:
		return 0, errNotNumber
	case len(text):
		return decimal(text, 0)
	}
	return measure(text[:end], strings.TrimLeft(text[end:], " "), sizeUnits)
}

// measure returns number × the unit of that name.
func measure(number, name string, units []unit) (int64, error) {
	for _, u := range units {
		if u.name == name {
			return mulDecimal(number, u.size)
		}
	}
	return 0, errNotUnit
}

// percent reads 2% or 0.5%, in parts per million.
func percent(text string) (int64, error) {
	number, ok := strings.CutSuffix(text, "%")
	if !ok {
		return 0, errNoUnit
	}
	const ppmDigits = 4 // 1 % = 10^4 ppm
	return decimal(strings.TrimRight(number, " "), ppmDigits)
}

// weight reads a number, rounds it half away from zero and clamps it to 0 to
// MaxWeight.
func weight(text string) (int64, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) || math.IsNaN(f) || strings.ContainsAny(text, "xX_iI") {
		return 0, errNotNumber
	}
	return int64(min(max(math.Round(f), 0), MaxWeight)), nil
}

// instant reads a date (00:00 UTC) or an RFC 3339 time.
func instant(text string) (time.Time, error) {
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		return t, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	return t.UTC(), err
}
