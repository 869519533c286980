package request

import (
	"fmt"

	"gatewright/internal/wire/scan"
)

// Reader is a cursor over the body of a request that takes members of a known
// type and says in an [Error] what it found instead. The error of each of its
// methods is an *Error. It is not safe for concurrent use.
type Reader struct {
	scan.Cursor
	Names
	seen uint64 // fields, by their numbers
}

// NewReader returns a Reader at the beginning of a body, in which arrays and
// objects may be nested maxDepth levels deep.
func NewReader(body []byte, maxDepth int, names Names) Reader {
	return Reader{Cursor: scan.NewCursor(body, maxDepth), Names: names}
}

// Enter enters the object that the body must be.
func (r *Reader) Enter() error {
	if r.EnterObject() {
		return nil
	}
	if r.Err() != nil {
		return InvalidJSON(r.Err())
	}
	if kind := r.Kind(); kind != scan.KindInvalid {
		return &Error{Code: CodeJSON, Message: "the body must be a JSON object, not " + kind.String()}
	}
	return InvalidJSON(r.Close())
}

// Fields walks over the members of the body that was entered, to its end.
// number tells the number of the field that a member is, from 1 to 63, or 0 if
// it is none that is read; take takes its value, index being that of the member
// in the body. A field that stands there twice is refused, and so is "model" in
// another case (see [Disguised]). An error of take ends the walk.
func (r *Reader) Fields(number func(key []byte) int, take func(field, index int) error) error {
	for i := 0; r.Member(); i++ {
		f := number(r.Key())
		if f == 0 {
			if err := Disguised(r.Key()); err != nil {
				return err
			}
			continue
		}
		if r.seen&(1<<f) != 0 {
			return r.Twice(string(r.Key()))
		}
		r.seen |= 1 << f
		if err := take(f, i); err != nil {
			return err
		}
	}
	if err := r.Close(); err != nil {
		return InvalidJSON(err)
	}
	return nil
}

// WrongType returns the error for the value that is due and not what it should
// be: want says what that is, as "a string".
func (r *Reader) WrongType(param, want string) error {
	kind := r.Kind()
	if r.Err() != nil || kind == scan.KindInvalid {
		return InvalidJSON(r.Close())
	}
	return &Error{Param: param, Code: CodeType, Message: r.write(param) + " must be " + want + ", not " + kind.String()}
}

// TakeText takes a text.
func (r *Reader) TakeText(param string, into *string) error {
	raw, decoded, ok := r.Text()
	if !ok {
		return r.WrongType(param, "a string")
	}
	text, err := scan.Text(raw, decoded)
	if err != nil {
		return &Error{Param: param, Code: CodeValue, Message: fmt.Sprintf("%s: the %v", r.write(param), err)}
	}
	*into = text
	return nil
}

// TakeFlag takes true or false.
func (r *Reader) TakeFlag(param string, into *bool) error {
	value, ok := r.Bool()
	if !ok {
		return r.WrongType(param, "true or false")
	}
	*into = value
	return nil
}

// TakeInteger takes a whole number from least to most.
func (r *Reader) TakeInteger(param string, least, most int64, into *int64) error {
	if r.Kind() != scan.KindNumber {
		return r.WrongType(param, "an integer")
	}
	raw := r.Raw()
	n, whole := Integer(raw)
	if r.Err() != nil {
		return InvalidJSON(r.Err())
	}
	if !whole || n < least || n > most {
		return &Error{
			Param: param, Code: CodeValue,
			Message: fmt.Sprintf("%s must be an integer from %d to %d, not %.40s", r.write(param), least, most, raw),
		}
	}
	*into = n
	return nil
}

// Object enters an object.
func (r *Reader) Object(param string) error {
	if !r.EnterObject() {
		return r.WrongType(param, "an object")
	}
	return nil
}

// Array enters an array.
func (r *Reader) Array(param string) error {
	if !r.EnterArray() {
		return r.WrongType(param, "an array")
	}
	return nil
}

// ObjectAt enters the element of a list at index, which must be an object.
func (r *Reader) ObjectAt(list string, index int) error {
	if !r.EnterObject() {
		return r.WrongType(r.element(list, index), "an object")
	}
	return nil
}

// Objects takes a list of objects, at least one. element is called inside each,
// and has to walk over its members.
func (r *Reader) Objects(list string, element func()) error {
	if err := r.Array(list); err != nil {
		return err
	}
	n := 0
	for ; r.Element(); n++ {
		if err := r.ObjectAt(list, n); err != nil {
			return err
		}
		element()
	}
	return r.Some(list, n)
}

// Some refuses a list that ended after n elements if there were none.
func (r *Reader) Some(list string, n int) error {
	if n == 0 && r.Err() == nil {
		return r.Missing(list, "the array is empty")
	}
	return nil
}

// TextBytes takes the value that is due if it is a string and returns how many
// bytes of text it holds; otherwise the value stays due.
func (r *Reader) TextBytes() int64 {
	_, decoded, _ := r.Text()
	return int64(decoded)
}

// Role takes the role of a message.
func (r *Reader) Role() Part {
	raw, _, _ := r.Text()
	return RoleOf(raw)
}
