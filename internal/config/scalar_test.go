package config

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestDecimal(t *testing.T) {
	tests := []struct {
		text  string
		scale int
		want  int64
		err   error
	}{
		{"0", 9, 0, nil},
		{"2.50", 9, 2_500_000_000, nil},
		{"1.25", 9, 1_250_000_000, nil},
		{"0.1", 9, 100_000_000, nil},
		{".5", 1, 5, nil},
		{"5.", 0, 5, nil},
		{"-3", 2, -300, nil},
		{"1e3", 0, 1000, nil},
		{"2.5E-1", 9, 250_000_000, nil},
		{"1e+2", 0, 100, nil},
		{"100000000e-8", 0, 1, nil},
		{"0.000000001", 9, 1, nil},
		{"0.0000000001", 9, 0, errTooPrecise},
		{"1.5", 0, 0, errTooPrecise},
		{"0.00", 0, 0, nil},
		{"0e999", 9, 0, nil},
		{"9223372036854775807", 0, math.MaxInt64, nil},
		{"9223372036854775808", 0, 0, errTooLarge},
		{"9223372037", 9, 0, errTooLarge},
		{"1e30", 9, 0, errTooLarge},
		{strings.Repeat("9", 41), 0, 0, errTooLarge},
		{"", 0, 0, errNotNumber},
		{"-", 0, 0, errNotNumber},
		{".", 0, 0, errNotNumber},
		{"+5", 0, 0, errNotNumber},
		{"--5", 0, 0, errNotNumber},
		{"1.2.3", 1, 0, errNotNumber},
		{"1e", 0, 0, errNotNumber},
		{"1e1e1", 0, 0, errNotNumber},
		{"1e1000", 0, 0, errNotNumber},
		{"1e-+1", 0, 0, errNotNumber},
		{"0x10", 0, 0, errNotNumber},
		{"1_000", 0, 0, errNotNumber},
		{".nan", 0, 0, errNotNumber},
		{".inf", 0, 0, errNotNumber},
		{"１", 0, 0, errNotNumber},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%s scale %d", tt.text, tt.scale), func(t *testing.T) {
			got, err := decimal(tt.text, tt.scale)
			if got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("decimal(%q, %d) = %d, %v, want %d, %v", tt.text, tt.scale, got, err, tt.want, tt.err)
			}
		})
	}
}

// Whatever decimal returns is exact.
func TestDecimalIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`-?[0-9]{0,12}(\.[0-9]{0,12})?(e-?[0-9]{1,2})?`).Draw(t, "text")
		scale := rapid.IntRange(0, 12).Draw(t, "scale")
		got, err := decimal(text, scale)
		if err != nil {
			return
		}
		want, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("decimal takes %q, which is no number", text)
		}
		want.Mul(want, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)))
		if want.Cmp(new(big.Rat).SetInt64(got)) != 0 {
			t.Fatalf("decimal(%q, %d) = %d, want %s", text, scale, got, want)
		}
	})
}

func TestDuration(t *testing.T) {
	tests := []struct {
		text string
		want time.Duration
		err  error
	}{
		{"0", 0, nil},
		{"0s", 0, nil},
		{"60s", time.Minute, nil},
		{"10m", 10 * time.Minute, nil},
		{"500ms", 500 * time.Millisecond, nil},
		{"1.5h", 90 * time.Minute, nil},
		{"1h30m", 90 * time.Minute, nil},
		{"7d", 7 * 24 * time.Hour, nil},
		{"1d12h", 36 * time.Hour, nil},
		{"0.5us", 500, nil},
		{"250ns", 250, nil},
		{"60", 0, errNoUnit},
		{"1h30", 0, errNoUnit},
		{"", 0, errNotNumber},
		{"s", 0, errNotNumber},
		{"soon", 0, errNotNumber},
		{"-5s", 0, errNegative},
		{"5 s", 0, errNotUnit},
		{"5sec", 0, errNotUnit},
		{"5S", 0, errNotUnit},
		{"1w", 0, errNotUnit},
		{"0.5ns", 0, errTooPrecise},
		{"1..5s", 0, errNotNumber},
		{"200000d", 0, errTooLarge},
		{"100000d100000d", 0, errTooLarge},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			got, err := duration(tt.text)
			if time.Duration(got) != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("duration(%q) = %v, %v, want %v, %v", tt.text, time.Duration(got), err, tt.want, tt.err)
			}
		})
	}
}

// Every duration that Go writes is read back as it was.
func TestDurationReadsGo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := time.Duration(rapid.Int64Min(0).Draw(t, "nanoseconds"))
		got, err := duration(strings.ReplaceAll(want.String(), "µs", "us"))
		if err != nil || time.Duration(got) != want {
			t.Fatalf("duration(%s) = %v, %v", want, time.Duration(got), err)
		}
	})
}

func TestSize(t *testing.T) {
	tests := []struct {
		text string
		want int64
		err  error
	}{
		{"32MiB", 32 << 20, nil},
		{"64KiB", 64 << 10, nil},
		{"1.5GiB", 3 << 29, nil},
		{"2MB", 2_000_000, nil},
		{"10 KB", 10_000, nil},
		{"512B", 512, nil},
		{"1048576", 1 << 20, nil},
		{"0", 0, nil},
		{"32M", 0, errNotUnit},
		{"32mib", 0, errNotUnit},
		{"MiB", 0, errNotNumber},
		{"", 0, errNotNumber},
		{"-1KiB", 0, errNegative},
		{"1.5", 0, errTooPrecise},
		{"0.3B", 0, errTooPrecise},
		{"9999999999GiB", 0, errTooLarge},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			if got, err := size(tt.text); got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("size(%q) = %d, %v, want %d, %v", tt.text, got, err, tt.want, tt.err)
			}
		})
	}
}

func TestShares(t *testing.T) {
	tests := []struct {
		name string
		read func(string) (int64, error)
		text string
		want int64
		err  error
	}{
		{"percent", percent, "2%", 20_000, nil},
		{"percent with decimals", percent, "0.5%", 5_000, nil},
		{"the smallest", percent, "0.0001%", 1, nil},
		{"too small", percent, "0.00001%", 0, errTooPrecise},
		{"a space", percent, "5 %", 50_000, nil},
		{"no sign", percent, "5", 0, errNoUnit},
		{"no number", percent, "%", 0, errNotNumber},
		{"share", share, "0.2", 200_000, nil},
		{"share in percent", share, "20%", 200_000, nil},
		{"parts per million", shareOfMillion, "300000", 300_000, nil},
		{"parts per million in percent", shareOfMillion, "30%", 300_000, nil},
		{"a fraction is no ppm", shareOfMillion, "0.3", 0, errTooPrecise},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := tt.read(tt.text); got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("%q = %d, %v, want %d, %v", tt.text, got, err, tt.want, tt.err)
			}
		})
	}
}

func TestWeight(t *testing.T) {
	tests := []struct {
		text string
		want int64
		err  error
	}{
		{"0", 0, nil},
		{"1", 1, nil},
		{"6000", 6000, nil},
		{"1.4", 1, nil},
		{"1.5", 2, nil},
		{"0.4", 0, nil},
		{"0.5", 1, nil},
		{"10000", 10000, nil},
		{"10001", 10000, nil},
		{"1e400", 10000, nil},
		{"-3", 0, nil},
		{"-1e400", 0, nil},
		{".nan", 0, errNotNumber},
		{"NaN", 0, errNotNumber},
		{"Inf", 0, errNotNumber},
		{".inf", 0, errNotNumber},
		{"0x10", 0, errNotNumber},
		{"1_0", 0, errNotNumber},
		{"", 0, errNotNumber},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			if got, err := weight(tt.text); got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("weight(%q) = %d, %v, want %d, %v", tt.text, got, err, tt.want, tt.err)
			}
		})
	}
}

func TestInstant(t *testing.T) {
	day := time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"2027-01-31":                day,
		"2027-01-31T18:00:00Z":      day.Add(18 * time.Hour),
		"2027-01-31T18:00:00+02:00": day.Add(16 * time.Hour),
	} {
		if got, err := instant(text); err != nil || !got.Equal(want) || got.Location() != time.UTC {
			t.Errorf("instant(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "tomorrow", "31.01.2027", "2027-02-30", "2027-01-31 18:00"} {
		if got, err := instant(text); err == nil {
			t.Errorf("instant(%q) = %v, want an error", text, got)
		}
	}
}
