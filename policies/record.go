package policies

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"gatewright/engine"
)

// Stored records are JSON with a version. Fields are only added; a reader meets
// no unknown ones but of a newer gateway, and refuses those rather than lose
// them with the next write.
const recordVersion = 1

type policyRecord struct {
	V           int                `json:"v"`
	Kind        Kind               `json:"kind"`
	Active      string             `json:"active,omitempty"`
	Shadow      string             `json:"shadow,omitempty"`
	Canary      string             `json:"canary,omitempty"`
	CanaryShare int64              `json:"canary_share_ppm,omitempty"`
	History     []activationRecord `json:"history,omitempty"`
	Versions    []versionRecord    `json:"versions"`
}

type activationRecord struct {
	Version string    `json:"version"`
	At      time.Time `json:"at"`
}

type versionRecord struct {
	Digest   string    `json:"sha256"`
	Format   Format    `json:"format"`
	Profile  string    `json:"profile"`
	File     string    `json:"file,omitempty"`
	Size     int       `json:"size"`
	Uploaded time.Time `json:"uploaded"`
	Inputs   []string  `json:"inputs,omitempty"`
	Reasons  []string  `json:"reasons,omitempty"`
	Warnings []string  `json:"warnings,omitempty"`
	SignedBy string    `json:"signed_by,omitempty"`
}

type bindingRecord struct {
	V            int             `json:"v"`
	Policy       string          `json:"policy"`
	Org          string          `json:"org,omitempty"`
	Team         string          `json:"team,omitempty"`
	Key          string          `json:"key,omitempty"`
	Model        string          `json:"model,omitempty"`
	OnFault      string          `json:"on_fault"`
	Parameters   json.RawMessage `json:"parameters,omitempty"`
	Grant        []string        `json:"grant,omitempty"`
	Stateful     bool            `json:"stateful,omitempty"`
	TolerancePPM int64           `json:"tolerance_ppm,omitempty"`
	ToleranceAbs float64         `json:"tolerance_absolute,omitempty"`
	Order        int             `json:"order,omitempty"`
}

// Encode returns the record of a policy. What was uploaded is not in it.
func (p *Policy) Encode() ([]byte, error) {
	r := policyRecord{
		V: recordVersion, Kind: p.Kind, Active: p.Active, Shadow: p.Shadow, Canary: p.Canary, CanaryShare: p.CanaryShare,
		Versions: make([]versionRecord, len(p.Versions)),
	}
	for _, a := range p.History {
		r.History = append(r.History, activationRecord(a))
	}
	for i, v := range p.Versions {
		r.Versions[i] = versionRecord(*v)
	}
	return json.Marshal(r)
}

// DecodePolicy reads the record of a policy.
func DecodePolicy(name string, record []byte) (*Policy, error) {
	var r policyRecord
	if err := decodeRecord(record, &r, &r.V); err != nil {
		return nil, fmt.Errorf("record of policy %q: %w", name, err)
	}
	if r.Kind != Admission && r.Kind != Ranking {
		return nil, fmt.Errorf("record of policy %q: unknown kind %q", name, r.Kind)
	}
	p := &Policy{
		Name: name, Kind: r.Kind, Active: r.Active, Shadow: r.Shadow, Canary: r.Canary, CanaryShare: r.CanaryShare,
		Versions: make([]*Version, len(r.Versions)),
	}
	for _, a := range r.History {
		p.History = append(p.History, Activation(a))
	}
	for i := range r.Versions {
		v := Version(r.Versions[i])
		p.Versions[i] = &v
	}
	for _, d := range [...]string{p.Active, p.Shadow, p.Canary} {
		if d == "" {
			continue
		}
		if _, err := p.Version(d); err != nil {
			return nil, fmt.Errorf("record of policy %q: %w", name, err)
		}
	}
	return p, nil
}

// Encode returns the record of a binding.
func (b *Binding) Encode() ([]byte, error) {
	return json.Marshal(bindingRecord{
		V: recordVersion, Policy: b.Policy, Org: b.Org, Team: b.Team, Key: b.Key, Model: b.Model,
		OnFault: b.OnFault.String(), Parameters: b.Parameters, Grant: b.Grants.Names(), Stateful: b.Stateful,
		TolerancePPM: b.Tolerance.RelativePPM, ToleranceAbs: b.Tolerance.Absolute, Order: b.Order,
	})
}

// DecodeBinding reads the record of a binding.
func DecodeBinding(id string, record []byte) (*Binding, error) {
	var r bindingRecord
	if err := decodeRecord(record, &r, &r.V); err != nil {
		return nil, fmt.Errorf("record of binding %q: %w", id, err)
	}
	onFault, ok := OnFaultByName(r.OnFault)
	if !ok {
		return nil, fmt.Errorf("record of binding %q: unknown on_fault %q", id, r.OnFault)
	}
	grants, err := GrantsByName(r.Grant)
	if err != nil {
		return nil, fmt.Errorf("record of binding %q: %w", id, err)
	}
	return &Binding{
		ID: id, Policy: r.Policy, Org: r.Org, Team: r.Team, Key: r.Key, Model: r.Model,
		OnFault: onFault, Parameters: r.Parameters, Grants: grants, Stateful: r.Stateful, Order: r.Order,
		Tolerance: engine.Tolerance{RelativePPM: r.TolerancePPM, Absolute: r.ToleranceAbs},
	}, nil
}

var errNewer = errors.New("written by a newer gateway")

// decodeRecord reads a record and finds its version in v, a field of it.
func decodeRecord(record []byte, into any, v *int) error {
	d := json.NewDecoder(bytes.NewReader(record))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the record")
	}
	switch {
	case *v > recordVersion:
		return fmt.Errorf("version %d: %w", *v, errNewer)
	case *v != recordVersion:
		return fmt.Errorf("version %d, want %d", *v, recordVersion)
	}
	return nil
}
