package prompt

import "gatewright/internal/wire/scan"

// metadata calls each for the texts in the member metadata of a body.
func metadata(body []byte, each func(key, value string)) {
	c := scan.NewCursor(body, maxDepth)
	for c.EnterObject(); c.Member(); {
		if string(c.Key()) != "metadata" {
			continue
		}
		if c.Kind() != scan.KindObject {
			continue
		}
		for c.EnterObject(); c.Member(); {
			key := string(c.Key())
			if raw, _, ok := c.Text(); ok {
				each(key, string(scan.AppendText(nil, raw)))
			}
		}
	}
}
