package prompt

import "net/http"

// Client is what a client sent, for rules. It belongs to the request: its memory
// is valid until that ends. Its methods may run in parallel.
type Client struct {
	header http.Header
	body   []byte
}

// NewClient returns the Client of a request with a JSON body. Nothing is read
// yet, and nothing of what it is given may change while it is in use.
func NewClient(header http.Header, body []byte) *Client {
	return &Client{header: header, body: body}
}

// Header returns the first value of a header, "" if there is none.
func (c *Client) Header(name string) string { return c.header.Get(name) }

// Metadata calls each for every member of the body's metadata that is a text, in
// the order sent.
func (c *Client) Metadata(each func(key, value string)) { metadata(c.body, each) }

// Text returns the text of the conversation, part by part with a line break
// between, or with last only that of the user's last message. What is no text
// (images, calls, results of tools) is left out.
func (c *Client) Text(last bool) string { return text(c.body, last) }
