package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gatewright/policies"
)

func newPolicyTry() *cobra.Command {
	var flags asking
	var version, input string
	var parameters objectFlags
	c := &cobra.Command{
		Use:   "try NAME --input FILE",
		Short: "Evaluate a version on an input of yours, live traffic untouched",
		Long: `Evaluate a version of a policy on an input of yours, live traffic untouched. FILE
holds the input as policies are given it, as JSON; docs/wasm-abi.md has its fields.
The exit status is 1 when the evaluation is a fault.`,
		Args: oneName("policy"),
		RunE: func(c *cobra.Command, args []string) error {
			if input == "" {
				return usageError{fmt.Errorf("%s needs --input FILE, or --input - for the standard input", c.CommandPath())}
			}
			text, err := readInput(c.InOrStdin(), input)
			if err != nil {
				return err
			}
			body := map[string]any{"input": text}
			if version != "" {
				body["version"] = version
			}
			params, err := parameters.object(c.InOrStdin())
			if err != nil {
				return err
			}
			if params != nil {
				body["parameters"] = params
			}
			return flags.try(c, args[0], body)
		},
	}
	flags.add(c)
	c.Flags().StringVar(&version, "version", "", "`digest` of the version, or its first 8 digits (default: the newest)")
	c.Flags().StringVar(&input, "input", "", "`file` with the input as JSON; - = standard input")
	parameters.add(c)
	return c
}

// readInput reads a file, or the standard input, that must hold JSON.
func readInput(stdin io.Reader, path string) (json.RawMessage, error) {
	var text []byte
	var err error
	if path == "-" {
		text, err = io.ReadAll(io.LimitReader(stdin, maxAnswer))
	} else {
		text, err = os.ReadFile(path) //nolint:gosec // the user names the file
	}
	if err != nil {
		return nil, err
	}
	var value json.RawMessage
	if err := json.Unmarshal(text, &value); err != nil {
		return nil, fmt.Errorf("%s: not JSON: %w", path, err)
	}
	return value, nil
}

func (a *asking) try(c *cobra.Command, name string, body map[string]any) error {
	api, err := a.client()
	if err != nil {
		return err
	}
	var t policies.Trial
	answer, err := api.send(c.Context(), http.MethodPost, body, &t, "policies", name, "try")
	if err != nil {
		return told(c, &a.output, err, nil)
	}
	if a.json() {
		_, err = c.OutOrStdout().Write(answer.body)
	} else {
		err = printTrial(c.OutOrStdout(), &t)
	}
	if err == nil && t.Fault != "" {
		return errSaid
	}
	return err
}

func printTrial(w io.Writer, t *policies.Trial) error {
	_, _ = fmt.Fprintf(w, "%s in %v\n", printable(t.Outcome), time.Duration(t.Micros)*time.Microsecond) // the table tells
	if t.Fault != "" {
		_, _ = fmt.Fprintf(w, "fault: %s\n", printable(t.Fault))
	}
	if r := t.Refusal; r != nil {
		line := fmt.Sprintf("the request is refused: %d %s", r.Status, r.Code)
		if r.Message != "" {
			line += ", " + r.Message
		}
		if r.RetryAfter > 0 {
			line += fmt.Sprintf(", retry after %d s", r.RetryAfter)
		}
		_, _ = fmt.Fprintln(w, printable(line))
	}
	for _, r := range t.Removed {
		line := r.ID + " is removed: " + r.Reason
		if r.Until != nil {
			line += ", until " + r.Until.Local().Format(time.DateTime)
		}
		_, _ = fmt.Fprintln(w, printable(line))
	}
	if len(t.Order) == 0 {
		return nil
	}
	rows := [][]string{{"ORDER", "CANDIDATE", "SCORE"}}
	for i, r := range t.Order {
		score := ""
		if r.Score != nil {
			score = strconv.FormatFloat(*r.Score, 'g', -1, 64)
		}
		rows = append(rows, []string{strconv.Itoa(i + 1), r.ID, score})
	}
	return table(w, rows)
}

// objectFlags make an object of single values, a file, or both.
type objectFlags struct {
	values []string
	file   string
}

func (o *objectFlags) add(c *cobra.Command) {
	c.Flags().StringArrayVar(&o.values, "param", nil, "parameter `name=value`: JSON such as 8, true or [\"a\"], anything else is text; may be repeated")
	c.Flags().StringVar(&o.file, "params", "", "`file` with the parameters as a JSON object; - = standard input")
}

// object is nil without any.
func (o *objectFlags) object(stdin io.Reader) (map[string]json.RawMessage, error) {
	var object map[string]json.RawMessage
	if o.file != "" {
		text, err := readInput(stdin, o.file)
		if err != nil {
			return nil, err
		}
		if json.Unmarshal(text, &object) != nil || object == nil {
			return nil, fmt.Errorf("%s: parameters are a JSON object", o.file)
		}
	}
	given := make(map[string]bool)
	for _, v := range o.values {
		name, text, ok := strings.Cut(v, "=")
		if !ok || name == "" {
			return nil, usageError{fmt.Errorf("--param %q: write name=value", v)}
		}
		if given[name] {
			return nil, usageError{fmt.Errorf("--param %s is given twice", name)}
		}
		given[name] = true
		if object == nil {
			object = make(map[string]json.RawMessage)
		}
		if json.Valid([]byte(text)) {
			object[name] = json.RawMessage(text)
			continue
		}
		quoted, err := json.Marshal(text)
		if err != nil {
			return nil, err
		}
		object[name] = quoted
	}
	return object, nil
}
