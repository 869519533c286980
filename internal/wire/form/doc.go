// Package form reads multipart/form-data in place, in one pass, and copies no
// part of it.
//
// A gateway forwards an upload as it came: it reads a short field or two and
// never looks into a file. [Boundary] takes the boundary from a content type,
// [Walk] tells where each part and its value lie; who wants to change a field
// cuts and inserts bytes there. Every other byte stays the client's.
//
// The reading is strict, because what is forwarded will be read again by
// somebody else: a form that two readers could cut in two ways is an error, not
// a guess. So lines end with CR LF, no line begins with the boundary but a
// delimiter, a part has one Content-Disposition with one plain name, and there
// is no text before the first part or behind the last. What HTTP libraries send
// is all of that form.
//
// Nothing here knows the fields of any protocol. Read walk.go first.
package form
