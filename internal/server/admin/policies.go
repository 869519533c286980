package admin

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"time"

	"gatewright/policies"
)

// policyBody is a policy as the API shows it.
type policyBody struct {
	Name     string           `json:"name"`
	Kind     policies.Kind    `json:"kind"`
	Managed  bool             `json:"managed_by_config"`
	Active   string           `json:"active,omitempty"`
	Shadow   string           `json:"shadow,omitempty"`
	Canary   *canaryBody      `json:"canary,omitempty"`
	Versions int              `json:"versions"`
	Newest   string           `json:"newest,omitempty"`
	History  []activationBody `json:"history,omitempty"`
	Status   *policies.Status `json:"status,omitempty"`
}

type canaryBody struct {
	Version string  `json:"version"`
	Share   float64 `json:"share"`
}

type activationBody struct {
	Version string    `json:"version"`
	At      time.Time `json:"at"`
}

// versionBody is a version as the API shows it.
type versionBody struct {
	Name     string           `json:"name"`
	Kind     policies.Kind    `json:"kind"`
	Version  string           `json:"version"`
	State    policies.Stage   `json:"state"`
	Format   policies.Format  `json:"format"`
	Profile  string           `json:"profile"`
	Size     int              `json:"size"`
	Uploaded time.Time        `json:"uploaded"`
	Inputs   []string         `json:"inputs"`
	Reasons  []string         `json:"reasons,omitempty"`
	Warnings []string         `json:"warnings"`
	SignedBy string           `json:"signed_by,omitempty"`
	Status   *policies.Status `json:"status,omitempty"`
}

const perMillion = 1_000_000

func (a *api) policyBody(p *policies.Policy, whole bool) policyBody {
	b := policyBody{
		Name: p.Name, Kind: p.Kind, Managed: p.Managed, Active: p.Active, Shadow: p.Shadow, Versions: len(p.Versions),
	}
	if p.Canary != "" {
		b.Canary = &canaryBody{p.Canary, float64(p.CanaryShare) / perMillion}
	}
	if v := p.Newest(); v != nil {
		b.Newest = v.Digest
	}
	if p.Active != "" {
		status := a.Prober.Status(p.Name, p.Active)
		b.Status = &status
	}
	if whole {
		for _, h := range p.History {
			b.History = append(b.History, activationBody(h))
		}
	}
	return b
}

func (a *api) versionBody(p *policies.Policy, v *policies.Version) versionBody {
	b := versionBody{
		Name: p.Name, Kind: p.Kind, Version: v.Digest, State: p.Stage(v.Digest), Format: v.Format, Profile: v.Profile,
		Size: v.Size, Uploaded: v.Uploaded, Inputs: v.Inputs, Reasons: v.Reasons, Warnings: v.Warnings, SignedBy: v.SignedBy,
	}
	if b.Inputs == nil {
		b.Inputs = []string{}
	}
	if b.Warnings == nil {
		b.Warnings = []string{}
	}
	if b.State != policies.StageDraft && b.State != policies.StageRetired {
		status := a.Prober.Status(p.Name, v.Digest)
		b.Status = &status
	}
	return b
}

func (a *api) listPolicies(w http.ResponseWriter, r *http.Request) error {
	return writePage(a, w, r, a.Library.State().Policies(),
		func(p *policies.Policy) string { return p.Name },
		func(p *policies.Policy) policyBody { return a.policyBody(p, false) })
}

func (a *api) onePolicy(w http.ResponseWriter, r *http.Request) error {
	p, err := a.Library.State().Policy(variable(r, "name"))
	if err != nil {
		return err
	}
	a.write(w, r, http.StatusOK, a.policyBody(p, true))
	return nil
}

func (a *api) listVersions(w http.ResponseWriter, r *http.Request) error {
	p, err := a.Library.State().Policy(variable(r, "name"))
	if err != nil {
		return err
	}
	return writePage(a, w, r, p.Versions,
		func(v *policies.Version) string { return v.Digest },
		func(v *policies.Version) versionBody { return a.versionBody(p, v) })
}

func (a *api) version(r *http.Request) (*policies.Policy, *policies.Version, error) {
	p, err := a.Library.State().Policy(variable(r, "name"))
	if err != nil {
		return nil, nil, err
	}
	v, err := p.Version(variable(r, "version"))
	return p, v, err
}

func (a *api) oneVersion(w http.ResponseWriter, r *http.Request) error {
	p, v, err := a.version(r)
	if err != nil {
		return err
	}
	a.write(w, r, http.StatusOK, a.versionBody(p, v))
	return nil
}

// mediaTypes are the types of uploads by their format.
var mediaTypes = map[policies.Format]string{
	policies.FormatRego:   "text/x-rego",
	policies.FormatWasm:   "application/wasm",
	policies.FormatBundle: "application/gzip",
}

func (a *api) source(w http.ResponseWriter, r *http.Request) error {
	_, v, err := a.version(r)
	if err != nil {
		return err
	}
	body, err := a.Library.Source(v.Digest)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", mediaTypes[v.Format])
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Content-Disposition", "attachment")
	_, _ = w.Write(body) // a client that left needs no answer
	return nil
}

// format finds what an upload is. Without a type that says so it is found by its
// first bytes.
func format(r *http.Request) (policies.Format, error) {
	text := r.Header.Get("Content-Type")
	if text == "" {
		return "", nil
	}
	kind, _, err := mime.ParseMediaType(text)
	if err != nil {
		return "", failure(http.StatusUnsupportedMediaType, "unsupported_media_type", "content type "+quote(text)+": "+err.Error())
	}
	switch kind {
	case "text/x-rego", "text/plain", "application/x-rego":
		return policies.FormatRego, nil
	case "application/wasm":
		return policies.FormatWasm, nil
	case "application/gzip", "application/x-gzip", "application/x-tar+gzip":
		return policies.FormatBundle, nil
	case "application/octet-stream", "application/x-www-form-urlencoded": // what curl sends unasked
		return "", nil
	}
	return "", failure(http.StatusUnsupportedMediaType, "unsupported_media_type",
		"content type "+quote(kind)+": want text/x-rego, application/wasm, or application/gzip for an OPA bundle")
}

// SignatureHeader is the header of an upload's signature: base64 of the 64 bytes of an
// Ed25519 signature (RFC 8032) of the body.
const SignatureHeader = "X-Gatewright-Signature"

func signature(r *http.Request) ([]byte, error) {
	text := r.Header.Get(SignatureHeader)
	if text == "" {
		return nil, nil
	}
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(b) != ed25519.SignatureSize {
		return nil, fmt.Errorf("%w: %s: send base64 of the %d bytes of an Ed25519 signature of the body", policies.ErrInvalid, SignatureHeader, ed25519.SignatureSize)
	}
	return b, nil
}

func (a *api) upload(w http.ResponseWriter, r *http.Request) error {
	values, err := query(r, "name", "kind", "profile", "file")
	if err != nil {
		return err
	}
	u := &policies.Upload{
		Name: values.Get("name"), Kind: policies.Kind(values.Get("kind")), Profile: values.Get("profile"), File: values.Get("file"),
	}
	if u.Name == "" {
		return fmt.Errorf("%w: name is missing: POST %s/policies?name=NAME&kind=admission", policies.ErrInvalid, Prefix)
	}
	if u.Format, err = format(r); err != nil {
		return err
	}
	if u.Signature, err = signature(r); err != nil {
		return err
	}
	if u.Body, err = readBody(w, r, maxUpload); err != nil {
		return err
	}
	p, v, err := a.Library.Upload(r.Context(), u, author(r, "policy.upload", "policy/"+u.Name))
	if err != nil {
		return err
	}
	w.Header().Set("Location", Prefix+"/policies/"+p.Name+"/versions/"+v.Digest)
	a.write(w, r, http.StatusCreated, a.versionBody(p, v))
	return nil
}

// versionArguments are what the verbs of a policy take.
type versionArguments struct {
	Version string   `json:"version"`
	Share   *float64 `json:"share"`
}

// verb applies an operation to the policy of a path, and shows it afterwards.
func (a *api) verb(w http.ResponseWriter, r *http.Request, action string, takesShare bool,
	op func(s *policies.State, name string, v versionArguments) (*policies.State, error),
) error {
	name := variable(r, "name")
	var arguments versionArguments
	if err := readJSON(w, r, &arguments); err != nil {
		return err
	}
	if arguments.Share != nil && !takesShare {
		return fmt.Errorf("%w: share: only a canary has one", policies.ErrInvalid)
	}
	err := a.Library.Change(r.Context(), func(s *policies.State) (*policies.State, error) {
		return op(s, name, arguments)
	}, author(r, "policy."+action, "policy/"+name))
	if err != nil {
		return err
	}
	return a.onePolicy(w, r)
}

func (a *api) activate(w http.ResponseWriter, r *http.Request) error {
	return a.verb(w, r, "activate", false, func(s *policies.State, name string, v versionArguments) (*policies.State, error) {
		return s.Activate(name, v.Version, a.Clock())
	})
}

func (a *api) rollback(w http.ResponseWriter, r *http.Request) error {
	return a.verb(w, r, "rollback", false, func(s *policies.State, name string, v versionArguments) (*policies.State, error) {
		return s.Rollback(name, v.Version, a.Clock())
	})
}

func (a *api) shadow(w http.ResponseWriter, r *http.Request) error {
	return a.verb(w, r, "shadow", false, func(s *policies.State, name string, v versionArguments) (*policies.State, error) {
		return s.Shadow(name, v.Version)
	})
}

func (a *api) canary(w http.ResponseWriter, r *http.Request) error {
	return a.verb(w, r, "canary", true, func(s *policies.State, name string, v versionArguments) (*policies.State, error) {
		if v.Share == nil {
			return nil, fmt.Errorf("%w: share is missing: a number between 0 and 1, as 0.1 for a tenth of the sessions", policies.ErrInvalid)
		}
		return s.StartCanary(name, v.Version, int64(*v.Share*perMillion+0.5))
	})
}

func (a *api) stop(w http.ResponseWriter, r *http.Request) error {
	return a.verb(w, r, "stop", false, func(s *policies.State, name string, v versionArguments) (*policies.State, error) {
		if v.Version != "" {
			return nil, fmt.Errorf("%w: version: stop ends the shadow and the canary, whatever their versions", policies.ErrInvalid)
		}
		return s.Stop(name)
	})
}

func (a *api) deletePolicy(w http.ResponseWriter, r *http.Request) error {
	name := variable(r, "name")
	err := a.Library.Change(r.Context(), func(s *policies.State) (*policies.State, error) {
		return s.Delete(name)
	}, author(r, "policy.delete", "policy/"+name))
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}

func (a *api) deleteVersion(w http.ResponseWriter, r *http.Request) error {
	name, digest := variable(r, "name"), variable(r, "version")
	err := a.Library.Change(r.Context(), func(s *policies.State) (*policies.State, error) {
		return s.DeleteVersion(name, digest)
	}, author(r, "policy.delete_version", "policy/"+name))
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}
