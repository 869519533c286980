package check

import "fmt"

// manifestSection is the custom section that describes a policy.
const manifestSection = "gatewright.manifest"

const (
	fixCustom = "strip the module (-Wl,--strip-all, wasm-strip), but for " + manifestSection
	// Nobody needs a larger one, and it is parsed and shown.
	maxManifest = 64 << 10
)

// readCustom reads a custom section. Engines read the names of functions and
// locals out of one, and allocate for the counts it claims; so that one is
// checked to the end.
func (c *checker) readCustom(r *reader) {
	start := r.at
	c.customs++
	if c.customs == c.p.Limits.Custom+1 {
		c.rep.add(c.section, start, fixCustom, "more than %d custom sections", c.p.Limits.Custom)
	}
	c.info.CustomBytes += r.left()
	name := string(r.name())
	if r.failed {
		return
	}
	switch name {
	case manifestSection:
		content := r.rest()
		switch {
		case c.info.Manifest != nil:
			c.rep.add(c.section, start, "keep one", "the section %q stands twice", name)
		case len(content) > maxManifest:
			c.rep.add(c.section, start, "shorten it", "the section %q has %d bytes, the limit is %d", name, len(content), maxManifest)
		default:
			c.info.Manifest = content
		}
	case "name":
		if c.named {
			r.fail(start, "the section \"name\" stands twice", fixCustom)
		}
		c.named = true
		c.readNames(r)
	default:
		r.rest()
	}
}

// readNames reads the names of functions and locals.
func (c *checker) readNames(r *reader) {
	for r.left() > 0 {
		start := r.at
		id := r.byte()
		s := r.part(r.u32())
		if r.failed {
			return
		}
		switch id {
		case 0: // the module
			s.name()
		case 1: // functions
			c.nameMap(&s)
		case 2: // locals of functions
			for n := c.names(&s, 2); n > 0 && !s.failed; n-- {
				s.u32()
				c.nameMap(&s)
			}
		default:
			continue // engines skip them
		}
		if s.failed || s.left() > 0 {
			r.fail(start, fmt.Sprintf("the names of part %d are damaged", id), fixCustom)
		}
	}
}

func (c *checker) nameMap(r *reader) {
	for n := c.names(r, 2); n > 0 && !r.failed; n-- {
		r.u32()
		r.name()
	}
}

// names reads how many entries of at least so many bytes follow.
func (c *checker) names(r *reader, size int) uint32 {
	n := r.u32()
	if int64(n)*int64(size) > int64(r.left()) {
		r.stop()
		return 0
	}
	return n
}
