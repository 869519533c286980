package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"gatewright/internal/config"
	"gatewright/internal/server/admin"
	"gatewright/policies"
)

// adminVariable is the environment variable that holds the address of the admin
// API.
const adminVariable = "GATEWRIGHT_ADMIN"

// Bounds of one request to the admin API.
const (
	adminTimeout = 2 * time.Minute // a policy is compiled before its upload is answered
	maxAnswer    = 64 << 20
)

// remote are the flags of the verbs that ask a running gateway.
type remote struct{ address, token string }

// add takes no defaults from the environment: help would show them.
func (r *remote) add(c *cobra.Command) {
	c.Flags().StringVar(&r.address, "admin", "", "`URL` of the admin API (default: $"+adminVariable+", else http://"+config.DefaultAdminListen+")")
	c.Flags().StringVar(&r.token, "token", "", "admin `token` (default: $"+config.AdminTokenVariable+", which other users cannot see)")
}

// client calls the admin API.
type client struct {
	base  *url.URL // without a slash at its end
	token config.Secret
	http  *http.Client
}

// client checks what the flags and the environment say.
func (r *remote) client() (*client, error) {
	address := firstOf(r.address, os.Getenv(adminVariable), "http://"+config.DefaultAdminListen)
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	base, err := url.Parse(address)
	switch {
	case err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https":
		return nil, usageError{errors.New("the address of the admin API is not a URL such as http://" + config.DefaultAdminListen)}
	case base.User != nil || base.RawQuery != "" || base.Fragment != "":
		return nil, usageError{errors.New("the address of the admin API holds more than a host and a path; the token has a flag of its own")}
	}
	base.Path = strings.TrimSuffix(strings.TrimSuffix(base.Path, "/"), admin.Prefix) + admin.Prefix
	token := firstOf(r.token, os.Getenv(config.AdminTokenVariable))
	if token == "" {
		return nil, usageError{fmt.Errorf("this needs the admin token: set %s; the first start of the gateway has shown the token, if the configuration names none",
			config.AdminTokenVariable)}
	}
	if strings.ContainsFunc(token, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return nil, usageError{errors.New("the admin token holds a space, a line break or another character that no header can carry")}
	}
	return &client{base: base, token: config.NewSecret(token), http: &http.Client{
		Timeout:       adminTimeout,
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// call is one request to the admin API.
type call struct {
	method string
	path   []string // segments below the prefix, as they are
	query  url.Values
	body   []byte
	media  string // of the body; "" = application/json
	signed []byte // the signature of the body; nil = none
}

// answer is what came back of a call that went well.
type answer struct {
	body  []byte
	media string
}

// apiError is a call that the admin API refused.
type apiError struct {
	status   int
	body     []byte // as it came; nil if it is not the API's
	Code     string
	Message  string
	Problems []policies.Problem
}

func (e *apiError) Error() string { return printable(e.Message) }

// do makes a call. The error is an *apiError if there was an answer.
func (c *client) do(ctx context.Context, call call) (*answer, error) {
	target := *c.base
	for _, segment := range call.path {
		target.RawPath = target.EscapedPath() + "/" + url.PathEscape(segment)
		target.Path += "/" + segment
	}
	target.RawQuery = call.query.Encode()
	req, err := http.NewRequestWithContext(ctx, call.method, target.String(), bytes.NewReader(call.body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+c.token.Reveal())
	req.Header.Set("User-Agent", "gatewright/"+version)
	if call.body != nil {
		req.Header.Set("Content-Type", firstOf(call.media, "application/json"))
	}
	if call.signed != nil {
		req.Header.Set(admin.SignatureHeader, base64.StdEncoding.EncodeToString(call.signed))
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.unreachable(err)
	}
	defer func() { _ = resp.Body.Close() }() // it was only read
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the answer of the admin API: %w", err)
	case len(body) > maxAnswer:
		return nil, fmt.Errorf("the answer of the admin API has more than %d bytes", maxAnswer)
	case resp.StatusCode/100 != 2:
		return nil, c.refused(resp, body)
	}
	return &answer{body, resp.Header.Get("Content-Type")}, nil
}

// unreachable says why there is no answer, and what to look at.
func (c *client) unreachable(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	at := c.base.Scheme + "://" + c.base.Host
	if errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("nothing listens at %s: is the gateway running, and is that its admin.listen? Name another with --admin or %s", at, adminVariable)
	}
	return fmt.Errorf("the admin API at %s: %w", at, err)
}

// refused reads an answer that is an error.
func (c *client) refused(resp *http.Response, body []byte) error {
	var shape struct {
		Error    struct{ Code, Message string }
		Problems []policies.Problem
	}
	if json.Unmarshal(body, &shape) != nil || shape.Error.Message == "" {
		return &apiError{status: resp.StatusCode, Message: fmt.Sprintf(
			"%s://%s answered %s, which is not the admin API: is that the gateway's admin.listen?", c.base.Scheme, c.base.Host, resp.Status)}
	}
	return &apiError{resp.StatusCode, body, shape.Error.Code, shape.Error.Message, shape.Problems}
}

// get reads one object.
func (c *client) get(ctx context.Context, into any, path ...string) (*answer, error) {
	a, err := c.do(ctx, call{method: http.MethodGet, path: path})
	if err != nil {
		return nil, err
	}
	return a, a.read(into)
}

// send makes a call with a JSON body, and reads the object that it answers.
func (c *client) send(ctx context.Context, method string, body, into any, path ...string) (*answer, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	a, err := c.do(ctx, call{method: method, path: path, body: text})
	if err != nil {
		return nil, err
	}
	return a, a.read(into)
}

func (a *answer) read(into any) error {
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(a.body, into); err != nil {
		return fmt.Errorf("read the answer of the admin API: %w", err)
	}
	return nil
}

// list reads all pages of a list, each entry as it came.
func (c *client) list(ctx context.Context, path ...string) ([]json.RawMessage, error) {
	all := []json.RawMessage{}
	for after := ""; ; {
		query := url.Values{"limit": {"1000"}}
		if after != "" {
			query.Set("after", after)
		}
		a, err := c.do(ctx, call{method: http.MethodGet, path: path, query: query})
		if err != nil {
			return nil, err
		}
		var page struct {
			Data []json.RawMessage
			Next string
		}
		if err := a.read(&page); err != nil {
			return nil, err
		}
		all = append(all, page.Data...)
		if page.Next == "" || page.Next == after {
			return all, nil
		}
		after = page.Next
	}
}

// told prints what the admin API refused, with the place of each problem; place
// turns the name of a file into what the user called it.
func told(c *cobra.Command, o *output, err error, place func(file string) string) error {
	refused, ok := errors.AsType[*apiError](err)
	if !ok || refused.body == nil {
		return err
	}
	if o.json() {
		_, _ = c.OutOrStdout().Write(refused.body)
		return errSaid
	}
	if len(refused.Problems) == 0 {
		return err
	}
	for _, p := range refused.Problems {
		if place != nil && p.File != "" {
			p.File = place(p.File)
		}
		_, _ = fmt.Fprintln(c.ErrOrStderr(), printable(p.String()))
	}
	_, _ = fmt.Fprintln(c.ErrOrStderr(), count(len(refused.Problems), "problem"))
	return errSaid
}
