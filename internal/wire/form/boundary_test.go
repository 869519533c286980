package form_test

import (
	"strings"
	"testing"

	"gatewright/internal/wire/form"
)

func TestBoundary(t *testing.T) {
	long := strings.Repeat("x", 70)
	for _, c := range []struct{ name, header, want, fault string }{
		{"plain", "multipart/form-data; boundary=----WebKitFormBoundary7MA4YWxk", "----WebKitFormBoundary7MA4YWxk", ""},
		{"quoted", `multipart/form-data; boundary="a b=c"`, "a b=c", ""},
		{"upper case", "Multipart/Form-Data; Boundary=X", "X", ""},
		{"with charset", "multipart/form-data; charset=utf-8; boundary=x", "x", ""},
		{"as long as allowed", "multipart/form-data; boundary=" + long, long, ""},

		{"JSON", "application/json", "", "is not multipart/form-data"},
		{"mixed", "multipart/mixed; boundary=x", "", "is not multipart/form-data"},
		{"nothing", "", "", "cannot be read"},
		{"garbled", "multipart/form-data; boundary", "", "cannot be read"},
		{"twice", "multipart/form-data; boundary=a; boundary=b", "", "cannot be read"},
		{"set by hand", "multipart/form-data", "", "has no boundary"},
		{"empty", `multipart/form-data; boundary=""`, "", "0 bytes"},
		{"too long", "multipart/form-data; boundary=" + long + "x", "", "71 bytes"},
		{"odd bytes", `multipart/form-data; boundary="a*b"`, "", "not allowed"},
		{"ends in a space", `multipart/form-data; boundary="a "`, "", "space"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := form.Boundary(c.header)
			if c.fault != "" {
				if err == nil || !strings.Contains(err.Error(), c.fault) {
					t.Errorf("boundary %q, error %v; want one with %q", got, err, c.fault)
				}
				return
			}
			if err != nil || got != c.want {
				t.Fatalf("boundary %q, error %v; want %q", got, err, c.want)
			}
			if again, err := form.Boundary(form.ContentType(got)); err != nil || again != got {
				t.Errorf("written as %q it reads as %q, %v", form.ContentType(got), again, err)
			}
		})
	}
}
