package proc

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestPlan(t *testing.T) {
	alone := func(core int) []int { return []int{core} }
	pairs := func(core int) []int { return []int{core &^ 1, core | 1} }
	fine := func(int) error { return nil }
	for _, tt := range []struct {
		name          string
		allowed       []int
		siblings      func(int) []int
		bind          func(int) error
		gateway, load int
		note          string // part of it; "" = none
	}{
		{"two cores", []int{0, 1}, alone, fine, 0, 1, ""},
		{"what this process may use", []int{3, 6, 7}, alone, fine, 3, 6, ""},
		{"hardware threads of one core are passed over", []int{0, 1, 2, 3}, pairs, fine, 0, 2, ""},
		{"nothing but hardware threads of one core", []int{4, 5}, pairs, fine, 4, 5, "hardware threads"},
		{"threads are not known", []int{0, 1}, func(int) []int { return nil }, fine, 0, 1, ""},
		{"one core", []int{2}, alone, fine, Unpinned, Unpinned, "one core"},
		{"cannot be bound", []int{0, 1}, alone, func(int) error { return errors.New("not permitted") }, Unpinned, Unpinned, "not permitted"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := plan(tt.allowed, tt.siblings, tt.bind)
			if got.Gateway != tt.gateway || got.Load != tt.load {
				t.Errorf("cores: got %d and %d, want %d and %d", got.Gateway, got.Load, tt.gateway, tt.load)
			}
			if (got.Note == "") != (tt.note == "") || !strings.Contains(got.Note, tt.note) {
				t.Errorf("note: got %q, want %q in it", got.Note, tt.note)
			}
		})
	}
}

func TestParseList(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []int
	}{
		{"0", []int{0}},
		{"0,4", []int{0, 4}},
		{"0-2,5,8-9", []int{0, 1, 2, 5, 8, 9}},
		{"", nil},
		{"a", nil},
		{"1-b", nil},
	} {
		if got := parseList(tt.text); !slices.Equal(got, tt.want) {
			t.Errorf("parseList(%q): got %v, want %v", tt.text, got, tt.want)
		}
	}
}
