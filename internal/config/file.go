package config

import "time"

// File is one configuration as it was written, with defaults filled in and all
// references checked. It is immutable once Load, Parse or FromEnvironment has
// returned it; lists keep the order of the file.
type File struct {
	// Name is the path that the file was read from; "" when it was made from the
	// environment.
	Name string
	// Listen is the address that clients call, host:port.
	Listen string `config:"listen" example:"127.0.0.1:20128"`
	// Admin is the listener of those who run the gateway.
	Admin Admin `config:"admin"`
	// DataDir is the folder that keeps what outlives the process; a relative path
	// is taken from the working directory.
	DataDir string `config:"data_dir"`
	// Log says what is logged and how.
	Log Log `config:"log"`
	// Limits bound what one request may use.
	Limits Limits `config:"limits"`
	// Timeouts are the waits that nothing nearer sets.
	Timeouts Timeouts `config:"timeouts"`
	// Providers are the upstream accounts or endpoints, by id.
	Providers []Provider `config:"providers"`
	// Models are the public names that clients ask for.
	Models []Model `config:"models"`
	// Router says how candidates are ordered, tried and repeated.
	Router Router `config:"router"`
	// Strategies are the combos: named lists of sort keys.
	Strategies []Strategy `config:"strategies"`
	// Policies are rules that users write, in files of their own.
	Policies []Policy `config:"policies"`
	// Bindings say whom the policies serve, those of this file and uploaded ones.
	Bindings []Binding `config:"bindings"`
	// Keys are the API keys of callers. Without any only loopback callers are
	// served.
	Keys []Key `config:"keys"`
	// Session says how requests of one conversation are kept together.
	Session Session `config:"session"`
}

// Log says what is logged and how.
type Log struct {
	// Level is the lowest level that is written.
	Level string `config:"level" oneof:"debug,info,warn,error"`
	// Format is one JSON object or one line of text per entry.
	Format string `config:"format" oneof:"json,text"`
}

// Limits bound what one request may use.
type Limits struct {
	// Body is the largest request body, in bytes.
	Body int64 `config:"body" kind:"size" min:"1KiB" max:"1GiB"`
	// Header is the most that all headers of a request may take, in bytes.
	Header int64 `config:"header" kind:"size" min:"1KiB" max:"16MiB"`
	// JSONDepth is how deep the JSON of a request may nest.
	JSONDepth int `config:"json_depth" min:"8" max:"10000"`
	// Concurrent is how many requests may run at once.
	Concurrent int `config:"concurrent" min:"1" max:"1000000"`
	// Answer is the largest answer that is held whole, in bytes.
	Answer int64 `config:"answer" kind:"size" min:"1KiB" max:"1GiB"`
}

// Timeouts are the waits that nothing nearer sets.
type Timeouts struct {
	// Connect is the wait for a connection to a provider, TLS included.
	Connect time.Duration `config:"connect" min:"10ms" max:"10m"`
	// FirstToken is the wait for the first content of a stream, where the retry
	// policy names no timeout_seconds.
	FirstToken time.Duration `config:"first_token" min:"10ms" max:"1d"`
	// Idle is how long a stream that has begun may be silent.
	Idle time.Duration `config:"idle" min:"10ms" max:"1d"`
	// Answer is the wait for an answer that is not streamed, headers and body.
	Answer time.Duration `config:"answer" min:"10ms" max:"1d"`
	// Request ends all waiting for a request that has sent nothing to its caller.
	Request time.Duration `config:"request" min:"10ms" max:"7d"`
	// Drain is how long running requests may go on when the gateway stops.
	Drain time.Duration `config:"drain" min:"0s" max:"1d"`
}

// CallTimeouts are the waits of one call; what is left out is as on the level
// above.
//
// 0 = left out.
type CallTimeouts struct {
	// Connect is the wait for a connection, TLS included.
	Connect time.Duration `config:"connect" min:"10ms" max:"10m"`
	// FirstToken is the wait for the first content of a stream.
	FirstToken time.Duration `config:"first_token" min:"10ms" max:"1d"`
	// Idle is how long a stream that has begun may be silent.
	Idle time.Duration `config:"idle" min:"10ms" max:"1d"`
	// Answer is the wait for an answer that is not streamed, headers and body.
	Answer time.Duration `config:"answer" min:"10ms" max:"1d"`
}

// Session says how requests of one conversation are kept together.
type Session struct {
	// Affinity says whether the deployment that served a session is tried first.
	Affinity bool `config:"affinity"`
	// TTL is how long a session is remembered after its last request.
	TTL time.Duration `config:"ttl" min:"1s" max:"365d"`
	// Headers are further request headers that carry a session id, tried before
	// the headers of well-known clients.
	Headers []string `config:"headers"`
}

// DefaultListen is where the gateway listens when the file does not say it.
const DefaultListen = "127.0.0.1:20128"

// newFile returns a file that holds the defaults alone.
func newFile() *File {
	return &File{
		Listen:  DefaultListen,
		Admin:   Admin{Listen: DefaultAdminListen},
		DataDir: "./data",
		Log:     Log{Level: "info", Format: "json"},
		Limits:  Limits{Body: 32 << 20, Header: 64 << 10, JSONDepth: 128, Concurrent: 4096, Answer: 32 << 20},
		Timeouts: Timeouts{
			Connect: 10 * time.Second, FirstToken: time.Minute, Idle: time.Minute,
			Answer: 10 * time.Minute, Request: 20 * time.Minute, Drain: 30 * time.Second,
		},
		Router:  defaultRouter(),
		Session: Session{Affinity: true, TTL: time.Hour},
	}
}

// Provider returns the provider of that id.
func (f *File) Provider(id string) (*Provider, bool) {
	for i := range f.Providers {
		if f.Providers[i].ID == id {
			return &f.Providers[i], true
		}
	}
	return nil, false
}

// Model returns the model of that name. Aliases are not looked at.
func (f *File) Model(name string) (*Model, bool) {
	for i := range f.Models {
		if f.Models[i].Name == name {
			return &f.Models[i], true
		}
	}
	return nil, false
}
