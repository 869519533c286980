package policies

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// What an operation on a State can fail with, wrapped in an error that says what
// to do.
var (
	// ErrNotFound is a policy, version or binding that does not exist.
	ErrNotFound = errors.New("not found")
	// ErrConflict is an operation that what there is does not allow.
	ErrConflict = errors.New("conflict")
	// ErrManaged is a change of what the configuration file defines.
	ErrManaged = errors.New("managed by the configuration file")
	// ErrInvalid is an operation that makes no sense by itself.
	ErrInvalid = errors.New("invalid")
)

// Limits of what a State holds.
const (
	maxPolicies = 1000
	maxVersions = 200 // of one policy
	maxBindings = 10_000
	maxHistory  = 100 // activations of one policy that are remembered
	maxName     = 128
)

// State is all policies and bindings of one moment. It is never changed: each
// operation returns a new one, which shares what stayed the same.
type State struct {
	policies map[string]*Policy
	bindings map[string]*Binding
}

// Policy is a name under which versions of a rule live. It is read only.
type Policy struct {
	Name     string
	Kind     Kind
	Managed  bool       // the configuration file defines it
	Versions []*Version // in the order of upload

	Active string // digest; "" = none yet
	Shadow string // evaluated and compared, not used; "" = none
	Canary string // used for CanaryShare of the sessions; "" = none

	CanaryShare int64        // ppm
	History     []Activation // oldest first
}

// Activation is a change of the active version.
type Activation struct {
	Version string
	At      time.Time
}

// Version is one upload. It is read only.
type Version struct {
	Digest   string // SHA-256 of the upload, hex: its name
	Format   Format
	Profile  string // of the sandbox
	File     string // name for messages; "" = the policy's
	Size     int
	Uploaded time.Time
	Inputs   []string // what it reads
	Reasons  []string // what it can answer with, as far as that is known
	Warnings []string
	SignedBy string // public key, base64; "" = nobody had to sign
}

// Stage is where in its life a version is.
type Stage string

// The stages of a version.
const (
	StageDraft   Stage = "draft"   // never used
	StageShadow  Stage = "shadow"  // evaluated on live traffic, not used
	StageCanary  Stage = "canary"  // used for a share of the sessions
	StageActive  Stage = "active"  // used
	StageRetired Stage = "retired" // was active
)

// Stage returns where in its life a version is.
func (p *Policy) Stage(digest string) Stage {
	switch {
	case digest == p.Active:
		return StageActive
	case digest == p.Canary:
		return StageCanary
	case digest == p.Shadow:
		return StageShadow
	case slices.ContainsFunc(p.History, func(a Activation) bool { return a.Version == digest }):
		return StageRetired
	}
	return StageDraft
}

// Version returns the version that a digest, or the beginning of one that is
// eight digits long at least, names.
func (p *Policy) Version(digest string) (*Version, error) {
	var found *Version
	for _, v := range p.Versions {
		switch {
		case v.Digest == digest:
			return v, nil
		case len(digest) >= minDigest && strings.HasPrefix(v.Digest, digest):
			if found != nil {
				return nil, fmt.Errorf("policy %q: version %s: %w: several begin so; write more of it", p.Name, digest, ErrInvalid)
			}
			found = v
		}
	}
	if found == nil {
		return nil, fmt.Errorf("policy %q: version %s: %w", p.Name, digest, ErrNotFound)
	}
	return found, nil
}

// minDigest is how much of a digest is enough to name a version.
const minDigest = 8

// Newest returns the version that was uploaded last; nil without any.
func (p *Policy) Newest() *Version {
	if len(p.Versions) == 0 {
		return nil
	}
	return p.Versions[len(p.Versions)-1]
}

// NewState returns a State of what was stored or configured. It takes ownership.
// The error names everything that does not fit together.
func NewState(policies []*Policy, bindings []*Binding) (*State, error) {
	s := &State{policies: make(map[string]*Policy, len(policies)), bindings: make(map[string]*Binding, len(bindings))}
	var errs []error
	for _, p := range policies {
		if s.policies[p.Name] != nil {
			errs = append(errs, fmt.Errorf("policy %q: %w: defined twice", p.Name, ErrConflict))
		}
		s.policies[p.Name] = p
	}
	for _, b := range bindings {
		if s.bindings[b.ID] != nil {
			errs = append(errs, fmt.Errorf("binding %q: %w: defined twice", b.ID, ErrConflict))
		}
		s.bindings[b.ID] = b
	}
	for _, b := range bindings {
		errs = append(errs, s.checkBinding(b))
	}
	return s, errors.Join(errs...)
}

// Policy returns a policy by its name.
func (s *State) Policy(name string) (*Policy, error) {
	p := s.policies[name]
	if p == nil {
		return nil, fmt.Errorf("policy %q: %w", name, ErrNotFound)
	}
	return p, nil
}

// Policies lists all policies by name.
func (s *State) Policies() []*Policy {
	return slices.SortedFunc(maps.Values(s.policies), func(a, b *Policy) int { return strings.Compare(a.Name, b.Name) })
}

// Binding returns a binding by its id.
func (s *State) Binding(id string) (*Binding, error) {
	b := s.bindings[id]
	if b == nil {
		return nil, fmt.Errorf("binding %q: %w", id, ErrNotFound)
	}
	return b, nil
}

// Bindings lists all bindings in the order in which they apply: by Order, then
// by id.
func (s *State) Bindings() []*Binding {
	return slices.SortedFunc(maps.Values(s.bindings), func(a, b *Binding) int {
		if a.Order != b.Order {
			return a.Order - b.Order
		}
		return strings.Compare(a.ID, b.ID)
	})
}

// with returns a copy of the state with another policy in place of p's name.
func (s *State) with(p *Policy) *State {
	next := &State{policies: maps.Clone(s.policies), bindings: s.bindings}
	next.policies[p.Name] = p
	return next
}

// Upload adds a version to a policy, which begins with it if there is none of
// that name. A version that is there already stays as it is, and becomes the
// newest.
func (s *State) Upload(name string, kind Kind, v *Version) (*State, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	old := s.policies[name]
	if old == nil {
		if len(s.policies) >= maxPolicies {
			return nil, fmt.Errorf("%w: there are %d policies, the most that there may be; delete some", ErrConflict, maxPolicies)
		}
		old = &Policy{Name: name, Kind: kind}
	}
	switch {
	case old.Managed:
		return nil, managed("policy", name)
	case old.Kind != kind:
		return nil, fmt.Errorf("policy %q: %w: it is of kind %s, and this is of kind %s; upload it under another name", name, ErrConflict, old.Kind, kind)
	}
	p := *old
	p.Versions = slices.DeleteFunc(slices.Clone(p.Versions), func(x *Version) bool {
		if x.Digest != v.Digest {
			return false
		}
		known := *x
		if v.SignedBy != "" {
			known.SignedBy = v.SignedBy
		}
		v = &known
		return true
	})
	if len(p.Versions) >= maxVersions {
		return nil, fmt.Errorf("policy %q: %w: it has %d versions, the most that there may be; delete some", name, ErrConflict, maxVersions)
	}
	p.Versions = append(p.Versions, v)
	return s.with(&p), nil
}

func managed(what, name string) error {
	return fmt.Errorf("%s %q: %w; change it there", what, name, ErrManaged)
}

// checkName refuses what could not stand in a path, in "policy:NAME" or in a
// log.
func checkName(name string) error {
	ok := name != "" && len(name) <= maxName && name[0] != '-' && name[0] != '.'
	for _, c := range name {
		ok = ok && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_.", c))
	}
	if !ok {
		return fmt.Errorf("policy name %q: %w: want 1 to %d letters, digits, '-', '_' or '.', not beginning with '-' or '.'", name, ErrInvalid, maxName)
	}
	return nil
}

// change applies an operation to a copy of one policy.
func (s *State) change(name string, op func(p *Policy) error) (*State, error) {
	old, err := s.Policy(name)
	if err != nil {
		return nil, err
	}
	if old.Managed {
		return nil, managed("policy", name)
	}
	p := *old
	if err := op(&p); err != nil {
		return nil, err
	}
	return s.with(&p), nil
}

// named returns the version that an operation is about; "" = the newest.
func (p *Policy) named(digest string) (*Version, error) {
	if digest != "" {
		return p.Version(digest)
	}
	v := p.Newest()
	if v == nil {
		return nil, fmt.Errorf("policy %q: %w: it has no version; upload one", p.Name, ErrNotFound)
	}
	return v, nil
}

// Activate makes a version the one that is used; "" = the newest. It ends a
// canary, and a shadow of the same version.
func (s *State) Activate(name, digest string, at time.Time) (*State, error) {
	return s.change(name, func(p *Policy) error {
		v, err := p.named(digest)
		if err != nil {
			return err
		}
		p.activate(v.Digest, at)
		return nil
	})
}

func (p *Policy) activate(digest string, at time.Time) {
	p.Canary, p.CanaryShare = "", 0
	if p.Shadow == digest {
		p.Shadow = ""
	}
	if p.Active == digest {
		return
	}
	p.Active = digest
	p.History = append(slices.Clone(p.History), Activation{Version: digest, At: at})
	p.History = p.History[max(0, len(p.History)-maxHistory):]
}

// Rollback makes an earlier version active; "" = the one that was active before
// the present one.
func (s *State) Rollback(name, digest string, at time.Time) (*State, error) {
	return s.change(name, func(p *Policy) error {
		if digest != "" {
			v, err := p.Version(digest)
			if err != nil {
				return err
			}
			if p.Stage(v.Digest) != StageRetired {
				return fmt.Errorf("policy %q: version %s: %w: it was never active before; activate it", name, digest, ErrConflict)
			}
			p.activate(v.Digest, at)
			return nil
		}
		for _, a := range slices.Backward(p.History) {
			if _, err := p.Version(a.Version); err == nil && a.Version != p.Active {
				p.activate(a.Version, at)
				return nil
			}
		}
		return fmt.Errorf("policy %q: %w: there is no earlier version to go back to", name, ErrConflict)
	})
}

// Shadow has a version evaluated on live traffic and compared, without being
// used; "" = the newest. It takes the place of the shadow that there was.
func (s *State) Shadow(name, digest string) (*State, error) {
	return s.change(name, func(p *Policy) error {
		v, err := p.named(digest)
		switch {
		case err != nil:
			return err
		case v.Digest == p.Active:
			return fmt.Errorf("policy %q: version %s: %w: it is active; a shadow is another version", name, v.Digest[:minDigest], ErrConflict)
		}
		if p.Canary == v.Digest {
			p.Canary, p.CanaryShare = "", 0
		}
		p.Shadow = v.Digest
		return nil
	})
}

// StartCanary uses a version for a share of the sessions, in ppm; "" = the
// newest. It takes the place of the canary that there was.
func (s *State) StartCanary(name, digest string, share int64) (*State, error) {
	return s.change(name, func(p *Policy) error {
		v, err := p.named(digest)
		switch {
		case err != nil:
			return err
		case share <= 0 || share >= million:
			return fmt.Errorf("policy %q: share: %w: want more than 0 and less than 1; to use it for all, activate it", name, ErrInvalid)
		case p.Active == "":
			return fmt.Errorf("policy %q: %w: no version is active that the other sessions could have; activate one first", name, ErrConflict)
		case v.Digest == p.Active:
			return fmt.Errorf("policy %q: version %s: %w: it is active; a canary is another version", name, v.Digest[:minDigest], ErrConflict)
		}
		if p.Shadow == v.Digest {
			p.Shadow = ""
		}
		p.Canary, p.CanaryShare = v.Digest, share
		return nil
	})
}

const million = 1_000_000

// Stop ends the shadow and the canary of a policy.
func (s *State) Stop(name string) (*State, error) {
	return s.change(name, func(p *Policy) error {
		p.Shadow, p.Canary, p.CanaryShare = "", "", 0
		return nil
	})
}

// DeleteVersion removes a version that is not in use.
func (s *State) DeleteVersion(name, digest string) (*State, error) {
	return s.change(name, func(p *Policy) error {
		v, err := p.Version(digest)
		if err != nil {
			return err
		}
		switch stage := p.Stage(v.Digest); stage {
		case StageActive, StageCanary, StageShadow:
			return fmt.Errorf("policy %q: version %s: %w: it is in use (%s)", name, digest, ErrConflict, stage)
		case StageDraft, StageRetired:
		}
		p.Versions = slices.DeleteFunc(slices.Clone(p.Versions), func(x *Version) bool { return x == v })
		p.History = slices.DeleteFunc(slices.Clone(p.History), func(a Activation) bool { return a.Version == v.Digest })
		return nil
	})
}

// Delete removes a policy that no binding names, with all its versions.
func (s *State) Delete(name string) (*State, error) {
	p, err := s.Policy(name)
	if err != nil {
		return nil, err
	}
	if p.Managed {
		return nil, managed("policy", name)
	}
	for _, b := range s.Bindings() {
		if b.Policy == name {
			return nil, fmt.Errorf("policy %q: %w: binding %q names it; delete that first", name, ErrConflict, b.ID)
		}
	}
	next := &State{policies: maps.Clone(s.policies), bindings: s.bindings}
	delete(next.policies, name)
	return next, nil
}

// Bind adds a binding, or puts it in the place of the one with its id.
func (s *State) Bind(b *Binding) (*State, error) {
	if err := checkName(b.ID); err != nil {
		return nil, fmt.Errorf("binding: %w", err)
	}
	if old := s.bindings[b.ID]; old != nil && old.Managed {
		return nil, managed("binding", b.ID)
	}
	next := &State{policies: s.policies, bindings: maps.Clone(s.bindings)}
	if next.bindings[b.ID] = b; len(next.bindings) > maxBindings {
		return nil, fmt.Errorf("%w: there are %d bindings, the most that there may be; delete some", ErrConflict, maxBindings)
	}
	if err := next.checkBinding(b); err != nil {
		return nil, err
	}
	return next, nil
}

// Unbind removes a binding.
func (s *State) Unbind(id string) (*State, error) {
	b, err := s.Binding(id)
	if err != nil {
		return nil, err
	}
	if b.Managed {
		return nil, managed("binding", id)
	}
	next := &State{policies: s.policies, bindings: maps.Clone(s.bindings)}
	delete(next.bindings, id)
	return next, nil
}

// checkBinding reports what is wrong with a binding among the others.
func (s *State) checkBinding(b *Binding) error {
	p := s.policies[b.Policy]
	if p == nil {
		return fmt.Errorf("binding %q: policy %q: %w; there are %s", b.ID, b.Policy, ErrNotFound, s.names())
	}
	if err := b.check(p.Kind); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if p.Kind != Ranking {
		return nil
	}
	for _, other := range s.Bindings() {
		if q := s.policies[other.Policy]; other != b && q != nil && q.Kind == Ranking && other.level() == b.level() {
			return fmt.Errorf("binding %q: %w: binding %q binds a ranking to %s already; a level has one strategy", b.ID, ErrConflict, other.ID, b.level())
		}
	}
	return nil
}

func (s *State) names() string {
	if len(s.policies) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(s.policies)), ", ")
}
