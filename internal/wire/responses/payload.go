package responses

import "net/http"

// Payload is one client request of the Responses protocol as it travels from
// the server to an adapter: the body as it came, what one scan found in it, and
// the client's headers that may go upstream. It is not written after the server
// made it; the body's memory is the server's until the request ends.
type Payload struct {
	Endpoint Endpoint
	Request  *Request
	Body     []byte
	Header   http.Header
}
