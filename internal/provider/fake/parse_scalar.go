package fake

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// scalar returns the node of a single value, or false after it has noted what
// is there instead.
func (d *decoder) scalar(n *yaml.Node, path, want string) (*yaml.Node, bool) {
	n = d.resolve(n, path)
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		d.add(n, path, "found %s; write %s", kindOf(n), want)
		return nil, false
	}
	return n, true
}

// text reads a string; numbers and words are taken as they are written.
func (d *decoder) text(n *yaml.Node, path string, dst *string) {
	if n, ok := d.scalar(n, path, "a text"); ok {
		*dst = n.Value
	}
}

func (d *decoder) optionalText(n *yaml.Node, path string, dst **string) {
	if n, ok := d.scalar(n, path, `a text; "" for none`); ok {
		*dst = &n.Value
	}
}

func (d *decoder) boolean(n *yaml.Node, path string, dst *bool) {
	n, ok := d.scalar(n, path, "true or false")
	if !ok {
		return
	}
	if n.Tag != "!!bool" {
		d.add(n, path, "found %s; write true or false", kindOf(n))
		return
	}
	*dst = strings.EqualFold(n.Value, "true")
}

func (d *decoder) integer(n *yaml.Node, path string, dst *int) {
	n, ok := d.scalar(n, path, "a whole number")
	if !ok {
		return
	}
	v, err := strconv.ParseInt(strings.ReplaceAll(n.Value, "_", ""), 10, 64)
	if n.Tag != "!!int" || err != nil {
		d.add(n, path, "found %s; write a whole number in decimal", kindOf(n))
		return
	}
	*dst = int(v)
}

func (d *decoder) optionalInteger(n *yaml.Node, path string, dst **int) {
	v := -1
	if d.integer(n, path, &v); v != -1 {
		*dst = &v
	} else if d.clean(path) {
		d.add(n, path, "-1 is out of bounds; write a number from 0")
	}
}

// clean reports that no problem of path was noted.
func (d *decoder) clean(path string) bool {
	for _, p := range d.problems {
		if p.path == path {
			return false
		}
	}
	return true
}

func (d *decoder) unsigned(n *yaml.Node, path string, dst *uint64) {
	n, ok := d.scalar(n, path, "a whole number")
	if !ok {
		return
	}
	v, err := strconv.ParseUint(n.Value, 10, 64)
	if err != nil {
		d.add(n, path, "found %s; write a whole number from 0 to %d", kindOf(n), uint64(math.MaxUint64))
		return
	}
	*dst = v
}

func (d *decoder) duration(n *yaml.Node, path string, dst *time.Duration) {
	n, ok := d.scalar(n, path, "a duration, for example 20ms or 1m30s")
	if !ok {
		return
	}
	v, err := time.ParseDuration(n.Value)
	if err != nil {
		d.add(n, path, "found %s; write a duration with its unit, for example 20ms or 1m30s", kindOf(n))
		return
	}
	*dst = v
}

// rate reads a share: 0.2 or 20%, both 200,000 parts per million.
func (d *decoder) rate(n *yaml.Node, path string, dst *int64) {
	n, ok := d.scalar(n, path, "a share, for example 20% or 0.2")
	if !ok {
		return
	}
	number, percent := strings.CutSuffix(n.Value, "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		v /= 100
	}
	if err != nil || math.IsNaN(v) || v < 0 || v > 1 {
		d.add(n, path, "found %s; write a share from 0 to 1, or from 0%% to 100%%", kindOf(n))
		return
	}
	*dst = int64(math.Round(v * Million))
}

var sizeUnits = []struct {
	suffix string
	factor float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}, {"", 1},
}

// size reads a length in bytes: 65536, 64KiB, 1.5MB.
func (d *decoder) size(n *yaml.Node, path string, dst *int64) {
	n, ok := d.scalar(n, path, "a length in bytes, for example 64KiB or 1MiB")
	if !ok {
		return
	}
	for _, u := range sizeUnits {
		number, found := strings.CutSuffix(n.Value, u.suffix)
		if !found {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || math.IsNaN(v) || v < 0 || v*u.factor > maxSize {
			break
		}
		*dst = int64(v * u.factor)
		return
	}
	d.add(n, path, "found %s; write a length in bytes up to %dGiB, for example 64KiB or 1MiB", kindOf(n), maxSize>>30)
}

// texts reads a list of strings, or one string as a list of one.
func (d *decoder) texts(n *yaml.Node, path string, dst *[]string) {
	target := n
	if n.Kind == yaml.AliasNode {
		target = n.Alias
	}
	if target.Kind == yaml.SequenceNode {
		d.sequence(n, path, "", func(n *yaml.Node, path string) {
			var s string
			d.text(n, path, &s)
			*dst = append(*dst, s)
		})
		return
	}
	if n, ok := d.scalar(n, path, "a text or a list of texts"); ok {
		*dst = append(*dst, n.Value)
	}
}

// headers reads a mapping of header names to one value or a list of values.
func (d *decoder) headers(n *yaml.Node, path string, dst *http.Header) {
	n = d.resolve(n, path)
	if n.Kind != yaml.MappingNode {
		d.add(n, path, "found %s; write a mapping of header names to values", kindOf(n))
		return
	}
	*dst = http.Header{}
	d.pairs(n, path, func(key, value *yaml.Node) {
		var values []string
		d.texts(value, join(path, key.Value), &values)
		(*dst)[http.CanonicalHeaderKey(key.Value)] = values
	})
}
