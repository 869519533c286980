package rego

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/types"
)

// place is where a built-in runs.
type place uint8

const (
	inModule place = iota + 1 // compiled in; cannot fail on values of its types
	strict                    // compiled in by OPA, but it can fail, or differ: runs at the host
	atHost                    // not compiled in: runs at the host
)

// builtins is the frozen dialect: every built-in that a policy may use. What is
// not here is not there, whatever version of OPA this is built with.
//
// A built-in is inModule only if it gives a value for all values of its declared
// types: a compiled built-in that fails is undefined, and nobody would notice.
var builtins = places(map[place][]string{
	inModule: {
		"eq", "assign", "equal", "neq", "gt", "gte", "lt", "lte", "internal.member_2", "internal.member_3",
		"plus", "minus", "mul", "div", "abs", "ceil", "floor", "round",
		"and", "or", "intersection", "union", "count", "sum", "product", "max", "min", "sort",
		"array.concat", "array.flatten", "array.reverse",
		"concat", "contains", "endswith", "startswith", "lower", "upper", "split", "replace", "strings.replace_n",
		"strings.reverse", "trim", "trim_left", "trim_prefix", "trim_right", "trim_space", "trim_suffix",
		"internal.template_string", "print", "internal.print",
		"json.is_valid", "base64.encode", "base64.is_valid", "base64url.encode",
		"object.filter", "object.get", "object.keys", "object.remove", "object.union", "object.union_n", "graph.reachable",
		"is_array", "is_boolean", "is_null", "is_number", "is_object", "is_set", "is_string", "type_name",
	},
	strict: {
		"rem", "to_number", "array.slice", "substring", "format_int", "indexof",
		"bits.and", "bits.negate", "bits.or", "bits.rsh", "bits.xor",
		"json.filter", "json.marshal", "json.remove", "json.unmarshal", "base64.decode", "base64url.decode",
		"regex.find_all_string_submatch_n", "regex.is_valid", "regex.match", "glob.match",
		"net.cidr_contains", "net.cidr_intersects",
	},
	atHost: {
		"sprintf", "object.subset", "indexof_n", "strings.any_prefix_match", "strings.any_suffix_match", "strings.count",
		"strings.split_n", "regex.find_n", "regex.replace", "regex.split", "glob.quote_meta",
		"time.add_date", "time.clock", "time.date", "time.diff", "time.format", "time.parse_duration_ns", "time.parse_ns",
		"time.parse_rfc3339_ns", "time.weekday",
		"semver.compare", "semver.is_valid", "units.parse", "units.parse_bytes", "uuid.parse", "net.cidr_is_valid",
		"base64url.encode_no_pad", "hex.decode", "hex.encode",
		"uri.is_valid", "uri.parse", "urlquery.decode", "urlquery.decode_object", "urlquery.encode",
		"crypto.hmac.equal", "crypto.hmac.sha256", "crypto.hmac.sha512", "crypto.md5", "crypto.sha1", "crypto.sha256",
	},
})

func places(lists map[place][]string) map[string]place {
	m := map[string]place{}
	for p, names := range lists {
		for _, n := range names {
			m[n] = p
		}
	}
	return m
}

// features and keywords of the language, frozen like the built-ins.
var (
	features       = []string{ast.FeatureRegoV1, ast.FeatureKeywordsInRefs, ast.FeatureTemplateStrings}
	futureKeywords = []string{"contains", "every", "if", "in"} // they may be imported and are there anyway
)

// Names of the compiler's own.
const (
	strictPrefix  = "gw_strict." // a built-in of a module that runs at the host instead
	answerPackage = "gw_host"
	answerRule    = "answer"
	ownPrefix     = "gw_"
)

// refused is why a built-in is not in the dialect.
type refused struct{ because, instead string }

const (
	outside    = "it reaches outside of the request"
	unbounded  = "what it costs is not bounded by its arguments"
	chance     = "its result is not the same twice, so a decision could not be replayed"
	deprecated = "it is deprecated in Rego version 1"
)

// refusals are the built-ins that are left out, by name or, with a dot at the
// end, by the beginning of the name.
var refusals = map[string]refused{
	"http.send":          {outside, "put what it would fetch into data"},
	"net.lookup_ip_addr": {outside, "put the addresses into data"},
	"net.cidr_expand":    {unbounded, "test an address with net.cidr_contains"},
	"net.cidr_merge":     {unbounded, "write the merged networks into data"},
	"net.cidr_contains_matches": {
		unbounded, "iterate with some and test with net.cidr_contains",
	},
	"opa.runtime":               {outside, "pass settings as parameters: data.params"},
	"time.now_ns":               {chance, "use input.request.now_unix_ms * 1000000"},
	"rand.intn":                 {chance, "use input.request.seed"},
	"uuid.rfc4122":              {chance, "use input.request.id"},
	"io.jwt.":                   {outside, "callers are known by input.request.org, team and key"},
	"rego.":                     {"a policy cannot look at policies", ""},
	"json.match_schema":         {"a schema can name a file or an address, and it would be read", "test the fields with is_string, is_number and the like"},
	"json.verify_schema":        {"a schema can name a file or an address, and it would be read", "test the fields with is_string, is_number and the like"},
	"bits.lsh":                  {unbounded, "multiply by a power of two"},
	"walk":                      {unbounded, "name the path, or iterate with some"},
	"numbers.range":             {unbounded, "write the list, or compare with <= and >="},
	"numbers.range_step":        {unbounded, "write the list, or compare with <= and >="},
	"graph.reachable_paths":     {unbounded, "use graph.reachable"},
	"graphql.":                  {unbounded, ""},
	"crypto.x509.":              {unbounded, ""},
	"crypto.parse_private_keys": {unbounded, ""},
	"crypto.hmac.md5":           {"it is broken", "use crypto.hmac.sha256"},
	"crypto.hmac.sha1":          {"it is broken", "use crypto.hmac.sha256"},
	"providers.aws.":            {outside, ""},
	"yaml.":                     {"a short text can stand for a huge value", "use JSON, or put the document into data"},
	"strings.render_template":   {unbounded, "use sprintf, or a template string like $\"{x}\""},
	"json.marshal_with_options": {"its options are for people", "use json.marshal"},
	"json.patch":                {"a few copies of a document into itself are huge", "build the object, or use object.union"},
	"urlquery.encode_object":    {"the order of its result is not fixed", "use urlquery.encode for each value"},
	"regex.globs_match":         {unbounded, "use glob.match"},
	"regex.template_match":      {unbounded, "use regex.match with a constant pattern"},
	"trace":                     {"a policy that runs has no trace", "use print, which is shown by tests"},
	"internal.test_case":        {"it is for tests", ""},
	"any":                       {deprecated, "use some … in"},
	"all":                       {deprecated, "use every"},
	"re_match":                  {deprecated, "use regex.match"},
	"set_diff":                  {deprecated, "use the operator -"},
	"net.cidr_overlap":          {deprecated, "use net.cidr_contains"},
	"cast_array":                {deprecated, "use is_array"},
	"cast_boolean":              {deprecated, "use is_boolean"},
	"cast_null":                 {deprecated, "use is_null"},
	"cast_object":               {deprecated, "use is_object"},
	"cast_set":                  {deprecated, "use is_set"},
	"cast_string":               {deprecated, "use is_string"},
}

// refusal says why a built-in is refused, if it is one that OPA knows.
func refusal(name string) (refused, bool) {
	if r, ok := refusals[name]; ok {
		return r, true
	}
	for prefix := name; ; {
		i := strings.LastIndexByte(strings.TrimSuffix(prefix, "."), '.')
		if i < 0 {
			break
		}
		prefix = name[:i+1]
		if r, ok := refusals[prefix]; ok {
			return r, true
		}
	}
	if _, known := ast.BuiltinMap[name]; known && builtins[name] == 0 {
		return refused{"it is not in the dialect of policies", ""}, true
	}
	return refused{}, false
}

// allowedNames are the built-ins of the dialect that people write by name.
var allowedNames = sync.OnceValue(func() []string {
	names := slices.Sorted(maps.Keys(builtins))
	return slices.DeleteFunc(names, func(n string) bool { return strings.HasPrefix(n, "internal.") })
})

// isBuiltin reports whether OPA has a built-in of this name, allowed or not.
func isBuiltin(name string) bool {
	_, ok := ast.BuiltinMap[name]
	return ok
}

// declaration is what a built-in takes and gives.
func declaration(name string) *types.Function { return ast.BuiltinMap[name].Decl }

// dialect is the language as OPA's compiler wants to have it told.
var dialect = sync.OnceValue(func() *ast.Capabilities { return capabilities(false) })

// hostDialect is the dialect with the built-ins that run at the host instead of
// the module besides, under names of their own.
var hostDialect = sync.OnceValue(func() *ast.Capabilities { return capabilities(true) })

func capabilities(host bool) *ast.Capabilities {
	c := &ast.Capabilities{
		Features:        features,
		AllowNet:        []string{},
		WasmABIVersions: []ast.WasmABIVersion{{Version: 1, Minor: 1}, {Version: 1, Minor: 2}, {Version: 1, Minor: 3}},
	}
	for _, name := range slices.Sorted(maps.Keys(builtins)) {
		b := ast.BuiltinMap[name]
		c.Builtins = append(c.Builtins, b)
		if host && hasStrict(name) {
			c.Builtins = append(c.Builtins, strictForm(b))
		}
	}
	return c
}

// hasStrict reports whether a built-in of the module can run at the host
// instead.
func hasStrict(name string) bool {
	if builtins[name] == strict {
		return true
	}
	return builtins[name] == inModule && !strings.HasPrefix(name, "internal.") && !basic[name]
}

// basic are the built-ins that the planner treats in a way of its own, or that
// take sets, which do not pass the door to the host.
var basic = map[string]bool{
	"eq": true, "assign": true, "equal": true, "neq": true, "gt": true, "gte": true, "lt": true, "lte": true,
	"print": true, "minus": true, "div": true, "and": true, "or": true, "intersection": true, "union": true,
	"object.keys": true, "graph.reachable": true,
}

// strictForm is the declaration of a built-in that runs at the host under its
// other name. It takes any values: the host finds out whether they will do.
func strictForm(b *ast.Builtin) *ast.Builtin {
	args := make([]types.Type, len(b.Decl.FuncArgs().Args))
	for i := range args {
		args[i] = types.A
	}
	return &ast.Builtin{Name: strictPrefix + b.Name, Decl: types.NewFunction(args, b.Decl.Result())}
}
