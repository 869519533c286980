package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// bindingView is a binding as the admin API takes and shows it.
type bindingView struct {
	ID         string          `json:"id,omitempty"`
	Policy     string          `json:"policy"`
	Org        string          `json:"org,omitempty"`
	Team       string          `json:"team,omitempty"`
	Key        string          `json:"key,omitempty"`
	Model      string          `json:"model,omitempty"`
	OnFault    string          `json:"on_fault,omitempty"`
	Parameters json.RawMessage `json:"parameters,omitempty"`
	Grant      []string        `json:"grant,omitempty"`
	Stateful   bool            `json:"stateful,omitempty"`
	Tolerance  string          `json:"tolerance,omitempty"`
	Order      int             `json:"order,omitempty"`
	Managed    bool            `json:"managed_by_config,omitempty"`
}

func newBind() *cobra.Command {
	var flags asking
	var b bindingView
	var parameters objectFlags
	c := &cobra.Command{
		Use:   "bind ID --policy NAME",
		Short: "Say whom a policy serves, and how",
		Long: `Say whom a policy serves, and how. ID names the binding; one of that name is
replaced as a whole. Without --key and --model it is for all requests.`,
		Example: `  gatewright bind office --policy office-hours --key ci --param from=8 --param to=20
  gatewright bind cheap --policy drain-first --model gpt-5 --tolerance 5%
  gatewright bind list`,
		Args: oneName("binding"),
		RunE: func(c *cobra.Command, args []string) error {
			if b.Policy == "" {
				return usageError{fmt.Errorf("%s needs --policy NAME; see %s --help", c.CommandPath(), c.CommandPath())}
			}
			if b.OnFault != "" && b.OnFault != "fail_closed" && b.OnFault != "fail_open" {
				return usageError{fmt.Errorf("--on-fault %q: there are fail_closed and fail_open", b.OnFault)}
			}
			params, err := parameters.object(c.InOrStdin())
			if err != nil {
				return err
			}
			if params != nil {
				if b.Parameters, err = json.Marshal(params); err != nil {
					return err
				}
			}
			return flags.bind(c, args[0], &b)
		},
	}
	flags.add(c)
	f := c.Flags()
	f.StringVar(&b.Policy, "policy", "", "`name` of the policy")
	f.StringVar(&b.Org, "org", "", "only requests of the `org`")
	f.StringVar(&b.Team, "team", "", "only requests of the `team`")
	f.StringVar(&b.Key, "key", "", "only requests of the `key`")
	f.StringVar(&b.Model, "model", "", "only requests for the `model`")
	f.StringVar(&b.OnFault, "on-fault", "", "what becomes of a request when an admission policy fails: fail_closed or fail_open (`mode`; default: fail_closed)")
	f.StringSliceVar(&b.Grant, "grant", nil, "what the policy sees beyond the usual: text, last_user, header.NAME (`list`; may be repeated)")
	f.BoolVar(&b.Stateful, "stateful", false, "let the policy keep a memory between requests; its decisions cannot be replayed")
	f.StringVar(&b.Tolerance, "tolerance", "", "within how much of the best score candidates count as equal: 5% or a `number`")
	f.IntVar(&b.Order, "order", 0, "`place` among admission policies, lower first")
	parameters.add(c)
	c.AddCommand(newBindList(), newBindShow(), newBindDelete())
	return c
}

func (a *asking) bind(c *cobra.Command, id string, b *bindingView) error {
	api, err := a.client()
	if err != nil {
		return err
	}
	var now bindingView
	answer, err := api.send(c.Context(), http.MethodPut, b, &now, "bindings", id)
	if err != nil {
		return told(c, &a.output, err, nil)
	}
	if a.json() {
		_, err := c.OutOrStdout().Write(answer.body)
		return err
	}
	_, _ = fmt.Fprintf(c.OutOrStdout(), "%s: %s serves %s\n", printable(id), printable(now.Policy), printable(now.scope())) // what follows is a note
	var p policyView
	if _, err := api.get(c.Context(), &p, "policies", now.Policy); err == nil && p.Active == "" {
		_, _ = fmt.Fprintf(c.ErrOrStderr(), "no version of %s is active yet: gatewright policy activate %s\n", printable(p.Name), printable(p.Name))
	}
	return nil
}

// scope says whom the binding is for.
func (b *bindingView) scope() string {
	var parts []string
	for _, s := range [...]struct{ what, name string }{{"org", b.Org}, {"team", b.Team}, {"key", b.Key}, {"model", b.Model}} {
		if s.name != "" {
			parts = append(parts, s.what+" "+s.name)
		}
	}
	if len(parts) == 0 {
		return "all requests"
	}
	return strings.Join(parts, ", ")
}

func newBindList() *cobra.Command {
	var flags asking
	c := &cobra.Command{
		Use:   "list",
		Short: "List the bindings, in the order in which they apply",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return flags.list(c, []string{"bindings"}, "there are no bindings; make one: gatewright bind ID --policy NAME",
				[]string{"ID", "POLICY", "SERVES", "ON FAULT", "ORDER", "TOLERANCE", "SEES", "PARAMETERS", "FROM"}, bindingRow)
		},
	}
	flags.add(c)
	return c
}

func bindingRow(text json.RawMessage) ([]string, error) {
	var b bindingView
	if err := json.Unmarshal(text, &b); err != nil {
		return nil, err
	}
	row := []string{
		b.ID, b.Policy, b.scope(), b.OnFault, "", b.Tolerance, strings.Join(b.Grant, ", "), string(b.Parameters), "api",
	}
	if b.Order != 0 {
		row[4] = strconv.Itoa(b.Order)
	}
	if b.Managed {
		row[8] = "file"
	}
	if params := []rune(row[7]); len(params) > maxCell {
		row[7] = string(params[:maxCell]) + "…"
	}
	return row, nil
}

// maxCell is how much of a long value a table shows.
const maxCell = 60

func newBindShow() *cobra.Command {
	var flags asking
	c := &cobra.Command{
		Use:   "show ID",
		Short: "Show one binding, as JSON",
		Args:  oneName("binding"),
		RunE: func(c *cobra.Command, args []string) error {
			api, err := flags.client()
			if err != nil {
				return err
			}
			var whole json.RawMessage
			if _, err := api.get(c.Context(), &whole, "bindings", args[0]); err != nil {
				return told(c, &flags.output, err, nil)
			}
			return printJSON(c.OutOrStdout(), whole)
		},
	}
	flags.add(c)
	return c
}

func newBindDelete() *cobra.Command {
	var flags asking
	c := &cobra.Command{
		Use:   "delete ID",
		Short: "Delete a binding: the policy serves those requests no more",
		Args:  oneName("binding"),
		RunE: func(c *cobra.Command, args []string) error {
			return flags.delete(c, args[0], "bindings", args[0])
		},
	}
	flags.add(c)
	return c
}
