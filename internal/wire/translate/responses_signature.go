package translate

import "gatewright/internal/wire/responses"

// A client of Responses sends reasoning back with its encrypted_content
// unchanged, whoever wrote it. So the signatures of other makers travel there
// too, in the form that the protocol's package knows; OpenAI's own stand as they
// are.

// sealSignature returns what stands as encrypted_content for a signature. behind
// says that it belongs to the part before, which is no thought.
func sealSignature(s *Signature, behind bool) string {
	if s.Data == "" || s.Origin == OriginOpenAI && !behind {
		return s.Data
	}
	return responses.Foreign{Origin: string(s.Origin), ID: s.ID, Data: s.Data, Before: behind}.String()
}

// openSignature returns the signature that an encrypted_content stands for, and
// whether it belongs to what stands before its item.
func openSignature(id, content string) (s Signature, behind bool) {
	if content == "" {
		return Signature{}, false
	}
	if f, ok := responses.ParseForeign(content); ok {
		return Signature{Origin: Origin(f.Origin), ID: f.ID, Data: f.Data}, f.Before
	}
	return Signature{Origin: OriginOpenAI, ID: id, Data: content}, false
}
