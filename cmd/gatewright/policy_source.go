package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"gatewright/internal/config"
)

func newPolicyDownload() *cobra.Command {
	var flags asking
	var version string
	var force bool
	c := &cobra.Command{
		Use:   "download NAME [FILE]",
		Short: "Write what was uploaded to a file (default: NAME and its extension; - = print it)",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 1 || len(args) == 2 {
				return nil
			}
			return usageError{fmt.Errorf("%s takes the name of a policy, and perhaps a file; see %s --help", c.CommandPath(), c.CommandPath())}
		},
		RunE: func(c *cobra.Command, args []string) error {
			file := ""
			if len(args) == 2 {
				file = args[1]
			}
			return flags.download(c, args[0], version, file, force)
		},
	}
	flags.add(c)
	c.Flags().StringVar(&version, "version", "", "`digest` of the version, or its first 8 digits (default: the active one, else the newest)")
	c.Flags().BoolVar(&force, "force", false, "overwrite the file")
	return c
}

func (a *asking) download(c *cobra.Command, name, version, file string, force bool) error {
	api, err := a.client()
	if err != nil {
		return err
	}
	if version == "" {
		var p policyView
		if _, err := api.get(c.Context(), &p, "policies", name); err != nil {
			return told(c, &a.output, err, nil)
		}
		if version = firstOf(p.Active, p.Newest); version == "" {
			return fmt.Errorf("%s has no version yet", printable(name))
		}
	}
	source, err := api.do(c.Context(), call{method: http.MethodGet, path: []string{"policies", name, "versions", version, "source"}})
	if err != nil {
		return told(c, &a.output, err, nil)
	}
	if file == "-" {
		_, err := c.OutOrStdout().Write(source.body)
		return err
	}
	if file == "" {
		file = name + extension(source.media)
	}
	if err := writeNew(file, source.body, force); err != nil {
		return err
	}
	if a.json() {
		return printJSON(c.OutOrStdout(), map[string]any{"file": file, "size": len(source.body), "version": version})
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "%s: %d bytes of version %s\n", printable(file), len(source.body), short(version))
	return err
}

// extension is that of files of a media type.
func extension(media string) string {
	switch kind, _, _ := strings.Cut(media, ";"); kind {
	case medias[config.PolicyWasm]:
		return ".wasm"
	case medias[config.PolicyBundle]:
		return ".tar.gz"
	}
	return ".rego"
}

// writeNew writes a file that is not there yet, or any with force.
func writeNew(path string, body []byte, force bool) error {
	const mode = 0o644
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if force {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(path, flags, mode) //nolint:gosec // the user names the file
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s is there already; --force overwrites it", path)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(body)
	return errors.Join(err, f.Close())
}
