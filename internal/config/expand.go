package config

import (
	"fmt"
	"strings"
)

// expand replaces ${NAME} by the environment variable of that name and $${ by
// a literal ${. What a variable holds is taken as it is and never expanded
// again. The values that went in are returned, so that messages can hide them;
// faults come as sentences that name the variable and never show a value.
func expand(text string, lookup func(string) (string, bool)) (out string, values []string, faults []fault) {
	if !strings.Contains(text, "${") {
		return text, nil, nil
	}
	var b strings.Builder
	for {
		at := strings.Index(text, "${")
		if at < 0 {
			b.WriteString(text)
			return b.String(), values, faults
		}
		if at > 0 && text[at-1] == '$' {
			b.WriteString(text[:at-1])
			b.WriteString("${")
			text = text[at+2:]
			continue
		}
		b.WriteString(text[:at])
		name, rest, closed := strings.Cut(text[at+2:], "}")
		if !closed {
			return "", values, append(faults, fault{"${ is never closed", "write ${NAME}, or $${ for a literal ${"})
		}
		text = rest
		if !variableName(name) {
			faults = append(faults, badVariable(name))
			continue
		}
		value, ok := lookup(name)
		if !ok {
			faults = append(faults, fault{
				fmt.Sprintf("the environment variable %s is not set", name),
				fmt.Sprintf("set %s, or write $${%s} for the literal text", name, name),
			})
			continue
		}
		values = append(values, value)
		b.WriteString(value)
	}
}

// badVariable explains what is wrong between ${ and }.
func badVariable(name string) fault {
	plain, _, hasDefault := strings.Cut(name, ":")
	if hasDefault && variableName(plain) {
		return fault{
			fmt.Sprintf("${%s:…} gives a default, and variables have none here", plain),
			fmt.Sprintf("write ${%s} and set the variable", plain),
		}
	}
	return fault{
		"${…} does not name an environment variable",
		"write ${NAME} with letters, digits and _, or $${ for a literal ${",
	}
}

func variableName(s string) bool {
	for i := range len(s) {
		c := s[i]
		digit := c >= '0' && c <= '9'
		if c != '_' && !digit && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') || (digit && i == 0) {
			return false
		}
	}
	return s != ""
}

// fault is what is wrong with one value, before it is known where it stands.
type fault struct{ message, fix string }
