package responses

import "gatewright/internal/wire/request"

// Foreign is what stands in the place of encrypted_content in a reasoning item
// that another maker's model wrote. OpenAI's service would refuse such an item,
// so [Request.Rewrite] takes it out.
type Foreign = request.Foreign

// ParseForeign reads an encrypted_content, false if it is no foreign one.
func ParseForeign(content string) (Foreign, bool) { return request.ParseForeign(content) }
