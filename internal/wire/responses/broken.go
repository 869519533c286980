package responses

import (
	"strconv"

	"gatewright/internal/wire/scan"
)

// AppendBroken appends to dst the framed events that end a stream which the
// upstream broke off, or that failed after its beginning was sent, and returns
// the longer slice: an error, and response.failed if an answer was announced.
// The numbers of the events go on from the last. Empty texts become null, except
// the message. Libraries look for the error's members in two places, so they
// stand in both.
func (s *Stream) AppendBroken(dst []byte, message, typ, code string) []byte {
	dst = append(dst, "event: error\ndata: {\"type\":\"error\",\"sequence_number\":"...)
	dst = strconv.AppendInt(dst, s.sequence, 10)
	dst = append(dst, `,"error":{"type":`...)
	dst = appendTextOrNull(dst, typ)
	dst = appendCause(dst, message, code)
	dst = append(dst, `,"param":null}`...)
	dst = appendCause(dst, message, code)
	dst = append(dst, ",\"param\":null}\n\n"...)
	s.sequence++
	s.finished = true
	if len(s.id) == 0 {
		return dst
	}
	dst = append(dst, "event: response.failed\ndata: {\"type\":\"response.failed\",\"sequence_number\":"...)
	dst = strconv.AppendInt(dst, s.sequence, 10)
	s.sequence++
	dst = append(dst, `,"response":{"id":`...)
	dst = append(dst, s.id...)
	dst = append(dst, `,"object":"response","created_at":`...)
	if len(s.created) == 0 {
		dst = append(dst, '0')
	}
	dst = append(dst, s.created...)
	dst = append(dst, `,"status":"failed","error":{"code":`...)
	dst = appendTextOrNull(dst, code)
	dst = append(dst, `,"message":`...)
	dst = scan.AppendString(dst, message)
	dst = append(dst, `},"incomplete_details":null,"instructions":null,"metadata":{},"model":`...)
	dst = append(dst, s.model...)
	return append(dst, `,"output":[],"parallel_tool_calls":true,"temperature":null,"tool_choice":"auto","tools":[],"top_p":null,"usage":null}}`+"\n\n"...)
}

// appendCause appends the members of an error after the first.
func appendCause(dst []byte, message, code string) []byte {
	dst = append(dst, `,"code":`...)
	dst = appendTextOrNull(dst, code)
	dst = append(dst, `,"message":`...)
	return scan.AppendString(dst, message)
}

func appendTextOrNull(dst []byte, s string) []byte {
	if s == "" {
		return append(dst, "null"...)
	}
	return scan.AppendString(dst, s)
}
