package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"

	"gatewright/engine"
	"gatewright/internal/config"
	"gatewright/policies"
)

// filedPolicies are the policies and bindings of one configuration file, and
// what the policies' files held when they were read.
type filedPolicies struct {
	policies []*policies.Policy
	bindings []*policies.Binding
	sources  map[string][]byte // by digest
}

// judge checks a policy. [policies.Library] is one.
type judge interface {
	Judge(ctx context.Context, u *policies.Upload) (*policies.Judgement, error)
}

// readPolicies reads and compiles what a file names. A policy that is as it was
// in old, which may be nil, is not compiled again. The error names everything
// that is wrong.
func readPolicies(ctx context.Context, file *config.File, c judge, old *filedPolicies) (*filedPolicies, error) {
	f := &filedPolicies{sources: map[string][]byte{}}
	var errs []error
	for i := range file.Policies {
		p, body, err := readPolicy(ctx, &file.Policies[i], c, old)
		if err != nil {
			errs = append(errs, fmt.Errorf("policies.%s: %w", file.Policies[i].Name, err))
			continue
		}
		f.policies = append(f.policies, p)
		f.sources[p.Active] = body
	}
	for i := range file.Bindings {
		b, err := binding(&file.Bindings[i])
		if err != nil {
			errs = append(errs, fmt.Errorf("bindings[%d]: %w", i, err))
			continue
		}
		f.bindings = append(f.bindings, b)
	}
	return f, errors.Join(errs...)
}

// maxPolicyFile is the largest file of a policy, in bytes.
const maxPolicyFile = 10 << 20

func readPolicy(ctx context.Context, p *config.Policy, c judge, old *filedPolicies) (*policies.Policy, []byte, error) {
	info, err := os.Stat(p.Path)
	if err != nil {
		return nil, nil, err
	}
	if info.Size() > maxPolicyFile {
		return nil, nil, fmt.Errorf("%s has %d bytes, at most %d are read", p.Path, info.Size(), maxPolicyFile)
	}
	body, err := os.ReadFile(p.Path)
	if err != nil {
		return nil, nil, err
	}
	if known := old.find(p, policies.Digest(body)); known != nil {
		return known, body, nil
	}
	j, err := c.Judge(ctx, &policies.Upload{
		Name: p.Name, Kind: policies.Kind(p.Kind), Format: policies.Format(p.Format), Profile: p.Profile, File: p.File, Body: body,
	})
	if err != nil {
		return nil, nil, err
	}
	v := &j.Version
	return &policies.Policy{
		Name: p.Name, Kind: j.Kind, Managed: true, Versions: []*policies.Version{v}, Active: v.Digest,
		History: []policies.Activation{{Version: v.Digest, At: v.Uploaded}},
	}, body, nil
}

// find returns a policy that was read before with the same content and settings;
// nil if there is none.
func (f *filedPolicies) find(p *config.Policy, digest string) *policies.Policy {
	if f == nil {
		return nil
	}
	for _, q := range f.policies {
		v := q.Newest()
		same := q.Name == p.Name && q.Active == digest && v.File == p.File
		if same && (p.Kind == "" || p.Kind == string(q.Kind)) && (p.Profile == "" || p.Profile == v.Profile) {
			return q
		}
	}
	return nil
}

// binding is a binding of the file.
func binding(b *config.Binding) (*policies.Binding, error) {
	onFault, _ := policies.OnFaultByName(b.OnFault) // the configuration holds known names
	grants, err := policies.GrantsByName(b.Grant)
	if err != nil {
		return nil, err
	}
	out := &policies.Binding{
		ID: b.ID, Policy: b.Policy, Managed: true, Key: b.Key, Model: b.Model, OnFault: onFault,
		Parameters: json.RawMessage(b.Parameters), Grants: grants, Stateful: b.Stateful, Order: b.Order,
	}
	if t := b.Tolerance; t != nil {
		out.Tolerance = engine.Tolerance{RelativePPM: t.RelativePPM, Absolute: float64(t.Absolute) / unitOf(scoreKey)}
	}
	return out, nil
}

// scoreKey is the sort key that a ranking is.
const scoreKey = "score"

// fileSources gives back what the files of policies held.
type fileSources struct{ bodies map[string][]byte }

// Source implements policies.Sources.
func (s *fileSources) Source(digest string) ([]byte, error) {
	if body, ok := s.bodies[digest]; ok {
		return body, nil
	}
	return nil, fmt.Errorf("source %s: %w", digest, policies.ErrNotFound)
}

// union is what either holds.
func union(a, b map[string][]byte) map[string][]byte {
	all := maps.Clone(a)
	if all == nil {
		all = make(map[string][]byte, len(b))
	}
	maps.Copy(all, b)
	return all
}
