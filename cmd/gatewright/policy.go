package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gatewright/policies"
)

// policyView is what the admin API shows of a policy.
type policyView struct {
	Name     string
	Kind     policies.Kind
	Managed  bool `json:"managed_by_config"`
	Active   string
	Shadow   string
	Canary   *canaryView
	Versions int
	Newest   string
	Status   *policies.Status
}

type canaryView struct {
	Version string
	Share   float64
}

// versionView is what the admin API shows of a version.
type versionView struct {
	Name     string
	Kind     policies.Kind
	Version  string
	State    policies.Stage
	Format   policies.Format
	Profile  string
	Size     int
	Uploaded time.Time
	Inputs   []string
	Reasons  []string
	Warnings []string
	Status   *policies.Status
}

// asking are the flags of a verb that asks a running gateway.
type asking struct {
	remote
	output
}

func (a *asking) add(c *cobra.Command) {
	a.remote.add(c)
	a.output.add(c)
}

func newPolicy() *cobra.Command {
	c := &cobra.Command{
		Use:   "policy",
		Short: "Write, test, upload and operate policies",
		Long: `Write, test, upload and operate policies: rules in Rego, or compiled to Wasm, that
say who may serve a request (admission) or who is tried first (ranking).

new, test, and inspect of a file work by themselves. The others ask a running
gateway by its admin API.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(
		newPolicyNew(), newPolicyTest(), newPolicyPush(), newPolicyList(), newPolicyVersions(), newPolicyInspect(), newPolicyTry(),
		newPolicyActivate(), newPolicyShadow(), newPolicyCanary(), newPolicyRollback(), newPolicyStop(),
		newPolicyDownload(), newPolicyDelete(),
	)
	return c
}

// oneName takes exactly one argument.
func oneName(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 1 {
			return nil
		}
		return usageError{fmt.Errorf("%s takes the name of one %s; see %s --help", c.CommandPath(), what, c.CommandPath())}
	}
}

func newPolicyList() *cobra.Command {
	var flags asking
	c := &cobra.Command{
		Use:   "list",
		Short: "List the policies, and what each is doing",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return flags.list(c, []string{"policies"}, "there are no policies; upload one: gatewright policy push NAME FILE",
				[]string{"NAME", "KIND", "ACTIVE", "CANARY", "SHADOW", "VERSIONS", "ASKED", "FAULTS", "FROM"}, policyRow)
		},
	}
	flags.add(c)
	return c
}

func policyRow(text json.RawMessage) ([]string, error) {
	var p policyView
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, err
	}
	row := []string{p.Name, string(p.Kind), short(p.Active), "", short(p.Shadow), strconv.Itoa(p.Versions), "", "", "upload"}
	if p.Canary != nil {
		row[3] = short(p.Canary.Version) + " " + percentText(p.Canary.Share)
	}
	if p.Status != nil {
		row[6], row[7] = strconv.FormatUint(p.Status.Evaluations, 10), faultsText(p.Status)
	}
	if p.Managed {
		row[8] = "file"
	}
	return row, nil
}

func faultsText(s *policies.Status) string {
	text := strconv.FormatUint(s.Faults, 10)
	if s.SuspendedUntil != nil {
		text += ", suspended until " + s.SuspendedUntil.Local().Format(time.TimeOnly)
	}
	return text
}

func newPolicyVersions() *cobra.Command {
	var flags asking
	c := &cobra.Command{
		Use:   "versions NAME",
		Short: "List the versions of a policy, in the order of upload",
		Args:  oneName("policy"),
		RunE: func(c *cobra.Command, args []string) error {
			return flags.list(c, []string{"policies", args[0], "versions"}, "the policy has no versions; upload one: gatewright policy push "+args[0]+" FILE",
				[]string{"VERSION", "STATE", "FORMAT", "PROFILE", "BYTES", "UPLOADED", "ASKED", "FAULTS", "DIFFERS"}, versionRow)
		},
	}
	flags.add(c)
	return c
}

func versionRow(text json.RawMessage) ([]string, error) {
	var v versionView
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, err
	}
	row := []string{
		short(v.Version), string(v.State), string(v.Format), v.Profile, strconv.Itoa(v.Size),
		v.Uploaded.Local().Format(time.DateTime), "", "", "",
	}
	if v.Status != nil {
		row[6], row[7] = strconv.FormatUint(v.Status.Evaluations, 10), faultsText(v.Status)
		if v.State == policies.StageShadow {
			row[8] = strconv.FormatUint(v.Status.Differs, 10)
		}
	}
	return row, nil
}

// list prints a list of the admin API: as it came, or as a table.
func (a *asking) list(c *cobra.Command, path []string, none string, head []string, row func(json.RawMessage) ([]string, error)) error {
	api, err := a.client()
	if err != nil {
		return err
	}
	entries, err := api.list(c.Context(), path...)
	switch {
	case err != nil:
		return told(c, &a.output, err, nil)
	case a.json():
		return printJSON(c.OutOrStdout(), map[string]any{"data": entries})
	case len(entries) == 0:
		_, err := fmt.Fprintln(c.OutOrStdout(), none)
		return err
	}
	rows := [][]string{head}
	for _, e := range entries {
		r, err := row(e)
		if err != nil {
			return fmt.Errorf("read the answer of the admin API: %w", err)
		}
		rows = append(rows, r)
	}
	return table(c.OutOrStdout(), rows)
}

// short is how much of a version's digest people see. It is enough to name the
// version.
func short(digest string) string {
	const enough = 12
	return digest[:min(len(digest), enough)]
}

func percentText(share float64) string {
	return strconv.FormatFloat(share*100, 'g', 6, 64) + "%"
}

// life is a verb that changes which versions of a policy are used.
type life struct {
	asking
	version string
	body    map[string]any
}

// versioned adds the flag that names a version.
func (l *life) versioned(c *cobra.Command, without string) {
	c.Flags().StringVar(&l.version, "version", "", "`digest` of the version, or its first 8 digits (default: "+without+")")
}

// run asks for the change and says what holds now.
func (l *life) run(c *cobra.Command, name, action string) error {
	api, err := l.client()
	if err != nil {
		return err
	}
	if l.body == nil {
		l.body = map[string]any{}
	}
	if l.version != "" {
		l.body["version"] = l.version
	}
	var p policyView
	a, err := api.send(c.Context(), http.MethodPost, l.body, &p, "policies", name, action)
	if err != nil {
		return told(c, &l.output, err, nil)
	}
	if l.json() {
		_, err := c.OutOrStdout().Write(a.body)
		return err
	}
	_, err = fmt.Fprintln(c.OutOrStdout(), printable(p.now()))
	return err
}

// now says in one line which versions of the policy are used.
func (p *policyView) now() string {
	parts := []string{"no version is active"}
	if p.Active != "" {
		parts[0] = "version " + short(p.Active) + " is active"
	}
	if p.Canary != nil {
		parts = append(parts, short(p.Canary.Version)+" has "+percentText(p.Canary.Share)+" of the sessions")
	}
	if p.Shadow != "" {
		parts = append(parts, short(p.Shadow)+" is in the shadow")
	}
	return p.Name + ": " + strings.Join(parts, ", ")
}

func newPolicyActivate() *cobra.Command {
	var l life
	c := &cobra.Command{
		Use:   "activate NAME",
		Short: "Use a version for every request that the policy is bound to",
		Args:  oneName("policy"),
		RunE:  func(c *cobra.Command, args []string) error { return l.run(c, args[0], "activate") },
	}
	l.add(c)
	l.versioned(c, "the newest")
	return c
}

func newPolicyShadow() *cobra.Command {
	var l life
	c := &cobra.Command{
		Use:   "shadow NAME",
		Short: "Evaluate a version on live traffic and compare it, without using its answer",
		Args:  oneName("policy"),
		RunE:  func(c *cobra.Command, args []string) error { return l.run(c, args[0], "shadow") },
	}
	l.add(c)
	l.versioned(c, "the newest")
	return c
}

func newPolicyCanary() *cobra.Command {
	var l life
	var share string
	c := &cobra.Command{
		Use:   "canary NAME --share SHARE",
		Short: "Use a version for a share of the sessions",
		Args:  oneName("policy"),
		RunE: func(c *cobra.Command, args []string) error {
			v, err := parseShare(share)
			if err != nil {
				return err
			}
			l.body = map[string]any{"share": v}
			return l.run(c, args[0], "canary")
		},
	}
	l.add(c)
	l.versioned(c, "the newest")
	c.Flags().StringVar(&share, "share", "", "`share` of the sessions: 10% or 0.1")
	return c
}

func parseShare(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(number, 64)
	if percent {
		v /= 100
	}
	if err != nil || v <= 0 || v >= 1 {
		return 0, usageError{fmt.Errorf("--share %q: write a share between 0 and 1, such as 10%% or 0.1", text)}
	}
	return v, nil
}

func newPolicyRollback() *cobra.Command {
	var l life
	c := &cobra.Command{
		Use:   "rollback NAME",
		Short: "Go back to the version that was active before",
		Args:  oneName("policy"),
		RunE:  func(c *cobra.Command, args []string) error { return l.run(c, args[0], "rollback") },
	}
	l.add(c)
	l.versioned(c, "the one before")
	return c
}

func newPolicyStop() *cobra.Command {
	var l life
	c := &cobra.Command{
		Use:   "stop NAME",
		Short: "End the shadow and the canary of a policy",
		Args:  oneName("policy"),
		RunE:  func(c *cobra.Command, args []string) error { return l.run(c, args[0], "stop") },
	}
	l.add(c)
	return c
}

func newPolicyDelete() *cobra.Command {
	var flags asking
	var version string
	c := &cobra.Command{
		Use:   "delete NAME",
		Short: "Delete a policy with all its versions, or one version",
		Args:  oneName("policy"),
		RunE: func(c *cobra.Command, args []string) error {
			path, what := []string{"policies", args[0]}, args[0]
			if version != "" {
				path, what = append(path, "versions", version), what+", version "+short(version)
			}
			return flags.delete(c, what, path...)
		},
	}
	flags.add(c)
	c.Flags().StringVar(&version, "version", "", "`digest` of the version to delete, or its first 8 digits (default: all, and the policy)")
	return c
}

// delete deletes an object and says so.
func (a *asking) delete(c *cobra.Command, what string, path ...string) error {
	api, err := a.client()
	if err != nil {
		return err
	}
	if _, err := api.do(c.Context(), call{method: http.MethodDelete, path: path}); err != nil {
		return told(c, &a.output, err, nil)
	}
	if a.json() {
		return printJSON(c.OutOrStdout(), map[string]any{"deleted": what})
	}
	_, err = fmt.Fprintln(c.OutOrStdout(), printable(what)+": deleted")
	return err
}
