package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gatewright/internal/config"
)

func newPolicyPush() *cobra.Command {
	var flags asking
	var kind, profile, key string
	var activate bool
	c := &cobra.Command{
		Use:   "push NAME FILE|FOLDER",
		Short: "Upload a version of a policy: it is checked and compiled, and stays a draft",
		Long: `Upload a version of a policy: it is checked and compiled, and stays a draft.

FILE is Rego text (.rego), a Wasm module (.wasm) or an OPA bundle (.tar.gz). Of a
FOLDER a bundle is made: its .rego files, data.json and .manifest, those of its
subfolders too. What is wrong with the policy is printed with file, line and column.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 2 {
				return nil
			}
			return usageError{fmt.Errorf("%s takes a name and a file or folder; see %s --help", c.CommandPath(), c.CommandPath())}
		},
		RunE: func(c *cobra.Command, args []string) error {
			for flag, value := range map[string]string{"kind": kind, "profile": profile} {
				if known := choices[flag]; value != "" && !slices.Contains(known, value) {
					return usageError{fmt.Errorf("--%s %q: there are %s", flag, value, strings.Join(known, ", "))}
				}
			}
			u, err := readUpload(args[1])
			if err != nil {
				return err
			}
			query := url.Values{"name": {args[0]}}
			for name, value := range map[string]string{"kind": kind, "profile": profile, "file": u.name} {
				if value != "" {
					query.Set(name, value)
				}
			}
			if key != "" {
				if u.signed, err = sign(u.body, key); err != nil {
					return err
				}
			}
			return flags.push(c, u, query, activate)
		},
	}
	flags.add(c)
	c.Flags().StringVar(&kind, "kind", "", "`kind` of the policy: admission or ranking (default: what its source says)")
	c.Flags().StringVar(&profile, "profile", "", "`profile` of the sandbox for a .wasm module: small or go (default: small)")
	c.Flags().StringVar(&key, "sign", "", "sign it with the Ed25519 private key in this PEM `file`, as the gateway's admin.signers ask for")
	c.Flags().BoolVar(&activate, "activate", false, "use it at once, without draft")
	return c
}

// choices are what some flags take.
var choices = map[string][]string{
	"kind":    {"admission", "ranking"},
	"profile": {"small", "opa", "go"},
}

// upload is a policy as it is sent.
type upload struct {
	body   []byte
	signed []byte // its signature; nil = none
	media  string
	name   string                   // of the file, for messages; "" for a bundle
	place  func(file string) string // where a file of the upload is here
}

// medias are the types of uploads.
var medias = map[config.PolicyFormat]string{
	config.PolicyRego: "text/x-rego", config.PolicyWasm: "application/wasm", config.PolicyBundle: "application/gzip",
}

// readUpload reads a file, or makes a bundle of a folder.
func readUpload(path string) (*upload, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		body, err := pack(path)
		if err != nil {
			return nil, err
		}
		return &upload{body: body, media: medias[config.PolicyBundle], place: func(file string) string {
			return filepath.Join(path, filepath.FromSlash(strings.TrimPrefix(file, "/")))
		}}, nil
	}
	format, ok := config.PolicyFormatOf(path)
	if !ok {
		return nil, usageError{fmt.Errorf("%s: name a file that ends in .rego, .wasm or .tar.gz, or a folder", path)}
	}
	body, err := os.ReadFile(path) //nolint:gosec // the user names the file
	if err != nil {
		return nil, err
	}
	u := &upload{body: body, media: medias[format]}
	if format != config.PolicyBundle {
		u.name = filepath.Base(path)
		u.place = func(file string) string {
			if file == u.name {
				return path
			}
			return file
		}
	}
	return u, nil
}

// pack makes a bundle of what a folder holds of one. The same files give the
// same bytes, and so the same version.
func pack(folder string) ([]byte, error) {
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	t := tar.NewWriter(packed)
	sources := 0
	root, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case e.IsDir() && name != "." && strings.HasPrefix(e.Name(), "."):
			return filepath.SkipDir
		case e.IsDir() || !inBundle(filepath.ToSlash(name)):
			return nil
		}
		text, err := os.ReadFile(path) //nolint:gosec // below the folder that the user names
		if err != nil {
			return err
		}
		if strings.HasSuffix(name, ".rego") {
			sources++
		}
		header := &tar.Header{Typeflag: tar.TypeReg, Name: filepath.ToSlash(name), Mode: 0o644, Size: int64(len(text)), Format: tar.FormatPAX}
		if err := t.WriteHeader(header); err != nil {
			return err
		}
		_, err = t.Write(text)
		return err
	})
	if err == nil && sources == 0 {
		err = fmt.Errorf("%s: no .rego file is in the folder", folder)
	}
	if err := errors.Join(err, t.Close(), packed.Close()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// inBundle reports whether a bundle takes a file of that name, by its path in
// the folder.
func inBundle(name string) bool {
	base := name[strings.LastIndexByte(name, '/')+1:]
	return strings.HasSuffix(name, ".rego") && base != ".rego" || base == "data.json" || name == ".manifest"
}

// push uploads, and activates if that is asked for.
func (a *asking) push(c *cobra.Command, u *upload, query url.Values, activate bool) error {
	api, err := a.client()
	if err != nil {
		return err
	}
	answer, err := api.do(c.Context(), call{method: http.MethodPost, path: []string{"policies"}, query: query, body: u.body, media: u.media, signed: u.signed})
	if err != nil {
		return told(c, &a.output, err, u.place)
	}
	var v versionView
	if err := answer.read(&v); err != nil {
		return err
	}
	for _, w := range v.Warnings {
		_, _ = fmt.Fprintln(c.ErrOrStderr(), "warning: "+printable(w))
	}
	if activate {
		if _, err := api.send(c.Context(), http.MethodPost, map[string]string{"version": v.Version}, nil, "policies", v.Name, "activate"); err != nil {
			return told(c, &a.output, err, nil)
		}
		if answer, err = api.get(c.Context(), &v, "policies", v.Name, "versions", v.Version); err != nil {
			return told(c, &a.output, err, nil)
		}
	}
	if a.json() {
		_, err := c.OutOrStdout().Write(answer.body)
		return err
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "%s: version %s (%s, %d bytes of %s) is %s\n",
		printable(v.Name), short(v.Version), v.Kind, v.Size, v.Format, article(string(v.State)))
	return err
}

// article makes a draft of draft.
func article(state string) string {
	if state == "draft" || state == "canary" || state == "shadow" {
		return "a " + state
	}
	return state
}
